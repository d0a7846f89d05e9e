/*
 * Arrays of doubles.
 */
#pragma once

#include <stddef.h>

/* Orders doubles that are numbers, for qsort(). */
int doubles_compare(const void *left, const void *right);

/* The median, which is the mean of the middle two of an even number; NaN of none. Sorts them; they
 * are numbers. */
double doubles_median(double *values, size_t count);
