/*
 * Which curves of the loaded sessions a plot shows, and in which charts.
 */
#pragma once

#include "views/plot/chart.h"
#include "views/report/document/report_payload.h"

#include <gputracker/plot.h>

#include <stdbool.h>
#include <stddef.h>

/* A curve of a session, or of the caller. */
struct plot_series {
    size_t session;                      /* its number */
    const char *id, *group, *scope;      /* of the document, or of the caller */
    const char *label, *unit;            /* likewise; "" where there is none */
    double limit;                        /* NaN: none */
    const struct doc *times, *values;    /* columns; NULL: it is the caller's */
    const struct gput_plot_curve *given; /* NULL: it is of a session */
    bool of_interval;                    /* each value is that of the time since the one before */
    bool is_used;                        /* neither 0 nor missing throughout */
    bool has_gpus;                       /* its session has a curve for each of several GPUs */
    bool is_chosen;
};

struct plot_figures {
    struct plot_series *series;     /* owned */
    struct gput_plot_curve *curves; /* owned: those of the caller */
    size_t count;
    size_t n_sessions;
    size_t left_out; /* curves of panels that have enough */
};

/* Lists the curves of the document, which must outlive the figures, and of the options. To be freed
 * by plot_figures_finish(). Errors: GPUT_ERROR_MEMORY. */
int plot_figures_list(struct plot_figures *figures, const struct report_payload *payload,
    const struct gput_plot_options *options, struct gput_error *error);
void plot_figures_finish(struct plot_figures *figures);

/* Chooses those that the options name, or the usual ones. Errors: GPUT_ERROR_INVALID (a figure that
 * there is not; its message has those that there are). */
int plot_figures_choose(struct plot_figures *figures, const struct gput_plot_options *options,
    struct gput_error *error);

/* Widens *start and *end, NaN at first, to the times of the chosen curves. Errors: those of
 * report_column_reader_next(). */
int plot_figures_find_times(const struct plot_figures *figures,
    const struct report_payload *payload, double *start, double *end, struct gput_error *error);

/* Adds the chosen curves to a chart, whose time and size are known. Errors: also
 * GPUT_ERROR_MEMORY. */
int plot_figures_add(const struct plot_figures *figures, const struct report_payload *payload,
    const struct gput_plot_options *options, struct chart *chart, struct gput_error *error);
