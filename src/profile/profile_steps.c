#include "profile/profile_views.h"
#include "profile/statistics.h"

#include <stdlib.h>
#include <string.h>

/* A row of one group: what happened under one key in one step. */
struct member {
    uint32_t key;
    uint32_t mode;
    int64_t step;
    int64_t start_us;
    int64_t end_us;
};

struct grouping {
    const struct profile_frame *frame;
    struct member *members;
    size_t count;
};

static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->mode != b->mode)
        return a->mode < b->mode ? -1 : 1;
    return a->step < b->step ? -1 : a->step > b->step;
}

static bool same_group(const struct member *a, const struct member *b)
{
    return a->key == b->key && a->mode == b->mode && a->step == b->step;
}

/* The rows that count, each with its key; rows of no step do not. */
static int gather(struct grouping *grouping, const uint32_t *modes, enum gput_stats_by by,
    struct gput_error *error)
{
    const struct profile_frame *frame = grouping->frame;
    grouping->members = malloc((frame->framework_count + 1) * sizeof *grouping->members);
    if (!grouping->members)
        return error_memory(error);
    for (size_t i = 0; i < frame->framework_count; i++) {
        const struct framework_row *row = frame->framework + i;
        bool counts = by != GPUT_BY_TRAINING_PHASE || profile_frame_is_step(frame, row, NULL);
        if (!counts || row->step < 0)
            continue;
        grouping->members[grouping->count++] =
            (struct member){.key = by == GPUT_BY_PROCESS ? row->phase : row->metric,
                .mode = modes[i],
                .step = row->step,
                .start_us = row->start_us,
                .end_us = row->end_us};
    }
    if (grouping->count > 1)
        qsort(grouping->members, grouping->count, sizeof *grouping->members, compare_members);
    return GPUT_OK;
}

/* One row of the result. */
struct line {
    const char *key;
    struct figures durations;
};

static int compare_lines(const void *left, const void *right)
{
    return strcmp(((const struct line *)left)->key, ((const struct line *)right)->key);
}

/* Adds the span of each (key, step) to the line of its key. False without memory. */
static bool make_lines(const struct grouping *grouping, struct line *lines, size_t *count)
{
    const struct member *members = grouping->members;
    for (size_t first = 0, end; first < grouping->count; first = end) {
        int64_t start_us = INT64_MAX, end_us = INT64_MIN;
        for (end = first; end < grouping->count && same_group(members + first, members + end);
             end++) {
            start_us = members[end].start_us < start_us ? members[end].start_us : start_us;
            end_us = members[end].end_us > end_us ? members[end].end_us : end_us;
        }
        if (first == 0 || members[first].key != members[first - 1].key)
            lines[(*count)++] =
                (struct line){.key = profile_frame_text(grouping->frame, members[first].key)};
        if (!figures_add(&lines[*count - 1].durations, (double)(end_us - start_us)))
            return false;
    }
    return true;
}

static int put_lines(
    const struct grouping *grouping, struct gput_table *table, struct gput_error *error)
{
    size_t count = 0;
    struct line *lines = calloc(grouping->count + 1, sizeof *lines);
    bool made = lines && make_lines(grouping, lines, &count);
    if (made && count > 1)
        qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        if (made) {
            table_put_text(table, lines[i].key);
            figures_put(table, &lines[i].durations);
        }
        figures_finish(&lines[i].durations);
    }
    free(lines);
    return made ? GPUT_OK : error_memory(error);
}

int profile_steps(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    static const char *const keys[] = {"training_phase", "framework_metric", "process"};
    struct grouping grouping = {.frame = frame};
    struct gput_table *table = tables_add(tables, "steps");
    table_add_column(table, keys[options->by], GPUT_COLUMN_TEXT);
    figures_add_columns(table, "duration", "_us");
    uint32_t *modes = calloc(frame->framework_count + 1, sizeof *modes);
    int code = modes ? profile_frame_assign_steps(frame, modes, error) : error_memory(error);
    if (code == GPUT_OK)
        code = gather(&grouping, modes, options->by, error);
    if (code == GPUT_OK)
        code = put_lines(&grouping, table, error);
    free(grouping.members);
    free(modes);
    return code;
}
