#include "profile/step_index.h"

#include <stdlib.h>
#include <string.h>

/* How far back intervals that overlap are looked for. Steps of one mode and node do not overlap. */
#define LOOK_BACK 64

int step_index_add(struct step_index *index, const struct profile_frame *frame,
    const struct framework_row *row, struct gput_error *error)
{
    if (!profile_frame_is_step(frame, row, NULL))
        return GPUT_OK;
    if (index->count == index->capacity) {
        size_t capacity = index->capacity ? index->capacity * 2 : 256;
        struct step *steps = realloc(index->by_start, capacity * sizeof *steps);
        if (!steps)
            return error_memory(error);
        index->by_start = steps;
        index->capacity = capacity;
    }
    index->by_start[index->count++] =
        (struct step){row->start_us, row->end_us, row->step, row->metric, row->node};
    return GPUT_OK;
}

static int compare_starts(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    return a->start_us < b->start_us ? -1 : a->start_us > b->start_us;
}

static int compare_numbers(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return compare_starts(left, right);
}

int step_index_sort(struct step_index *index, struct gput_error *error)
{
    if (index->count == 0)
        return GPUT_OK;
    index->by_number = malloc(index->count * sizeof *index->by_number);
    if (!index->by_number)
        return error_memory(error);
    memcpy(index->by_number, index->by_start, index->count * sizeof *index->by_number);
    qsort(index->by_start, index->count, sizeof *index->by_start, compare_starts);
    qsort(index->by_number, index->count, sizeof *index->by_number, compare_numbers);
    return GPUT_OK;
}

int step_index_make(struct step_index *index, struct profile_frame *frame, struct gput_error *error)
{
    const struct framework_row *row;
    TRY(profile_frame_first_event(frame, &row, error));
    while (row) {
        TRY(step_index_add(index, frame, row, error));
        TRY(profile_frame_next_event(frame, &row, error));
    }
    return step_index_sort(index, error);
}

/* How many steps at the front of an order come before a key. */
static size_t count_before(const struct step *steps, size_t count, const struct step *key,
    int (*compare)(const void *, const void *))
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (compare(steps + middle, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The latest of the intervals that strictly contain a row, of its own node if there is one. */
static const struct step *containing(
    const struct step_index *index, const struct framework_row *row)
{
    const struct step key = {.start_us = row->start_us}, *of_other_node = NULL;
    size_t before = count_before(index->by_start, index->count, &key, compare_starts);
    for (size_t back = 0; back < LOOK_BACK && before > back; back++) {
        const struct step *step = index->by_start + before - back - 1;
        if (step->end_us <= row->end_us)
            continue;
        if (step->node == row->node)
            return step;
        if (!of_other_node)
            of_other_node = step;
    }
    return of_other_node;
}

/* Of the intervals of the step that a row names, the latest that had begun, of its own node if
 * there is one. */
static const struct step *of_its_number(
    const struct step_index *index, const struct framework_row *row)
{
    const struct step key = {.number = row->step, .start_us = INT64_MIN}, *best = NULL;
    const struct step *end = index->by_number + index->count;
    const struct step *step =
        index->by_number + count_before(index->by_number, index->count, &key, compare_numbers);
    for (; step < end && step->number == row->step; step++) {
        bool begun = step->start_us <= row->start_us;
        bool own = step->node == row->node, best_own = best && best->node == row->node;
        if (!best || (own != best_own ? own : begun))
            best = step;
    }
    return best;
}

bool step_index_find(const struct step_index *index, const struct profile_frame *frame,
    const struct framework_row *row, struct step *found)
{
    if (profile_frame_is_step(frame, row, NULL)) {
        *found = (struct step){row->start_us, row->end_us, row->step, row->metric, row->node};
        return true;
    }
    const struct step *step = row->step == -1 ? containing(index, row) : of_its_number(index, row);
    if (!step)
        return false;
    *found = *step;
    return true;
}

void step_index_finish(struct step_index *index)
{
    free(index->by_start);
    free(index->by_number);
    *index = (struct step_index){0};
}
