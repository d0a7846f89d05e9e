#include "analysis/training/sagemaker/profile_views.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether a metric was asked for; without a choice all are. */
static bool selects(const struct gput_profile_options *options, const char *metric)
{
    return options->n_metrics == 0 || text_is_among(metric, options->metrics, options->n_metrics);
}

/* Returns whether a reading is of a metric that was asked for. */
static bool selects_reading(const struct profile_frame *frame,
    const struct gput_profile_options *options, const struct system_row *row)
{
    return selects(options, profile_frame_text(frame, row->dimension)) ||
           selects(options, profile_frame_text(frame, row->name));
}

bool profile_selects_event(const struct profile_frame *frame,
    const struct gput_profile_options *options, const struct framework_row *row)
{
    return selects(options, profile_frame_text(frame, row->metric)) ||
           selects(options, profile_frame_text(frame, row->name)) ||
           selects(options, profile_frame_text(frame, row->phase));
}

/* Adds the table of readings of the system. */
static struct gput_table *add_system_table(struct gput_tables *tables)
{
    static const struct column columns[] = {{"timestamp", .type = GPUT_COLUMN_TEXT},
        {"timestamp_us", .type = GPUT_COLUMN_INT}, {"value", .type = GPUT_COLUMN_DOUBLE},
        {"system_metric", .type = GPUT_COLUMN_TEXT}, {"dimension", .type = GPUT_COLUMN_TEXT},
        {"nodeID", .type = GPUT_COLUMN_TEXT}, {"type", .type = GPUT_COLUMN_TEXT}};
    struct gput_table *table = tables_add(tables, "system");
    table_add_columns(table, "", NULL, columns, COLUMN_COUNT(columns));
    return table;
}

/* Adds the table of events of the framework. */
static struct gput_table *add_framework_table(struct gput_tables *tables)
{
    static const struct column columns[] = {{"start_time", .type = GPUT_COLUMN_TEXT},
        {"end_time", .type = GPUT_COLUMN_TEXT}, {"start_time_us", .type = GPUT_COLUMN_INT},
        {"end_time_us", .type = GPUT_COLUMN_INT}, {"tid", .type = GPUT_COLUMN_INT},
        {"pid", .type = GPUT_COLUMN_INT}, {"framework_metric", .type = GPUT_COLUMN_TEXT},
        {"step", .type = GPUT_COLUMN_INT}, {"bytes", .type = GPUT_COLUMN_INT},
        {"process", .type = GPUT_COLUMN_TEXT}, {"nodeID", .type = GPUT_COLUMN_TEXT}};
    struct gput_table *table = tables_add(tables, "framework");
    table_add_columns(table, "", NULL, columns, COLUMN_COUNT(columns));
    return table;
}

/* Writes the readings that are selected. */
static int put_readings(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_table *table, struct gput_error *error)
{
    const struct system_row *row;
    TRY(profile_frame_first_reading(frame, &row, error));
    while (row) {
        if (selects_reading(frame, options, row)) {
            profile_put_moment(table, row->time_us);
            table_put_int(table, row->time_us - frame->start_us);
            table_put_double(table, row->value);
            table_put_text(table, profile_frame_text(frame, row->name));
            table_put_text(table, profile_frame_text(frame, row->dimension));
            table_put_text(table, profile_frame_text(frame, row->node));
            table_put_text(table, profile_frame_text(frame, row->type));
            TRY(table_pass_full(table, error));
        }
        TRY(profile_frame_next_reading(frame, &row, error));
    }
    return table_pass_rest(table, error);
}

/* Writes the times of an event, absolute and since the start of the profile. */
static void put_times(
    const struct profile_frame *frame, const struct framework_row *row, struct gput_table *table)
{
    profile_put_moment(table, row->start_us);
    profile_put_moment(table, row->end_us);
    table_put_int(table, row->start_us - frame->start_us);
    table_put_int(table, row->end_us - frame->start_us);
}

/* Are two rows the same in these columns? Rows are in an order in which those stand together. */
static bool same_in_framework(const struct framework_row *a, const struct framework_row *b)
{
    return a->start_us == b->start_us && a->end_us == b->end_us && a->tid == b->tid &&
           a->pid == b->pid && a->metric == b->metric && a->step == b->step &&
           a->bytes == b->bytes && a->phase == b->phase && a->node == b->node;
}

/* Writes the events, those that differ from the one before. */
static int put_framework_rows(
    struct profile_frame *frame, struct gput_table *table, struct gput_error *error)
{
    struct framework_row last = {0};
    const struct framework_row *row;
    TRY(profile_frame_first_event(frame, &row, error));
    for (bool first = true; row; first = false) {
        if (first || !same_in_framework(&last, row)) {
            /* Write a row of an event. */
            put_times(frame, row, table);
            table_put_int(table, row->tid);
            table_put_int(table, row->pid);
            table_put_text(table, profile_frame_text(frame, row->metric));
            table_put_int(table, row->step);
            table_put_int(table, row->bytes);
            table_put_text(table, profile_frame_text(frame, row->phase));
            table_put_text(table, profile_frame_text(frame, row->node));
        }

        TRY(table_pass_full(table, error));
        last = *row;
        TRY(profile_frame_next_event(frame, &row, error));
    }
    return table_pass_rest(table, error);
}

/* Marks which of the metrics that are asked for a row is of. */
static void mark_found(const struct profile_frame *frame,
    const struct gput_profile_options *options, const uint32_t *names, size_t count, bool *found)
{
    for (size_t i = 0; i < options->n_metrics; i++)
        for (size_t j = 0; j < count && !found[i]; j++)
            found[i] = strcmp(options->metrics[i], profile_frame_text(frame, names[j])) == 0;
}

/* Finds which of the metrics that were asked for the profile has. */
static int find_metrics(struct profile_frame *frame, const struct gput_profile_options *options,
    bool *found, struct gput_error *error)
{
    const struct system_row *reading;
    const struct framework_row *event;
    TRY(profile_frame_first_reading(frame, &reading, error));
    while (reading) {
        const uint32_t names[] = {reading->dimension, reading->name};
        mark_found(frame, options, names, 2, found);
        TRY(profile_frame_next_reading(frame, &reading, error));
    }
    TRY(profile_frame_first_event(frame, &event, error));
    while (event) {
        const uint32_t names[] = {event->metric, event->name, event->phase};
        mark_found(frame, options, names, 3, found);
        TRY(profile_frame_next_event(frame, &event, error));
    }
    return GPUT_OK;
}

int profile_check_metrics(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_error *error)
{
    if (options->n_metrics == 0)
        return GPUT_OK;
    CLEANUP_FREE bool *found = calloc(options->n_metrics, sizeof *found);
    int code = found ? find_metrics(frame, options, found, error) : error_memory(error);
    for (size_t i = 0; code == GPUT_OK && i < options->n_metrics; i++) {
        char what[256];
        snprintf(what, sizeof what, "readings or events of %s", options->metrics[i]);
        if (!found[i])
            code = profile_nothing(options, what, error);
    }
    return code;
}

int profile_all_rows(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    struct gput_table *system = add_system_table(tables);
    struct gput_table *framework = add_framework_table(tables);
    TRY(profile_check_metrics(frame, options, error));
    TRY(put_readings(frame, options, system, error));
    return put_framework_rows(frame, framework, error);
}

int profile_readings(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    return put_readings(frame, options, add_system_table(tables), error);
}

int profile_framework_rows(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    (void)options;
    return put_framework_rows(frame, add_framework_table(tables), error);
}

int profile_events(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    static const struct column columns[] = {{"start_time", .type = GPUT_COLUMN_TEXT},
        {"end_time", .type = GPUT_COLUMN_TEXT}, {"start_time_us", .type = GPUT_COLUMN_INT},
        {"end_time_us", .type = GPUT_COLUMN_INT}, {"duration_us", .type = GPUT_COLUMN_INT},
        {"tid", .type = GPUT_COLUMN_INT}, {"pid", .type = GPUT_COLUMN_INT},
        {"event", .type = GPUT_COLUMN_TEXT}, {"framework_metric", .type = GPUT_COLUMN_TEXT},
        {"step", .type = GPUT_COLUMN_INT}, {"bytes", .type = GPUT_COLUMN_INT},
        {"worker_id", .type = GPUT_COLUMN_INT}, {"num_workers", .type = GPUT_COLUMN_INT},
        {"pin_memory", .type = GPUT_COLUMN_TEXT}, {"process", .type = GPUT_COLUMN_TEXT},
        {"nodeID", .type = GPUT_COLUMN_TEXT}};
    struct gput_table *table = tables_add(tables, "events");
    table_add_columns(table, "", NULL, columns, COLUMN_COUNT(columns));
    const struct framework_row *row;
    (void)options;
    TRY(profile_frame_first_event(frame, &row, error));
    while (row) {
        put_times(frame, row, table);
        table_put_int(table, row->end_us - row->start_us);
        table_put_int(table, row->tid);
        table_put_int(table, row->pid);
        table_put_text(table, profile_frame_text(frame, row->name));
        table_put_text(table, profile_frame_text(frame, row->metric));
        table_put_int(table, row->step);
        table_put_int(table, row->bytes);
        table_put_int(table, row->worker_id);
        table_put_int(table, row->num_workers);
        table_put_text(table, profile_frame_text(frame, row->pin_memory));
        table_put_text(table, profile_frame_text(frame, row->phase));
        table_put_text(table, profile_frame_text(frame, row->node));

        TRY(table_pass_full(table, error));
        TRY(profile_frame_next_event(frame, &row, error));
    }
    return table_pass_rest(table, error);
}
