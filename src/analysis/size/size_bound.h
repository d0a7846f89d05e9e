/*
 * An upper bound for the next of a series of values: what a stated share of future runs does not
 * exceed, from runs that were seen. Some of these were killed and wanted more than they got
 * (censored), and values may grow with something known of each run, such as the size of its input.
 *
 * The bound is one of prediction: over many series of which each gives a bound, the stated share of
 * next values is at most theirs. docs/size.md has the method.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct size_value {
    double value;     /* above 0 */
    bool is_censored; /* it was killed: the true value is higher */
    double covariate; /* the quantity that it may grow with; NaN: not known */
    double ranks; /* ranks of the job: the covariate where no run has another one; NaN: not known */
};

/* The evidence of a bound, from the weakest to the strongest. */
enum size_basis {
    SIZE_BASIS_NONE,      /* there is no value: no bound */
    SIZE_BASIS_GUESS,     /* one or two runs, or only censored ones: their spread is assumed */
    SIZE_BASIS_LOGNORMAL, /* few runs, or censored ones at the top: a log-normal spread is assumed
                           */
    SIZE_BASIS_ORDER,     /* enough runs that nothing has to be assumed but that they are alike */
};

struct size_bound {
    enum size_basis basis;
    double value; /* NaN: no basis */
    double seen;  /* the highest value, censored ones included; NaN: none */
    bool is_seen_censored;
    size_t n_values;
    size_t n_censored;
    size_t n_needed; /* number of values that a bound without assumptions needs */
    bool grows; /* values grow with the covariate; `value` is then for the requested covariate */
    double intercept, slope; /* of the line through the middle of the values, where they grow */
    double covariate;        /* the covariate of `value` */
    bool is_beyond;          /* the covariate is larger than any that was seen */
};

/*
 * Computes the bound. `share`: 0.95, above 0 and below 1. `covariate`: of the next run; NaN: not
 * known, so that of the largest seen is taken. Errors: GPUT_ERROR_MEMORY.
 */
int size_bound_compute(const struct size_value *values, size_t count, double share,
    double covariate, struct size_bound *bound, struct gput_error *error);

/* Returns the quantile of Student's distribution for a probability between 0.5 and 1. */
double size_student_quantile(double probability, double freedom);
