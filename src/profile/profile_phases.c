#include "base/str.h"
#include "profile/profile_views.h"

#include <stdlib.h>
#include <string.h>

static bool wanted(const struct gput_profile_options *options, const char *phase)
{
    for (size_t i = 0; i < options->phase_count; i++)
        if (strcmp(options->phases[i], phase) == 0)
            return true;
    return options->phase_count == 0;
}

/* Adds an interval; takes `name` over. */
static int add(struct phase_intervals *intervals, char *name, int64_t start_us, int64_t end_us,
    struct gput_error *error)
{
    struct phase_interval *larger =
        realloc(intervals->intervals, (intervals->count + 1) * sizeof *larger);
    if (larger)
        intervals->intervals = larger;
    if (!larger || !name) {
        free(name);
        return error_memory(error);
    }
    larger[intervals->count++] = (struct phase_interval){name, start_us, end_us};
    return GPUT_OK;
}

/* Runs of steps of one phase, or each step, rows being in order of their begins. */
static int add_runs(const struct profile_frame *frame, const struct gput_profile_options *options,
    struct phase_intervals *runs, struct gput_error *error)
{
    for (size_t i = 0; i < frame->framework_count; i++) {
        const struct framework_row *row = frame->framework + i;
        if (!profile_frame_is_step(frame, row, NULL))
            continue;
        const char *phase = profile_frame_text(frame, row->metric);
        if (!wanted(options, phase))
            continue;
        struct phase_interval *last = runs->count > 0 ? runs->intervals + runs->count - 1 : NULL;
        if (last && strcmp(last->name, phase) == 0 && !options->each_step)
            last->end_us = row->end_us > last->end_us ? row->end_us : last->end_us;
        else
            TRY(add(runs, strdup(phase), row->start_us, row->end_us, error));
    }
    return GPUT_OK;
}

/* "Between A and B": the names sorted, so that both ways round are one. */
static char *between(const char *a, const char *b)
{
    struct str text = {0};
    bool in_order = strcmp(a, b) <= 0;
    str_printf(&text, "Between %s and %s", in_order ? a : b, in_order ? b : a);
    return str_take(&text);
}

static char *beside(const char *where, const char *phase)
{
    struct str text = {0};
    str_printf(&text, "%s %s", where, phase);
    return str_take(&text);
}

/* The runs with what is before, between and after them. */
static int fill_gaps(const struct phase_intervals *runs, int64_t start_us, int64_t end_us,
    struct phase_intervals *intervals, struct gput_error *error)
{
    const struct phase_interval *run = runs->intervals;
    if (start_us < run->start_us)
        TRY(add(intervals, beside("Before", run->name), start_us, run->start_us - 1, error));
    for (size_t i = 0; i < runs->count; i++, run++) {
        TRY(add(intervals, strdup(run->name), run->start_us, run->end_us, error));
        if (i + 1 < runs->count && run->end_us + 1 <= run[1].start_us - 1)
            TRY(add(intervals, between(run->name, run[1].name), run->end_us + 1,
                run[1].start_us - 1, error));
    }
    run--;
    if (run->end_us < end_us)
        TRY(add(intervals, beside("After", run->name), run->end_us + 1, end_us, error));
    return GPUT_OK;
}

/* The time that was watched: that of the readings, without any that of the events. */
static void watched_span(const struct profile_frame *frame, int64_t *start_us, int64_t *end_us)
{
    *start_us = *end_us = INT64_MIN;
    if (frame->system_count > 0) {
        *start_us = frame->system[0].time_us;
        *end_us = frame->system[frame->system_count - 1].time_us;
        return;
    }
    for (size_t i = 0; i < frame->framework_count; i++)
        if (frame->framework[i].end_us > *end_us)
            *end_us = frame->framework[i].end_us;
    if (frame->framework_count > 0)
        *start_us = frame->framework[0].start_us;
}

int phase_intervals_make(const struct profile_frame *frame,
    const struct gput_profile_options *options, struct phase_intervals *intervals,
    struct gput_error *error)
{
    struct phase_intervals runs = {0};
    int64_t start_us, end_us;
    *intervals = (struct phase_intervals){0};
    int code = add_runs(frame, options, &runs, error);
    if (code == GPUT_OK && runs.count == 0)
        code = error_set(error, GPUT_ERROR_NOT_FOUND, "There are no steps of %s in %s",
            options->phase_count > 0 ? options->phases[0] : "any training phase",
            profile_source(options));
    watched_span(frame, &start_us, &end_us);
    if (code == GPUT_OK)
        code = fill_gaps(&runs, start_us, end_us, intervals, error);
    phase_intervals_finish(&runs);
    return code;
}

void phase_intervals_finish(struct phase_intervals *intervals)
{
    for (size_t i = 0; i < intervals->count; i++)
        free(intervals->intervals[i].name);
    free(intervals->intervals);
    *intervals = (struct phase_intervals){0};
}

int profile_phases(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    struct phase_intervals intervals;
    struct gput_table *table = tables_add(tables, "phases");
    table_add_column(table, "training_phase", GPUT_COLUMN_TEXT);
    table_add_column(table, "start_time", GPUT_COLUMN_TEXT);
    table_add_column(table, "end_time", GPUT_COLUMN_TEXT);
    table_add_column(table, "start_time_us", GPUT_COLUMN_INT);
    table_add_column(table, "end_time_us", GPUT_COLUMN_INT);
    table_add_column(table, "duration_us", GPUT_COLUMN_INT);
    int code = phase_intervals_make(frame, options, &intervals, error);
    for (size_t i = 0; code == GPUT_OK && i < intervals.count; i++) {
        const struct phase_interval *interval = intervals.intervals + i;
        table_put_text(table, interval->name);
        profile_put_moment(table, interval->start_us);
        profile_put_moment(table, interval->end_us);
        table_put_int(table, interval->start_us - frame->start_us);
        table_put_int(table, interval->end_us - frame->start_us);
        table_put_int(table, interval->end_us - interval->start_us);
    }
    phase_intervals_finish(&intervals);
    return code;
}
