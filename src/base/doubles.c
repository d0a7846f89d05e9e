#include "base/doubles.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>

int doubles_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return ORDER(a, b);
}

double doubles_median(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, doubles_compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
