/*
 * The traces of a training run: a file for each rank, and what has to be said about them.
 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "files/trace/read_report.h"

#include <stdbool.h>
#include <stdint.h>

struct kineto_rank {
    int64_t rank;       /* -1: not in the trace */
    int64_t world_size; /* -1 */
    uint64_t span_count;
    uint64_t unknown_count; /* events of categories that no view understands */
    int64_t trace;          /* its number in a merged timeline; -1: it is a file */
    char *path;
};

/* An empty one is all zeroes. */
struct kineto_ranks {
    struct kineto_rank *all;
    uint32_t count;
    struct names unknown;     /* categories that no view understands */
    uint64_t *unknown_counts; /* of events, by number of the category; owned */
};

/* Adds a trace, or all of a folder but merged timelines, of which `report` is warned; their ranks
 * are known once they are read. To be finished, also after a failure. Errors: GPUT_ERROR_NOT_FOUND;
 * GPUT_ERROR_FORMAT for a folder without any. */
int kineto_ranks_add(struct kineto_ranks *ranks, const char *path, const struct read_report *report,
    struct gput_error *error);

/* Adds one of which nothing is known yet; `path` is NULL. */
int kineto_ranks_append(
    struct kineto_ranks *ranks, struct kineto_rank **rank, struct gput_error *error);

void kineto_ranks_finish(struct kineto_ranks *ranks);

/* Counts events of a category that no view understands. False without memory. */
bool kineto_ranks_count_unknown(struct kineto_ranks *ranks, const char *category, uint64_t count);

/* Appends those categories with their counts: "mtia_insight (2), hpu_op (1)". */
void kineto_ranks_append_unknown(const struct kineto_ranks *ranks, struct str *text);

/* How a warning of them begins. */
#define KINETO_CATEGORIES_LEFT_OUT                                                                 \
    "Events of these categories are not understood and are left out: "

/* Says which events are left out because no view understands their category. */
void kineto_ranks_warn_of_categories(
    const struct kineto_ranks *ranks, const struct read_report *report);

/* The rank of a trace as a figure for tables; INT64_MIN if it is not known. */
int64_t kineto_rank_number(const struct kineto_rank *rank);

/* Says which traces have no span, so that they add no row to a result. */
void kineto_ranks_warn_of_idle(const struct kineto_ranks *ranks, const struct read_report *report);

/* Warns about traces without a rank, if there are several traces. */
void kineto_ranks_warn_of_unknown(
    const struct kineto_ranks *ranks, const struct read_report *report);

/* Says which ranks have several traces: parts of a run, or one and the same trace by mistake. */
void kineto_ranks_warn_of_repeated(
    const struct kineto_ranks *ranks, const struct read_report *report);

/* Says which traces have a rank that their number of ranks does not allow. */
void kineto_ranks_warn_of_impossible(
    const struct kineto_ranks *ranks, const struct read_report *report);

/* Warns about ranks of a run without a trace; there may be one without a rank. `where`: " in
 * FOLDER", or "". */
void kineto_ranks_warn_of_missing(
    const struct kineto_ranks *ranks, const char *where, const struct read_report *report);

/* Says that two runs have not the same ranks. */
void kineto_ranks_warn_of_difference(const struct kineto_ranks *ranks,
    const struct kineto_ranks *others, const struct read_report *report);
