/*
 * When which processes of a tree are read exactly (smaps, smaps_rollup), which stalls them.
 *
 * In adaptive mode exact readings are taken only where they can give new figures. Their cost bounds
 * their rate: as a rule 0.5 % of the time of the process that is read, and never more than 1 % of
 * one core for all together, but 10 ms in advance. The 0.5 % do not apply to a process that sleeps:
 * a reading does not stall it. Nor do they apply where old figures are wrong: after a fork, the end
 * of a process that shared memory, or the copying of a twentieth of it. Those cost the processes
 * more than the reading.
 *
 * What is read first matters where there is not enough for all, as in the first second of a browser
 * with twelve processes of a thousand mappings each. It is the largest process: it has most of the
 * files that the others map. Of a family of forks all are read at one moment only where that costs
 * little, or a long time after the last time. Else some are read in turn, for what they copy
 * (machine/process/copies.h). And where a control group tells how much anonymous memory all have
 * together, it is main that is read, for what of it the others do not have.
 */
#pragma once

#include "machine/process/process_tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The processes of a tree that have memory, grouped by exec generation: those of one generation may
 * share copy-on-write memory.
 */

/* All zeroes is empty. */
struct exec_generations {
    struct process **processes; /* sorted by exec generation, in order of their starts; owned */
    size_t count, capacity;
    uint64_t hash; /* of the set of processes */
};

void exec_generations_finish(struct exec_generations *generations);

/*
 * Sets them from the last scan of the tree, and in each process `metered.members` and,
 * where these have changed, `metered.memory_is_stale`. `has_changed`: the set of processes with
 * memory is another than at the last call. Errors: GPUT_ERROR_MEMORY.
 */
int exec_generations_update(
    struct exec_generations *generations, const struct process_tree *tree, bool *has_changed);

/* The index after the last process of the generation that begins at `start`. A process whose
 * generation is not known is alone in it. */
size_t exec_generations_end(const struct exec_generations *generations, size_t start);

/* True when other processes of its exec generation have memory. */
static inline bool process_shares_anonymous(const struct process *process)
{
    return process->polled->metered.members > 1;
}

enum exact_readings_when {
    EXACT_READINGS_ADAPTIVE,   /* as above */
    EXACT_READINGS_ALWAYS,     /* every process at every scan, whatever it costs */
    EXACT_READINGS_OF_SEVERAL, /* adaptive; none of one process that has all the memory */
};

struct exact_group; /* processes of one exec generation */

struct exact_readings {
    enum exact_readings_when when;

    int64_t credit_ns; /* time that may be spent now */
    int64_t credit_since_ns;
    bool has_deferred;    /* some are delayed until there is credit */
    bool has_marked;      /* some reading has made those of other processes stale */
    bool has_new_ranges;  /* file and shared mappings were read; the caller resets it */
    bool knows_anonymous; /* the caller knows the anonymous memory of all from another source */

    struct exact_group *groups; /* scratch, owned */
    size_t group_capacity;

    uint64_t count;   /* so far */
    uint64_t refused; /* processes so far whose maps could not be read */
};

void exact_readings_init(
    struct exact_readings *readings, enum exact_readings_when when, int64_t now_ns);
void exact_readings_finish(struct exact_readings *readings);

/* Reads what needs it of a tree that was just scanned, and may be read now. */
void exact_readings_take(struct exact_readings *readings, struct process_tree *tree,
    const struct exec_generations *generations, int64_t now_ns);
