#include "analyze/student.h"

#include <math.h>
#include <stddef.h>

double student_quantile_975(double degrees_of_freedom)
{
    static const double table[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
        2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
    const size_t count = sizeof table / sizeof table[0];
    double n = degrees_of_freedom;
    if (!(n >= 1))
        return NAN;
    if (n < (double)count) { /* fractions come from Welch's test: straight between two */
        size_t low = (size_t)n;
        double share = n - (double)low;
        return table[low - 1] + share * (table[low] - table[low - 1]);
    }
    /* The first terms of the expansion around the normal distribution (Cornish and Fisher). */
    const double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
    return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
           (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}
