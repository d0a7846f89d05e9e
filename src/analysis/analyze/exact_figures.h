/*
 * The exact figures of the calls of one lane: marks are paired as they come, since a thread writes
 * its marks in order. Memory grows with the calls that are open at once, and with those that
 * started in another thread.
 */
#pragma once

#include "base/error.h"
#include "files/marks/sub_tracking_file.h"

#include <gputracker/analysis.h>

struct exact_figures;

/* Returns an empty object; NULL without memory. `keeps_calls`: exact_figures_add_call() will be
 * used. The caller frees it by exact_figures_destroy(), which accepts NULL. */
struct exact_figures *exact_figures_create(bool keeps_calls);
void exact_figures_destroy(struct exact_figures *figures);

/*
 * Adds a mark at `time`. A stop belongs to the start at `started`, or, when that is NaN, to the
 * latest. A figure that a mark lacks, or that decreases from a start to its stop, is unknown from
 * there on. Errors: GPUT_ERROR_MEMORY.
 */
int exact_figures_add_mark(struct exact_figures *figures, const struct sub_tracking_mark *row,
    double time, double started, struct gput_error *error);

/*
 * After all marks: pairs stops without a start in their lane. The open starts of all lanes of a
 * block in one process are added to a new `all`. The stops of each lane then find theirs there.
 * Such a call has the figures of the process, and none of the thread; a stop without any start has
 * none at all. Errors: GPUT_ERROR_MEMORY.
 */
bool exact_figures_have_unmatched_stops(const struct exact_figures *figures);
int exact_figures_add_open(
    struct exact_figures *all, const struct exact_figures *figures, struct gput_error *error);
int exact_figures_pair_unmatched_stops(
    struct exact_figures *figures, struct exact_figures *all, struct gput_error *error);

/* Forgets the figures of calls together. */
void exact_figures_forget(struct exact_figures *figures);

/* Returns the figures of marks with these optional columns, as a set of bits 1 << figure. */
unsigned exact_figures_of_columns(unsigned columns);

/* Whether the figure of a block is the largest of its calls, not their sum; and what results call
 * it: "max" or "total". */
bool exact_figure_is_largest(enum gput_exact_figure figure);
const char *exact_figure_total_name(enum gput_exact_figure figure);

/* The figure of more calls together; NaN: unknown. */
double exact_figure_add(enum gput_exact_figure figure, double total, double more);

/* Adds the totals of all calls, by enum gput_exact_figure in their units; NaN where unknown. */
void exact_figures_sum(const struct exact_figures *figures, double sums[GPUT_EXACT_FIGURE_COUNT]);

/* The same for the call that stopped at that time; each call once. */
void exact_figures_add_call(
    struct exact_figures *figures, double stop, double of_call[GPUT_EXACT_FIGURE_COUNT]);
