/*
 * Analyses of several sessions whose code blocks match.
 */
#pragma once

#include "analysis/analyze/analysis.h"
#include "base/cleanup.h"

#include <gputracker/comparison.h>

struct comparison_session {
    char *name;
    struct gput_analysis **runs; /* owned, as is each; code blocks in matching order */
    size_t n_runs;
};

/* Everything is owned. */
struct gput_comparison {
    struct comparison_session *sessions; /* in the order given */
    size_t n_sessions;
    const struct gput_analysis *first; /* the run whose code blocks are shown: of the session whose
                                          name sorts first */
    const char **measurements; /* of the first, then of the others what it lacks; names of theirs */
    size_t n_measurements;
    char **block_names; /* "a" or, matched across names, "a -> b" */
    size_t n_blocks;
};

/* A measurement of the session as a whole, of a code block, or a block's compute time. */
struct comparison_figure {
    const char *measurement; /* NULL: compute time; "energy_total" … (joules): without statistic */
    size_t block;            /* COMPARISON_OVERALL: of the session as a whole */
    enum gput_statistic statistic;
};

#define COMPARISON_OVERALL SIZE_MAX

/* The value of a figure in a session. */
struct comparison_value {
    size_t session;
    double value; /* the mean over its runs; NaN when unknown */
    double low;   /* the bounds of the mean's 95 % interval; NaN for a single run */
    double high;
    double change; /* percent of change from the first session; NaN when that is 0 or unknown */
    bool integer;  /* the only run's file has it as an integer */
    bool noise;    /* the spread of the runs explains the difference from the first session */
};

/* The options that a program gave; NULL: the defaults. Errors: those of sized_read(). */
int comparison_options_read(const struct gput_comparison_options *given,
    struct gput_comparison_options *options, struct gput_error *error);

/* Empty. NULL without memory. */
struct gput_comparison *comparison_create(void);
CLEANUP_DEFINE(struct gput_comparison, gput_comparison_destroy)

/* Adds a run of a session; owns `analysis` from here on, also on failure. Errors:
 * GPUT_ERROR_MEMORY. */
int comparison_add(struct gput_comparison *comparison, const char *name,
    struct gput_analysis *analysis, struct gput_error *error);

/* Matches the code blocks of all runs. Errors and `warn`: as gput_comparison_create(). */
int comparison_match(struct gput_comparison *comparison,
    void (*warn)(void *user, const char *message), void *user, struct gput_error *error);

/* "energy_package" …, by enum gput_energy_figure: measurements in addition to those of the
 * analyses. */
extern const char *const comparison_energy_measurements[GPUT_ENERGY_FIGURE_COUNT];

/* Whether some run has that figure. */
bool comparison_has_energy(
    const struct gput_comparison *comparison, enum gput_energy_figure figure);

/* Whether that is a measurement of energy; sets which one. */
bool comparison_energy_figure(const char *measurement, enum gput_energy_figure *figure);

/* The measurement of that name, as the comparison has it, or NULL. */
const char *comparison_find_measurement(const struct gput_comparison *comparison, const char *name);

/* Whether some session has several runs. */
bool comparison_has_runs(const struct gput_comparison *comparison);

/* Returns the lost calls of all runs of a session. */
struct lost_calls comparison_lost_calls(const struct comparison_session *session);

/* The first run of the first session: the others are compared with it, in its units of RAM. */
const struct gput_analysis *comparison_base(const struct gput_comparison *comparison);

/* Fills one value a session, in the order of the sessions. RAM is in the unit of the base. */
void comparison_values(const struct gput_comparison *comparison,
    const struct comparison_figure *figure, struct comparison_value *values);

bool comparison_are_integers(const struct comparison_value *values, size_t count);

/* The same in ascending order of the values, NaN last, equal ones in the order of the sessions. */
void comparison_sorted_values(const struct gput_comparison *comparison,
    const struct comparison_figure *figure, struct comparison_value *values);
