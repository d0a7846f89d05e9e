#include "trace/profile_views.h"

#include <string.h>

static bool chosen(const struct gput_profile_options *options, const char *metric)
{
    for (size_t i = 0; i < options->metric_count; i++)
        if (strcmp(options->metrics[i], metric) == 0)
            return true;
    return options->metric_count == 0;
}

int profile_system_rows(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    struct gput_table *table = tables_add(tables, "system");
    (void)error;
    table_add_column(table, "timestamp", GPUT_COLUMN_TEXT);
    table_add_column(table, "timestamp_us", GPUT_COLUMN_INT);
    table_add_column(table, "value", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "system_metric", GPUT_COLUMN_TEXT);
    table_add_column(table, "dimension", GPUT_COLUMN_TEXT);
    table_add_column(table, "nodeID", GPUT_COLUMN_TEXT);
    table_add_column(table, "type", GPUT_COLUMN_TEXT);
    for (size_t i = 0; i < frame->system_count; i++) {
        const struct system_row *row = frame->system + i;
        if (!chosen(options, profile_frame_text(frame, row->dimension)) &&
            !chosen(options, profile_frame_text(frame, row->name)))
            continue;
        profile_put_moment(table, row->time_us);
        table_put_int(table, row->time_us - frame->start_us);
        table_put_double(table, row->value);
        table_put_text(table, profile_frame_text(frame, row->name));
        table_put_text(table, profile_frame_text(frame, row->dimension));
        table_put_text(table, profile_frame_text(frame, row->node));
        table_put_text(table, profile_frame_text(frame, row->type));
    }
    return GPUT_OK;
}

int profile_framework_rows(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    struct gput_table *table = tables_add(tables, "framework");
    (void)error;
    table_add_column(table, "start_time", GPUT_COLUMN_TEXT);
    table_add_column(table, "end_time", GPUT_COLUMN_TEXT);
    table_add_column(table, "start_time_us", GPUT_COLUMN_INT);
    table_add_column(table, "end_time_us", GPUT_COLUMN_INT);
    table_add_column(table, "tid", GPUT_COLUMN_INT);
    table_add_column(table, "pid", GPUT_COLUMN_INT);
    table_add_column(table, "framework_metric", GPUT_COLUMN_TEXT);
    table_add_column(table, "step", GPUT_COLUMN_INT);
    table_add_column(table, "bytes", GPUT_COLUMN_INT);
    table_add_column(table, "process", GPUT_COLUMN_TEXT);
    table_add_column(table, "nodeID", GPUT_COLUMN_TEXT);
    for (size_t i = 0; i < frame->framework_count; i++) {
        const struct framework_row *row = frame->framework + i;
        if (!chosen(options, profile_frame_text(frame, row->metric)) &&
            !chosen(options, profile_frame_text(frame, row->phase)))
            continue;
        profile_put_moment(table, row->start_us);
        profile_put_moment(table, row->end_us);
        table_put_int(table, row->start_us - frame->start_us);
        table_put_int(table, row->end_us - frame->start_us);
        table_put_int(table, row->tid);
        table_put_int(table, row->pid);
        table_put_text(table, profile_frame_text(frame, row->metric));
        table_put_int(table, row->step);
        table_put_int(table, row->bytes);
        table_put_text(table, profile_frame_text(frame, row->phase));
        table_put_text(table, profile_frame_text(frame, row->node));
    }
    return GPUT_OK;
}
