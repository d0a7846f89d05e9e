#include "analysis/training/sagemaker/step_index.h"

#include "base/array.h"
#include "base/order.h"

#include <stdlib.h>

int step_index_add(struct step_index *index, const struct profile_frame *frame,
    const struct framework_row *row, struct gput_error *error)
{
    if (!profile_frame_is_step(frame, row, NULL))
        return GPUT_OK;
    if (!ARRAY_EXTEND(index->steps, index->count))
        return error_memory(error);
    index->steps[index->count++] =
        (struct step){row->start_us, row->end_us, row->step, row->metric, row->node};
    return GPUT_OK;
}

/* The members by which each order groups steps, before their start. */
static const struct {
    bool number;
    bool node;
} kinds[STEP_ORDERS] = {[STEPS_OF_NODE] = {false, true},
    [STEPS_OF_ALL] = {false, false},
    [NUMBERS_OF_NODE] = {true, true},
    [NUMBERS_OF_ALL] = {true, false}};

/* Compares two steps by the members that the order groups by, then by their start. */
static int compare_begins(enum step_order order, const struct step *a, const struct step *b)
{
    if (kinds[order].number)
        ORDER_BY(a->number, b->number);
    if (kinds[order].node)
        ORDER_BY(a->node, b->node);
    return ORDER(a->start_us, b->start_us);
}

/* Orders steps by all members, so that every run finds the same step. Among steps that start
 * together the shortest counts as the latest. */
static int compare_steps(const void *left, const void *right, void *order)
{
    const struct step *a = *(const struct step *const *)left;
    const struct step *b = *(const struct step *const *)right;
    const int64_t x[] = {b->end_us, a->number, a->metric, a->node};
    const int64_t y[] = {a->end_us, b->number, b->metric, b->node};
    int compared = compare_begins(*(enum step_order *)order, a, b);
    for (size_t i = 0; compared == 0 && i < sizeof x / sizeof *x; i++)
        compared = ORDER(x[i], y[i]);
    return compared;
}

/* Returns the end of a step, for the index. */
static int64_t end_of_step(const void *intervals, size_t place)
{
    return ((const struct step *const *)intervals)[place]->end_us;
}

int step_index_sort(struct step_index *index, struct gput_error *error)
{
    for (enum step_order order = 0; order < STEP_ORDERS && index->count > 0; order++) {
        const struct step **ordered = malloc(index->count * sizeof *ordered);
        if (!ordered)
            return error_memory(error);
        index->ordered[order] = ordered;
        for (size_t i = 0; i < index->count; i++)
            ordered[i] = index->steps + i;
        qsort_r(ordered, index->count, sizeof *ordered, compare_steps, &order);
        TRY(end_index_make(&index->ends[order], ordered, index->count, end_of_step, error));
    }
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

/* Counts the steps of an order before those that start at `start_us`; with `with`, includes
 * these. */
static size_t count_before(const struct step_index *index, enum step_order order,
    const struct framework_row *row, int64_t start_us, bool with)
{
    const struct step key = {.number = row->step, .node = row->node, .start_us = start_us};
    const struct step **steps = index->ordered[order];
    size_t at;
    PARTITION_POINT(at, index->count, compare_begins(order, steps[at], &key) < with);
    return at;
}

/* Finds the step of a row, by its number or its time. */
static const struct step *find(const struct step_index *index, const struct framework_row *row)
{
    bool named = row->step != -1;
    enum step_order order = named ? NUMBERS_OF_NODE : STEPS_OF_NODE;
    size_t first = count_before(index, order, row, INT64_MIN, false);
    if (first == count_before(index, order, row, INT64_MAX, true)) { /* no steps of its node */
        order = named ? NUMBERS_OF_ALL : STEPS_OF_ALL;
        first = count_before(index, order, row, INT64_MIN, false);
        if (first == count_before(index, order, row, INT64_MAX, true))
            return NULL;
    }
    size_t begun = count_before(index, order, row, row->start_us, false);
    size_t around = row->end_us == INT64_MAX
                        ? begun
                        : end_index_find(&index->ends[order], first, begun, row->end_us + 1);
    if (around < begun)
        return index->ordered[order][around];
    begun = count_before(index, order, row, row->start_us, true);
    return !named ? NULL : index->ordered[order][begun > first ? begun - 1 : first];
}

bool step_index_find(const struct step_index *index, const struct profile_frame *frame,
    const struct framework_row *row, struct step *found)
{
    if (profile_frame_is_step(frame, row, NULL)) {
        *found = (struct step){row->start_us, row->end_us, row->step, row->metric, row->node};
        return true;
    }
    const struct step *step = find(index, row);
    if (!step)
        return false;
    *found = *step;
    return true;
}

void step_index_finish(struct step_index *index)
{
    for (enum step_order order = 0; order < STEP_ORDERS; order++) {
        end_index_finish(&index->ends[order]);
        free(index->ordered[order]);
    }
    free(index->steps);
    *index = (struct step_index){0};
}
