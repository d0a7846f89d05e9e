/*
 * Student's t distribution, as far as intervals need it.
 */
#ifndef ANALYZE_STUDENT_H
#define ANALYZE_STUDENT_H

/*
 * The value that 97.5 % of the distribution lie below, so that 95 % lie between it and its
 * negative; to 12 digits. NaN below 1 degree of freedom.
 */
double student_quantile_975(double degrees_of_freedom);

#endif
