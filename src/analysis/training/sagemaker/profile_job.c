#include "analysis/training/sagemaker/profile_views.h"

/* Writes the begin, the end and the length of an interval. */
static void put_interval(struct gput_table *table, int64_t start_us, int64_t end_us)
{
    profile_put_moment(table, start_us);
    profile_put_moment(table, end_us);
    table_put_double(table, (double)(end_us - start_us) / 1e6);
}

/* Adds a column of seconds. */
static void add_seconds(struct gput_table *table, const char *name)
{
    table_add_column(table, name, GPUT_COLUMN_DOUBLE);
    table_set_unit(table, "seconds");
}

int profile_job(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    const struct profile_span *readings = &frame->reading_span, *events = &frame->event_span;
    int64_t loop_start_us, loop_end_us = events->last_us;
    int64_t start_us =
        readings->first_us < events->first_us ? readings->first_us : events->first_us;
    int64_t end_us = readings->last_us > events->last_us ? readings->last_us : events->last_us;

    /* Find when step 0 of training began; INT64_MAX: there is none. */
    const struct framework_row *row;
    loop_start_us = INT64_MAX;
    TRY(profile_frame_first_event(frame, &row, error));
    while (row) {
        bool in_loop = profile_frame_is_step(frame, row, "TRAIN") ||
                       profile_frame_is_step(frame, row, "GLOBAL");
        if (in_loop && row->step == 0 && row->start_us < loop_start_us)
            loop_start_us = row->start_us;
        TRY(profile_frame_next_event(frame, &row, error));
    }

    if (loop_start_us == INT64_MAX)
        return error_set(error, GPUT_ERROR_NOT_FOUND,
            "There is no step 0 of Step:ModeKeys.TRAIN or Step:ModeKeys.GLOBAL in %s: when the "
            "training loop began is not known",
            profile_source(options));
    struct gput_table *table = tables_add_record(tables, "job");

    table_add_columns_of(table, GPUT_COLUMN_TEXT, "start_time", "end_time", NULL);
    add_seconds(table, "job_duration");
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "training_loop_start", "training_loop_end", NULL);
    add_seconds(table, "training_loop_duration");
    add_seconds(table, "initialization");
    add_seconds(table, "finalization");
    table_add_columns_of(
        table, GPUT_COLUMN_DOUBLE, "initialization_%", "training_loop_%", "finalization_%", NULL);

    double job = (double)(end_us - start_us), before = (double)(loop_start_us - start_us);
    double loop = (double)(loop_end_us - loop_start_us), after = (double)(end_us - loop_end_us);
    put_interval(table, start_us, end_us);
    put_interval(table, loop_start_us, loop_end_us);
    table_put_double(table, before / 1e6);
    table_put_double(table, after / 1e6);
    table_put_double(table, before / job * 100); /* a job of no length: missing */
    table_put_double(table, loop / job * 100);
    table_put_double(table, after / job * 100);
    return GPUT_OK;
}
