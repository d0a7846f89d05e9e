#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 8

/* Resizes an array. The pointer at `items` may be of any type: it is copied, not read as void *.
 * (reallocarray() came with glibc 2.26.) */
bool array_resize(void *items, size_t count, size_t size)
{
    void *array;
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        return false;
    memcpy(&array, items, sizeof array);
    array = realloc(array, bytes);
    if (!array)
        return false;
    memcpy(items, &array, sizeof array);
    return true;
}

bool array_extend(void *items, size_t count, size_t size)
{
    bool is_power_of_two = (count & (count - 1)) == 0;
    if (count == 0)
        return array_resize(items, FIRST_CAPACITY, size);
    if (count < FIRST_CAPACITY || !is_power_of_two)
        return true;
    return array_resize(items, count * 2, size);
}

bool array_reserve(void *items, size_t count, size_t *capacity, size_t size)
{
    size_t larger = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    if (count < *capacity)
        return true;
    while (larger <= count)
        larger *= 2;
    if (!array_resize(items, larger, size))
        return false;
    *capacity = larger;
    return true;
}
