/*
 * For functions that compare, as qsort() wants them, and for searches in what is sorted.
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

/*
 * Sets `at` to the first of `count` places for which `is_before`, an expression of `at`, is false;
 * to `count` where it is true for all. It is true up to some place and false from there on:
 *
 *     PARTITION_POINT(at, n_calls, calls[at].start <= time); // the first call after `time`
 */
#define PARTITION_POINT(at, count, is_before)                                                      \
    do {                                                                                           \
        size_t low_ = 0, high_ = (count);                                                          \
        while (low_ < high_) {                                                                     \
            (at) = low_ + (high_ - low_) / 2;                                                      \
            if (is_before)                                                                         \
                low_ = (at) + 1;                                                                   \
            else                                                                                   \
                high_ = (at);                                                                      \
        }                                                                                          \
        (at) = low_;                                                                               \
    } while (0)
