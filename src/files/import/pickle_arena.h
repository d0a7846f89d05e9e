/*
 * Memory that is given out in small pieces and freed all at once, up to a bound.
 */
#pragma once

#include <stddef.h>

struct pickle_arena {
    struct pickle_arena_chunk *chunks;
    char *next;
    size_t left; /* bytes at `next` */
    size_t total;
    size_t max;
};

/* All zeroes but `max` is empty. */
void pickle_arena_finish(struct pickle_arena *arena);

/* Zeroed memory for anything; NULL without memory or beyond the bound. */
void *pickle_arena_allocate(struct pickle_arena *arena, size_t size);
