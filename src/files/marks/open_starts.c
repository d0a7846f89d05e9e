#include "files/marks/open_starts.h"

#include "base/array.h"

#include <stdlib.h>

/* The slot of a time; the upper bits of the product depend on all of its bits. */
static uint32_t *slot_of(const struct open_starts *open, int64_t time)
{
    uint64_t hash = (uint64_t)time * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (hash >> 32)) * UINT64_C(0xBF58476D1CE4E5B9);
    return open->slots + ((hash >> 32) & (open->capacity - 1));
}

/* Enters a start into the slot of its time, before those that are there. */
static void enter(struct open_starts *open, uint32_t place)
{
    uint32_t *slot = slot_of(open, open->starts[place].time);
    open->starts[place].next_in_slot = *slot;
    *slot = place + 1;
}

/* Called when all places are in use. */
static bool grow(struct open_starts *open)
{
    uint32_t capacity = open->capacity ? open->capacity * 2 : 4, earliest = open->latest;
    if (capacity == 0)
        return false;
    if (!ARRAY_RESIZE(open->starts, capacity))
        return false;
    struct open_start *starts = open->starts;
    uint32_t *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    free(open->slots);
    open->slots = slots;
    open->capacity = capacity;
    while (earliest && starts[earliest - 1].before)
        earliest = starts[earliest - 1].before;
    for (uint32_t at = earliest; at; at = starts[at - 1].after) /* the latest comes first in each */
        enter(open, at - 1);
    return true;
}

bool open_starts_push(struct open_starts *open, int64_t time)
{
    if (!open->first_free && open->used == open->capacity && !grow(open))
        return false;
    uint32_t place = open->first_free ? open->first_free - 1 : open->used++;
    if (open->first_free)
        open->first_free = open->starts[place].before;
    open->starts[place] = (struct open_start){.time = time, .before = open->latest};
    if (open->latest)
        open->starts[open->latest - 1].after = place + 1;
    open->latest = place + 1;
    enter(open, place);
    return true;
}

bool open_starts_pop(struct open_starts *open, int64_t time)
{
    if (!open->latest)
        return false;
    uint32_t *link = slot_of(open, time);
    while (*link && open->starts[*link - 1].time != time)
        link = &open->starts[*link - 1].next_in_slot;
    if (!*link)
        return false;
    uint32_t number = *link;
    struct open_start *start = &open->starts[number - 1];
    *link = start->next_in_slot;
    if (start->before)
        open->starts[start->before - 1].after = start->after;
    if (start->after)
        open->starts[start->after - 1].before = start->before;
    else
        open->latest = start->before;
    start->before = open->first_free;
    open->first_free = number;
    return true;
}

bool open_starts_pop_latest(struct open_starts *open, int64_t *time)
{
    if (!open->latest)
        return false;
    *time = open->starts[open->latest - 1].time;
    return open_starts_pop(open, *time);
}

void open_starts_finish(struct open_starts *open)
{
    free(open->starts);
    free(open->slots);
    *open = (struct open_starts){0};
}
