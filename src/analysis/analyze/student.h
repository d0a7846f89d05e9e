/*
 * Student's t distribution, for confidence intervals.
 */
#pragma once

#include <stddef.h>

/*
 * The 97.5 % quantile, so that 95 % of the distribution lie between it and its negative; to 12
 * digits. NaN below 1 degree of freedom.
 */
double student_quantile_975(double degrees_of_freedom);

/* How probable a value as far from 0 as `t` is, on either side. NaN below 1 degree of freedom. */
double student_p_value(double t, double degrees_of_freedom);

/* The degrees of freedom of a difference of two means, with the variance of each and the number of
 * runs that it is from (Welch). */
double student_welch_freedom(double variance_a, size_t runs_a, double variance_b, size_t runs_b);
