/*
 * A code block of an analysis: what the public type is inside of the library.
 */
#pragma once

#include <gputracker/analysis.h>

#include <stdbool.h>

#define CODE_BLOCK_NO_RANK (-2)

/* Figures of a code block, or of its calls in one process or thread. Owned by the analysis. */
struct gput_code_block {
    const char *name;
    char *category;     /* of its name; NULL: it has none; owned */
    int64_t process_id; /* of a part; -1 for the block as a whole */
    int64_t thread_id;  /* of a part by thread; else -1 */
    int64_t rank; /* of a part by rank, -1: of processes without one; else CODE_BLOCK_NO_RANK */
    char *thread_name;            /* of a part by thread; NULL: it has none; owned */
    uint64_t num_timepoints;      /* rows of the tracking file inside at least one call */
    uint64_t num_calls;           /* calls that were started and stopped */
    uint64_t num_non_empty_calls; /* calls with at least one row */
    uint64_t num_open_calls;      /* that have no stop; 0 without the option `open_calls` */
    uint64_t num_outside_calls;   /* calls that stopped before the first row or started after the
                                     last: they count above, but their usage is unknown */
    struct gput_statistics compute_time; /* seconds a call */
    double compute_time_total;           /* seconds */
    size_t n_measurements;
    struct gput_statistics *resource_usage; /* one for each measurement of the analysis, over the
                                                 rows above, in the units of the tracking file */

    /* Joules while it ran, by enum gput_energy_figure: a moment in several calls counts once. NaN
     * when the tracking file does not have it (only SQLite files do, of machines with energy
     * counters). */
    double energy[GPUT_ENERGY_FIGURE_COUNT];

    /* By enum gput_exact_figure, the sum over its calls: concurrent calls (in several threads, or
     * nested) count fully each. NaN when the sub-tracking file does not have it. */
    double exact[GPUT_EXACT_FIGURE_COUNT];

    /* Only with `details`; NULL or NaN otherwise: */
    struct gput_percentiles *percentiles; /* one for each measurement */
    struct gput_percentiles compute_time_percentiles;
    double self_time_total; /* seconds in which none of the blocks called inside it ran */
    double cpu_time_total;  /* exact[GPUT_EXACT_THREAD_CPU_TIME] */

    struct gput_code_block *parts; /* with a split: sorted by process and thread; else NULL */
    size_t n_parts;
};

/* Whether it is a part of a block. */
static inline bool code_block_is_part(const struct gput_code_block *block)
{
    return block->process_id >= 0 || block->rank != CODE_BLOCK_NO_RANK;
}
