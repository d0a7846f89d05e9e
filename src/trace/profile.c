#include <gputracker/profile.h>

#include "trace/profile_views.h"

#include <stdio.h>
#include <time.h>

typedef int view_function(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error);

static const struct {
    view_function *make;
    bool without_system;
    bool without_framework;
} views[] = {
    [GPUT_PROFILE_JOB] = {profile_job, false, false},
    [GPUT_PROFILE_STEPS] = {profile_steps, true, false},
    [GPUT_PROFILE_PHASES] = {profile_phases, false, false},
    [GPUT_PROFILE_UTILIZATION] = {profile_utilization, false, false},
    [GPUT_PROFILE_DEVICES] = {profile_devices, false, true},
    [GPUT_PROFILE_DATALOADER] = {profile_dataloader, true, false},
    [GPUT_PROFILE_METRICS] = {profile_metrics, false, false},
};

void profile_put_moment(struct gput_table *table, int64_t time_us)
{
    char text[64], date[32];
    int64_t second = time_us / 1000000, rest = time_us % 1000000;
    if (rest < 0) {
        second--;
        rest += 1000000;
    }
    time_t seconds = (time_t)second;
    struct tm parts;
    if (!gmtime_r(&seconds, &parts)) {
        table_put_missing(table);
        return;
    }
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text, sizeof text, "%s:%06d", date, (int)rest);
    table_put_text(table, text);
}

static struct profile_frame_selection selection_of(
    const struct gput_profile_options *options, enum gput_profile_view view)
{
    struct profile_frame_selection selection = {.start_us = INT64_MIN,
        .end_us = INT64_MAX,
        .without_system = views[view].without_system,
        .without_framework = views[view].without_framework ||
                             (view == GPUT_PROFILE_UTILIZATION && !options->by_phase)};
    if (options->unit == GPUT_MERGE_STEP && (options->has_start || options->has_end)) {
        selection.by_step = true;
        selection.first_step = options->has_start ? options->start : 0;
        selection.last_step = options->has_end ? options->end : INT64_MAX;
    } else {
        selection.start_us = options->has_start ? options->start : INT64_MIN;
        selection.end_us = options->has_end ? options->end : INT64_MAX;
    }
    return selection;
}

static int check_options(const struct gput_profile_options *options, struct gput_error *error)
{
    if (!options->path)
        return error_set(error, GPUT_ERROR_INVALID, "Name the folder of the training profile");
    if (options->has_start && options->has_end && options->start > options->end)
        return error_set(error, GPUT_ERROR_INVALID, "The start (%lld) is behind the end (%lld)",
            (long long)options->start, (long long)options->end);
    if (options->range_count > 32)
        return error_set(error, GPUT_ERROR_INVALID, "At most 32 ranges can be told apart");
    return GPUT_OK;
}

int gput_profile(enum gput_profile_view view, const struct gput_profile_options *options,
    struct gput_tables **tables, struct gput_error *error)
{
    *tables = NULL;
    if ((size_t)view >= sizeof views / sizeof *views)
        return error_set(error, GPUT_ERROR_INVALID, "There is no such view of a profile");
    TRY(check_options(options, error));
    struct profile_frame_selection selection = selection_of(options, view);
    struct read_report report = {.warn = options->warn, .user = options->user};
    struct profile_frame frame;
    TRY(profile_frame_read(options->path, &selection, &frame, &report, error));
    struct gput_tables *made = tables_create();
    int code = made ? views[view].make(&frame, options, made, error) : error_memory(error);
    profile_frame_finish(&frame);
    if (code != GPUT_OK) {
        gput_tables_destroy(made);
        return code;
    }
    return tables_finish_building(made, tables, error);
}
