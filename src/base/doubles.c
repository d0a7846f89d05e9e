#include "base/doubles.h"

#include "base/order.h"

int doubles_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return ORDER(a, b);
}
