/*
 * The starts of one block in one thread that have no stop yet. Finds the latest one, or one by its
 * time, in constant time. Memory grows with the maximum number of open starts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct open_start {
    int64_t time;
    uint32_t before; /* place of the previous start + 1; in a free place: the next free place */
    uint32_t after;  /* place of the next start + 1; 0: none */
    uint32_t next_in_slot; /* the next place in the same slot */
};

/* An empty set is all zeroes. */
struct open_starts {
    struct open_start *starts; /* owned; places are used again */
    uint32_t *slots;           /* owned; as many as starts have space: place + 1, 0: none */
    uint32_t capacity;         /* a power of two */
    uint32_t used;             /* places that were ever in use */
    uint32_t latest;           /* place + 1; 0: nothing is open */
    uint32_t first_free;       /* place + 1; 0: none */
};

/* Adds a start, the latest from now on. Times are compared for being equal alone: any 64 bits.
 * False without memory. */
bool open_starts_push(struct open_starts *open, int64_t time);

/* Removes the latest start; false when none is open. */
bool open_starts_pop_latest(struct open_starts *open, int64_t *time);

/* Removes the latest start of that time; false when none is open. */
bool open_starts_pop(struct open_starts *open, int64_t time);

/* The place of a start, below `capacity`, under which callers can store data of their own: valid
 * right after it was pushed, and right after it was removed. */
static inline uint32_t open_starts_pushed_place(const struct open_starts *open)
{
    return open->latest - 1;
}

static inline uint32_t open_starts_taken_place(const struct open_starts *open)
{
    return open->first_free - 1;
}

/* The key of a time in seconds. */
static inline int64_t open_starts_key(double seconds)
{
    int64_t key;
    seconds += 0.0; /* 0 and -0 have one key */
    memcpy(&key, &seconds, sizeof key);
    return key;
}

void open_starts_finish(struct open_starts *open);
