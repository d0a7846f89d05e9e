/*
 * The traces of a training run, a file for each rank, and the warnings about them.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "files/trace/read_report.h"

#include <stdbool.h>
#include <stdint.h>

struct kineto_rank {
    int64_t rank;       /* -1: not in the trace */
    int64_t world_size; /* number of ranks; -1: not in the trace */
    uint64_t span_count;
    uint64_t unknown_count; /* number of events whose category no view understands */
    int64_t trace;          /* its number in a merged timeline; -1: it is a file of its own */
    char *path;
};

/* An empty one is all zeroes. */
struct kineto_ranks {
    struct kineto_rank *all;
    uint32_t count;
    struct names unknown;     /* categories that no view understands */
    uint64_t *unknown_counts; /* number of events by category; owned */
};

/* Adds a trace, or all traces of a folder. Merged timelines of a folder are skipped with a warning
 * to `report`. Their ranks are known once they are read. Call kineto_ranks_finish() also after a
 * failure. Errors: GPUT_ERROR_NOT_FOUND; GPUT_ERROR_FORMAT for a folder without traces. */
int kineto_ranks_add(struct kineto_ranks *ranks, const char *path, const struct read_report *report,
    struct gput_error *error);

/* Adds a rank of which nothing is known yet; its `path` is NULL. */
int kineto_ranks_append(
    struct kineto_ranks *ranks, struct kineto_rank **rank, struct gput_error *error);

void kineto_ranks_finish(struct kineto_ranks *ranks);

/* Counts events of a category that no view understands. Returns false without memory. */
bool kineto_ranks_count_unknown(struct kineto_ranks *ranks, const char *category, uint64_t count);

/* Appends those categories with their counts: "mtia_insight (2), hpu_op (1)". */
void kineto_ranks_append_unknown(const struct kineto_ranks *ranks, struct str *text);

/* The beginning of the warning about such categories. */
#define KINETO_CATEGORIES_LEFT_OUT                                                                 \
    "Events of these categories are not understood and are left out: "

/* Warns of events that are skipped because no view understands their category. */
void kineto_ranks_warn_of_categories(
    const struct kineto_ranks *ranks, const struct read_report *report);

/* The rank of a trace for tables; INT64_MIN: not known. */
int64_t kineto_rank_number(const struct kineto_rank *rank);

/* Warns of traces without a span, which add no row to a result. */
void kineto_ranks_warn_of_idle(const struct kineto_ranks *ranks, const struct read_report *report);

/* Warns about traces without a rank, if there are several traces. */
void kineto_ranks_warn_of_unknown(
    const struct kineto_ranks *ranks, const struct read_report *report);

/* Warns of ranks with several traces: parts of a run, or one trace that is there twice by
 * mistake. */
void kineto_ranks_warn_of_repeated(
    const struct kineto_ranks *ranks, const struct read_report *report);

/* Warns of traces whose rank is not below their number of ranks. */
void kineto_ranks_warn_of_impossible(
    const struct kineto_ranks *ranks, const struct read_report *report);

/* Warns of ranks of a run that have no trace. A trace of unknown rank may be theirs, which the
 * warning says. `where`: " in FOLDER", or "". */
void kineto_ranks_warn_of_missing(
    const struct kineto_ranks *ranks, const char *where, const struct read_report *report);

/* Warns when two runs do not have the same ranks. */
void kineto_ranks_warn_of_difference(const struct kineto_ranks *ranks,
    const struct kineto_ranks *others, const struct read_report *report);
