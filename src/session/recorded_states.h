/*
 * What was so at a moment of a recording of power: memory, and what GPUs hold and how busy they
 * are. A line of the recording to which the powers of its period are still to be added.
 */
#ifndef SESSION_RECORDED_STATES_H
#define SESSION_RECORDED_STATES_H

#include "base/doc.h"

#include <stdbool.h>
#include <stdint.h>

struct gput_session;
struct process;

/* All zeroes: none. */
struct recorded_states {
    struct doc *metrics;   /* owned; of it, parts: */
    struct doc *cpu, *gpu; /* gpu NULL: there was none */
    int64_t date_ns;       /* since the epoch */
};

/* Those of the last sample, in place of what is there. Without memory the document has failed. */
void recorded_states_take(
    const struct gput_session *session, int64_t date_ns, struct recorded_states *states);

/* Adds GPUs that came later: of the moment nothing is known of them. */
void recorded_states_add_gpus(struct recorded_states *states);

void recorded_states_finish(struct recorded_states *states);

/* Whether a process was there that has not ended. */
bool session_has_memory(const struct gput_session *session);

/* A process's anonymous memory by its share; of files, which the tree's other readings count once,
 * all. 0 of one that has ended. */
double process_pss_bytes(const struct process *process);

/* Adds a number that is known (no NaN), and the same by the index of a GPU. */
void doc_add_known(struct doc *object, const char *key, double value);
void doc_add_of_gpu(struct doc *object, uint32_t gpu, double value);

#endif
