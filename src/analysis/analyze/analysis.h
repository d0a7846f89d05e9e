/*
 * The results of an analysis, computed or read from a file.
 */
#pragma once

#include "analysis/analyze/quantile_sketch.h"
#include "base/column.h"
#include "base/doc.h"
#include "base/error.h"
#include "base/table.h"

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

/* Calls that are not in the sub-tracking files. */
struct lost_calls {
    uint64_t count;
    bool at_least; /* there may be more */
};

/* Whether calls were lost, or may be. */
static inline bool lost_calls_any(const struct lost_calls *lost)
{
    return lost->count > 0 || lost->at_least;
}

/* How many there are, for people: "12", "at least 12", "not known". */
#define LOST_CALLS_TEXT_SIZE 32
const char *lost_calls_text(const struct lost_calls *lost, char text[LOST_CALLS_TEXT_SIZE]);

/*
 * Everything is owned. Lists of statistics and percentiles have n_measurements items each.
 */
struct gput_analysis {
    char **measurements;
    size_t n_measurements;
    uint64_t num_timepoints; /* rows of the tracking file; 0 when a results file does not have it */
    struct gput_statistics *overall;
    unsigned char *overall_integers; /* of each measurement, bits by enum gput_statistic: figures
                                        that a file has as integers; NULL: none */
    struct gput_percentiles *overall_percentiles; /* NULL: not requested */
    bool has_energy;
    double energy[GPUT_ENERGY_FIGURE_COUNT]; /* joules of the session; NaN: unknown, also when only
                                                for a part of it */
    unsigned exact; /* the exact figures that the sub-tracking file has: bits 1 << figure */
    struct lost_calls lost;
    struct doc *static_data; /* an object of strings and numbers */
    struct gput_code_block *blocks;
    size_t n_blocks;
    bool details;
    enum gput_split split;
    bool has_thread_names; /* of some parts by thread */
    bool has_categories;   /* of some blocks */
};

struct call_window;

/* gput_analysis_create() of the calls that do not lie wholly outside of that time; NULL: of all. */
int analysis_create_within(const struct gput_analysis_options *options,
    const struct call_window *window, struct gput_analysis **analysis, struct gput_error *error);

/* An empty analysis with those measurements (copied) and lists for them. NULL without memory. */
struct gput_analysis *analysis_create(const char *const *measurements, size_t count);

/* `count` of them, all NaN. NULL without memory; to be freed by free(). */
struct gput_percentiles *analysis_create_percentiles(size_t count);

/* `n` blocks with their own names (copied by analysis_name_block()) and empty lists; all figures
 * NaN or 0. NULL without memory. To be freed by analysis_destroy_blocks(). */
struct gput_code_block *analysis_create_blocks(
    const struct gput_analysis *analysis, size_t n, bool percentiles);
void analysis_destroy_blocks(struct gput_code_block *blocks, size_t n);

/* Gives a block a copy of its name, and of its category, of that length. Errors:
 * GPUT_ERROR_MEMORY. */
int analysis_name_block(struct gput_code_block *block, const char *name, struct gput_error *error);
int analysis_set_category(struct gput_analysis *analysis, struct gput_code_block *block,
    const char *category, size_t length, struct gput_error *error);

/* Whether to show that figure, which may be unknown. */
static inline bool analysis_shows_exact(
    const struct gput_analysis *analysis, enum gput_exact_figure figure)
{
    return analysis->exact >> figure & 1;
}

/* A figure of a call, as a mean over the calls of a block; NaN: unknown, there was no call, or it
 * is the largest of them. */
double analysis_exact_mean(const struct gput_code_block *block, enum gput_exact_figure figure);

/* Whether some measurement lacks some rows; `statistics` are of the session or a block. */
bool analysis_lacks_rows(
    const struct gput_analysis *analysis, const struct gput_statistics *statistics);

/* Whether to show that figure of energy: it is known for the session, a block or a part of one, or
 * it is the total. */
bool analysis_shows_energy(const struct gput_analysis *analysis, enum gput_energy_figure figure);

/* The index of a measurement, or n_measurements. */
size_t analysis_find_measurement(const struct gput_analysis *analysis, const char *name);

/* The unit of a measurement in the tracking file: "gigabytes", "percent". NULL: a count, an unknown
 * measurement, or an unknown unit. */
const char *analysis_unit(const struct gput_analysis *analysis, const char *name);

/*
 * The figures of an analysis described once, for tables and for every format.
 */
#define STATISTICS_COLUMNS 4
#define PERCENTILES_COLUMNS 3
#define LOST_COLUMNS 2

/* Columns of a struct gput_statistics: min, max, mean, std. */
extern const struct column statistics_columns[STATISTICS_COLUMNS];

/* Columns of a struct gput_percentiles: p50, p95, p99. */
extern const struct column percentiles_columns[PERCENTILES_COLUMNS];

/* Columns of a struct gput_code_block: its samples and calls. Each is in every table and format;
 * one that hides zero is not in the CSV, whose lines are measurements. */
extern const struct column block_columns[];
extern const size_t n_block_columns;

/* Columns of a struct lost_calls. */
extern const struct column lost_columns[LOST_COLUMNS];

/* The same in a document, and out of one. `says_no`: also that there are no more than these. */
void lost_calls_add_to_doc(const struct lost_calls *lost, bool says_no, struct doc *object);
struct lost_calls lost_calls_of_doc(const struct doc *object);

/* The columns that say whose calls a part of a block has: process_id, thread_id, and where it is
 * split so rank and, where there are some, thread_name; and category, where blocks have some.
 * `block` NULL: the session. */
void analysis_add_part_columns(const struct gput_analysis *analysis, struct gput_table *table);
void analysis_put_part(const struct gput_analysis *analysis, struct gput_table *table,
    const struct gput_code_block *block);
