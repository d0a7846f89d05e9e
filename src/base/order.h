/*
 * For functions that compare, as qsort() wants them.
 *
 *     static int longest_first(const void *left, const void *right)
 *     {
 *         const struct call *a = left, *b = right;
 *         ORDER_BY(b->seconds, a->seconds);
 *         ORDER_BY_TEXT(a->name, b->name);
 *         return ORDER(a->place, b->place);
 *     }
 */
#pragma once

#include <string.h>

/* Below 0, 0 or above 0, as `a` is less than `b`, equal or greater. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

#define ORDER_BY_RESULT(order)                                                                     \
    do {                                                                                           \
        int order_ = (order);                                                                      \
        if (order_ != 0)                                                                           \
            return order_;                                                                         \
    } while (0)

/* Ends the function where these differ. */
#define ORDER_BY(a, b) ORDER_BY_RESULT(ORDER(a, b))
#define ORDER_BY_TEXT(a, b) ORDER_BY_RESULT(strcmp(a, b))
