/*
 * Student's t distribution, for confidence intervals.
 */
#pragma once

/*
 * The 97.5 % quantile, so that 95 % of the distribution lie between it and its negative; to 12
 * digits. NaN below 1 degree of freedom.
 */
double student_quantile_975(double degrees_of_freedom);
