#include "analysis/analyze/student.h"

#include <math.h>

/* From here on the expansion is exact to the precision of doubles. */
#define MANY_DEGREES 1000
#define MAX_STEPS 200
#define MIN_VALUE 1e-300

static double away_from_zero(double value)
{
    return fabs(value) < MIN_VALUE ? MIN_VALUE : value;
}

/* The continued fraction of the incomplete beta function, evaluated from its front (Lentz). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), product = d;
    for (int m = 1; m < MAX_STEPS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        product *= d * c;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        double factor = d * c;
        product *= factor;
        if (fabs(factor - 1) < 1e-16)
            break;
    }
    return product;
}

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* The part that is independent of t, of the density and of the tail. */
static double factor_of(double n)
{
    return exp(log_gamma((n + 1) / 2) - log_gamma(n / 2)) / sqrt(M_PI);
}

/* The probability of what lies above t, which is positive. */
static double tail_above(double t, double n, double factor)
{
    double x = n / (n + t * t);
    return factor * pow(x, n / 2) * sqrt(1 - x) / n * beta_fraction(n / 2, 0.5, x);
}

double student_p_value(double t, double degrees_of_freedom)
{
    double n = degrees_of_freedom;
    t = fabs(t);
    if (!(n >= 1) || isnan(t))
        return NAN;
    if (n > MANY_DEGREES)
        return erfc(t / M_SQRT2);
    double x = n / (n + t * t), y = t * t / (n + t * t);
    if (y < 1.5 / (n / 2 + 2.5)) /* here the fraction of the middle is the one that converges */
        return 1 - 2 * factor_of(n) * sqrt(y) * pow(x, n / 2) * beta_fraction(0.5, n / 2, y);
    return 2 * tail_above(t, n, factor_of(n));
}

double student_quantile_975(double degrees_of_freedom)
{
    double n = degrees_of_freedom;
    if (!(n >= 1))
        return NAN;
    /* The first terms of the expansion around the normal distribution (Cornish and Fisher). */
    const double z = 1.9599639845400545, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    double t = z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
               (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
    if (n > MANY_DEGREES)
        return t;
    /* Newton's method. The expansion is below the quantile and the tail is convex there, so no step
     * goes beyond it. */
    double factor = factor_of(n);
    for (int i = 0; i < MAX_STEPS; i++) {
        double x = n / (n + t * t);
        double density = factor * pow(x, n / 2) * sqrt(x) / sqrt(n);
        double step = (tail_above(t, n, factor) - 0.025) / density;
        t += step;
        if (fabs(step) < 1e-14 * t)
            break;
    }
    return t;
}

double student_welch_freedom(double variance_a, size_t runs_a, double variance_b, size_t runs_b)
{
    double sum = variance_a + variance_b;
    return sum * sum /
           (variance_a * variance_a / (double)(runs_a - 1) +
               variance_b * variance_b / (double)(runs_b - 1));
}
