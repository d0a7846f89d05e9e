#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 8

/* The pointer at `items` may be of any type: it is copied, not read as void *. */
static bool resize(void *items, size_t capacity, size_t size)
{
    void *array;
    memcpy(&array, items, sizeof array);
    array = reallocarray(array, capacity, size);
    if (!array)
        return false;
    memcpy(items, &array, sizeof array);
    return true;
}

bool array_extend(void *items, size_t count, size_t size)
{
    bool is_power_of_two = (count & (count - 1)) == 0;
    if (count == 0)
        return resize(items, FIRST_CAPACITY, size);
    if (count < FIRST_CAPACITY || !is_power_of_two)
        return true;
    return resize(items, count * 2, size);
}

bool array_reserve(void *items, size_t count, size_t *capacity, size_t size)
{
    size_t larger = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    if (count < *capacity)
        return true;
    while (larger <= count)
        larger *= 2;
    if (!resize(items, larger, size))
        return false;
    *capacity = larger;
    return true;
}
