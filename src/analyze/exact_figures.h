/*
 * What the kernel counted in the calls of one lane, each call its own: paired up as the marks come,
 * as a thread writes its own in order. Memory grows with the calls that are open at once only.
 */
#ifndef ANALYZE_EXACT_FIGURES_H
#define ANALYZE_EXACT_FIGURES_H

#include "base/error.h"
#include "store/sub_tracking_file.h"

#include <gputracker/analyze.h>

struct exact_figures;

/* Empty; NULL without memory. To be freed by exact_figures_destroy(), which takes NULL too. */
struct exact_figures *exact_figures_create(void);
void exact_figures_destroy(struct exact_figures *figures);

/*
 * Adds a mark. A figure that a mark lacks, or that sinks from a start to its stop, is unknown from
 * there on. Errors: GPUT_ERROR_MEMORY.
 */
int exact_figures_add_mark(
    struct exact_figures *figures, const struct sub_tracking_row *row, struct gput_error *error);

/* Adds the totals of all calls, by enum gput_exact_figure in their units; NaN where unknown. */
void exact_figures_sum(const struct exact_figures *figures, double sums[GPUT_EXACT_FIGURE_COUNT]);

#endif
