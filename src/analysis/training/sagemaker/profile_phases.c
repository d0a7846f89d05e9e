#include "analysis/training/sagemaker/profile_views.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether a phase was asked for; without a choice all are. */
static bool wanted(const struct gput_profile_options *options, const char *phase)
{
    return options->n_phases == 0 || text_is_among(phase, options->phases, options->n_phases);
}

/* Adds an interval with the given name. */
static int add(struct phase_intervals *intervals, const char *name, int64_t start_us,
    int64_t end_us, struct gput_error *error)
{
    uint32_t number = names_add(&intervals->names, name, strlen(name));
    if (number == NAMES_NONE || !ARRAY_EXTEND(intervals->intervals, intervals->count))
        return error_memory(error);
    intervals->intervals[intervals->count++] = (struct phase_interval){start_us, end_us, number};
    return GPUT_OK;
}

/* Returns the name of an interval. */
static const char *name_of(
    const struct phase_intervals *intervals, const struct phase_interval *interval)
{
    return names_text(&intervals->names, interval->name);
}

/* An interval whose name was put together; frees the name. */
static int add_made(struct phase_intervals *intervals, struct str *name, int64_t start_us,
    int64_t end_us, struct gput_error *error)
{
    int code = name->failed ? error_memory(error)
                            : add(intervals, str_text(name), start_us, end_us, error);
    str_finish(name);
    return code;
}

/* "Between A and B": the names sorted, so that both ways round are one. */
static int add_between(struct phase_intervals *intervals, const char *a, const char *b,
    int64_t start_us, int64_t end_us, struct gput_error *error)
{
    struct str text = {0};
    bool in_order = strcmp(a, b) <= 0;
    str_printf(&text, "Between %s and %s", in_order ? a : b, in_order ? b : a);
    return add_made(intervals, &text, start_us, end_us, error);
}

/* Adds the time before or after all runs, as "Before PHASE" or "After PHASE". */
static int add_neighbor(struct phase_intervals *intervals, const char *where, const char *phase,
    int64_t start_us, int64_t end_us, struct gput_error *error)
{
    struct str text = {0};
    str_printf(&text, "%s %s", where, phase);
    return add_made(intervals, &text, start_us, end_us, error);
}

int phase_intervals_make(struct profile_frame *frame, const struct gput_profile_options *options,
    struct phase_intervals *intervals, struct gput_error *error)
{
    CLEANUP(phase_intervals_finish) struct phase_intervals runs = {0};
    *intervals = (struct phase_intervals){0};

    /* Join successive steps of one phase into a run, unless each step is asked for. Rows are
     * ordered by start. */
    const struct framework_row *row;
    TRY(profile_frame_first_event(frame, &row, error));
    while (row) {
        const char *phase = profile_frame_text(frame, row->metric);
        struct phase_interval *last = runs.count > 0 ? runs.intervals + runs.count - 1 : NULL;
        if (!profile_frame_is_step(frame, row, NULL) || !wanted(options, phase))
            ;
        else if (last && strcmp(name_of(&runs, last), phase) == 0 && !options->each_step)
            last->end_us = row->end_us > last->end_us ? row->end_us : last->end_us;
        else
            TRY(add(&runs, phase, row->start_us, row->end_us, error));
        TRY(profile_frame_next_event(frame, &row, error));
    }

    if (runs.count == 0) {
        char what[256];
        snprintf(what, sizeof what, "steps of %s",
            options->n_phases > 0 ? options->phases[0] : "any training phase");
        return profile_nothing(options, what, error);
    }
    /* The time that was watched: that of the readings, without any that of the events. */
    const struct profile_span *watched = frame->reading_span.first_us <= frame->reading_span.last_us
                                             ? &frame->reading_span
                                             : &frame->event_span;

    /* Add the runs, and the time before, between and after them. */
    int64_t start_us = watched->first_us;
    int64_t end_us = watched->last_us;
    const struct phase_interval *run = runs.intervals, *last = run + runs.count - 1;
    if (start_us < run->start_us)
        TRY(add_neighbor(
            intervals, "Before", name_of(&runs, run), start_us, run->start_us - 1, error));
    for (; run <= last; run++) {
        TRY(add(intervals, name_of(&runs, run), run->start_us, run->end_us, error));
        if (run < last && run->end_us + 1 <= run[1].start_us - 1)
            TRY(add_between(intervals, name_of(&runs, run), name_of(&runs, run + 1),
                run->end_us + 1, run[1].start_us - 1, error));
    }
    if (last->end_us < end_us)
        TRY(add_neighbor(
            intervals, "After", name_of(&runs, last), last->end_us + 1, end_us, error));
    return GPUT_OK;
}

void phase_intervals_finish(struct phase_intervals *intervals)
{
    names_finish(&intervals->names);
    free(intervals->intervals);
    *intervals = (struct phase_intervals){0};
}

int profile_phases(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    CLEANUP(phase_intervals_finish) struct phase_intervals intervals = {0};
    struct gput_table *table = tables_add(tables, "phases");
    table_add_columns_of(table, GPUT_COLUMN_TEXT, "training_phase", "start_time", "end_time", NULL);
    table_add_columns_of(
        table, GPUT_COLUMN_INT, "start_time_us", "end_time_us", "duration_us", NULL);
    TRY(phase_intervals_make(frame, options, &intervals, error));
    for (size_t i = 0; i < intervals.count; i++) {
        const struct phase_interval *interval = intervals.intervals + i;
        table_put_text(table, name_of(&intervals, interval));
        profile_put_moment(table, interval->start_us);
        profile_put_moment(table, interval->end_us);
        table_put_int(table, interval->start_us - frame->start_us);
        table_put_int(table, interval->end_us - frame->start_us);
        table_put_int(table, interval->end_us - interval->start_us);
    }
    return GPUT_OK;
}
