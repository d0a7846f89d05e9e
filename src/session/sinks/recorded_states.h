/*
 * The state at one moment of a recording of power: memory, and use of the GPUs. It becomes a line
 * of the recording when the powers of its period are added.
 */
#pragma once

#include "base/doc.h"
#include "session/ledger/gpu_usage.h"
#include "session/sampler/snapshot.h"

#include <stdbool.h>
#include <stdint.h>

/* All zeroes: none. */
struct recorded_states {
    struct doc *metrics;          /* owned; parts of it: */
    struct doc *cpu, *gpu;        /* gpu NULL: there was no GPU */
    struct doc *memories, *rates; /* by GPU */
    int64_t date_ns;              /* since the epoch */
};

/* Replaces them by those of a snapshot. `usage` has all samples so far. Without memory the document
 * has failed. */
void recorded_states_take(const struct snapshot *snapshot, const struct gpu_usage *usage,
    int64_t date_ns, struct recorded_states *states);

/* Adds GPUs that appeared later, as unknown at that moment. */
void recorded_states_add_gpus(struct recorded_states *states);

void recorded_states_finish(struct recorded_states *states);

/* Whether some process has not ended. */
bool process_tree_has_memory(const struct process_tree *tree);

/* Pss of anonymous memory plus all of its file memory. 0 for a process that has ended. */
double process_pss_bytes(const struct process *process);

/* Adds a number unless it is NaN; and the same by the index of a GPU. */
void doc_add_known(struct doc *object, const char *key, double value);
void doc_add_of_gpu(struct doc *object, uint32_t gpu, double value);

/* Adds NaN for a GPU that is not in `object`: AIPowerMeter's print() fails without any number. */
void doc_add_never_known(struct doc *object, uint32_t gpu);
