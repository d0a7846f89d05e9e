/*
 * Arrays of doubles.
 */
#pragma once

/* Orders doubles that are numbers, for qsort(). */
int doubles_compare(const void *left, const void *right);
