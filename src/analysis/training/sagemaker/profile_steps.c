#include "analysis/training/sagemaker/profile_views.h"

#include "analysis/training/sagemaker/step_index.h"
#include "analysis/training/statistics.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

/* What happened under one key in one step. */
struct member {
    uint32_t key;
    uint32_t mode;
    int64_t step;
    int64_t start_us;
    int64_t end_us;
};

/* Orders members by key, mode and step. */
static int compare_members(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    ORDER_BY(a->key, b->key);
    ORDER_BY(a->mode, b->mode);
    return ORDER(a->step, b->step);
}

/* Returns whether two members are of one step. */
static bool same_group(const struct member *a, const struct member *b)
{
    return a->key == b->key && a->mode == b->mode && a->step == b->step;
}

/* One row of the result. */
struct line {
    const char *key;
    struct figure_summary durations;
};

struct lines {
    struct line *all;
    size_t count;
};

static void lines_finish(struct lines *lines)
{
    free(lines->all);
}

/* Orders lines by their key. */
static int compare_lines(const void *left, const void *right)
{
    return strcmp(((const struct line *)left)->key, ((const struct line *)right)->key);
}

/* Makes a line of the steps of each group. */
static int make_lines(const struct profile_frame *frame, struct row_sorter *members,
    struct lines *lines, struct gput_error *error)
{
    const void *row;
    TRY(row_sorter_first(members, &row, error));
    while (row) {
        CLEANUP(figure_set_finish) struct figure_set spans = {0};
        if (!ARRAY_EXTEND(lines->all, lines->count))
            return error_memory(error);
        struct line *line = lines->all + lines->count;
        line->key = profile_frame_text(frame, ((const struct member *)row)->key);

        /* Collect the durations of the steps of one key; `row` is its first member. */
        const uint32_t key = ((const struct member *)row)->key;
        double span_us;
        while (row && ((const struct member *)row)->key == key) {
            /* Merge the members of one step into one span; `row` then is the first member after
             * them. */
            const struct member first = *(const struct member *)row, *member = row;
            int64_t start_us = INT64_MAX, end_us = INT64_MIN;
            while (member && same_group(member, &first)) {
                start_us = member->start_us < start_us ? member->start_us : start_us;
                end_us = member->end_us > end_us ? member->end_us : end_us;
                TRY(row_sorter_next(members, &row, error));
                member = row;
            }
            span_us = (double)(end_us - start_us);

            if (!figure_set_add(&spans, span_us))
                return error_memory(error);
        }

        line->durations = figure_set_summarize(&spans);
        lines->count++;
    }
    return GPUT_OK;
}

bool profile_is_step(const struct profile_frame *frame, const struct gput_profile_options *options,
    const struct framework_row *row)
{
    (void)options;
    return profile_frame_is_step(frame, row, NULL);
}

bool profile_counts_in_steps(const struct profile_frame *frame,
    const struct gput_profile_options *options, const struct framework_row *row)
{
    return options->by != GPUT_PROFILE_BY_TRAINING_PHASE || profile_frame_is_step(frame, row, NULL);
}

int profile_steps(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    static const char *const keys[] = {"training_phase", "framework_metric", "process"};
    const struct row_memory memory =
        row_memory_of(options->memory_bytes, options->temporary_folder);
    const struct row_order order = {sizeof(struct member), compare_members, false};
    CLEANUP(step_index_finish) struct step_index index = {0};
    CLEANUP(row_sorter_destroy_pointer) struct row_sorter *members = NULL;
    CLEANUP(lines_finish) struct lines lines = {0};
    struct gput_table *table = tables_add(tables, "steps");
    table_add_column(table, keys[options->by], GPUT_COLUMN_TEXT);
    figure_summary_add_columns(table, "duration", "_us", NULL);
    TRY(step_index_make(&index, frame, error));
    TRY(row_sorter_create(&memory, &order, &members, error));

    /* Hand each row that counts on with its key; rows of no step do not. */
    const struct framework_row *row;
    TRY(profile_frame_first_event(frame, &row, error));
    while (row) {
        struct step step = {.number = -1, .metric = NAMES_NONE};
        step_index_find(&index, frame, row, &step);
        const struct member member = {
            .key = options->by == GPUT_PROFILE_BY_PROCESS ? row->phase : row->metric,
            .mode = step.metric,
            .step = row->step == -1 ? step.number : row->step,
            .start_us = row->start_us,
            .end_us = row->end_us};
        if (member.step >= 0)
            TRY(row_sorter_add(members, &member, error));
        TRY(profile_frame_next_event(frame, &row, error));
    }

    TRY(make_lines(frame, members, &lines, error));
    if (lines.count == 0 && !options->rows)
        return profile_nothing(options,
            options->by == GPUT_PROFILE_BY_TRAINING_PHASE ? "steps of any training phase"
                                                          : "events of any training step",
            error);

    /* Write the lines in order. */
    if (lines.count > 1)
        qsort(lines.all, lines.count, sizeof *lines.all, compare_lines);
    for (size_t i = 0; i < lines.count; i++) {
        table_put_text(table, lines.all[i].key);
        figure_summary_put(table, &lines.all[i].durations);
    }

    return GPUT_OK;
}
