/*
 * Arrays that grow. An array is an ordinary pointer with a count, both members of a struct of the
 * caller's, all zeroes while it is empty, freed by free():
 *
 *     if (!ARRAY_EXTEND(list->items, list->count))
 *         return error_memory(error);
 *     list->items[list->count++] = item;
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Space for one more item after `count`, in an array that only grows: its capacity follows from the
 * count. False without memory; the array is then as before. */
#define ARRAY_EXTEND(items, count) array_extend(&(items), (count), sizeof *(items))

/* The same for an array that is emptied and filled again, or is a stack: it keeps its `capacity`, a
 * size_t. */
#define ARRAY_RESERVE(items, count, capacity)                                                      \
    ((count) < (capacity) || array_reserve(&(items), (count), &(capacity), sizeof *(items)))

/* Space for `count` items and no more. False without memory; the array is then as before. */
#define ARRAY_RESIZE(items, count) array_resize(&(items), (count), sizeof *(items))

/* `items` is the address of a pointer to items of `size` bytes. */
bool array_resize(void *items, size_t count, size_t size);
bool array_extend(void *items, size_t count, size_t size);
bool array_reserve(void *items, size_t count, size_t *capacity, size_t size);
