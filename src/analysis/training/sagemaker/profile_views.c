#include "analysis/training/sagemaker/profile_views.h"

#include "analysis/training/sagemaker/step_index.h"
#include "analysis/training/statistics.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/order.h"
#include "base/str.h"
#include "base/table.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

bool profile_is_bounded(const struct gput_profile_options *options)
{
    return options->start != INT64_MIN || options->end != INT64_MAX;
}

int profile_nothing(
    const struct gput_profile_options *options, const char *what, struct gput_error *error)
{
    const char *which = !profile_is_bounded(options)          ? ""
                        : options->unit == GPUT_TIMELINE_STEP ? " in the steps asked for"
                                                              : " in the time asked for";
    return error_set(error, GPUT_ERROR_NOT_FOUND, "There are no %s in %s%s", what,
        profile_source(options), which);
}

/* ---- The job ---- */

/* Writes the start, the end and the length of an interval. */
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
    table_put_double(table, before / job * 100); /* NaN, hence missing, for a job of no length */
    table_put_double(table, loop / job * 100);
    table_put_double(table, after / job * 100);
    return GPUT_OK;
}

/* ---- Training phases ---- */

/* Whether a phase was asked for; all are if none was named. */
static bool is_wanted_phase(const struct gput_profile_options *options, const char *phase)
{
    return options->n_phases == 0 || text_is_among(phase, options->phases, options->n_phases);
}

/* Adds an interval with the given name. */
static int add_interval(struct phase_intervals *intervals, const char *name, int64_t start_us,
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

/* Adds an interval with a name that was put together, and frees the name. */
static int add_made(struct phase_intervals *intervals, struct str *name, int64_t start_us,
    int64_t end_us, struct gput_error *error)
{
    int code = name->failed ? error_memory(error)
                            : add_interval(intervals, str_text(name), start_us, end_us, error);
    str_finish(name);
    return code;
}

/* Adds "Between A and B". The names are sorted, so that both directions have one name. */
static int add_between_runs(struct phase_intervals *intervals, const char *a, const char *b,
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
        if (!profile_frame_is_step(frame, row, NULL) || !is_wanted_phase(options, phase))
            ;
        else if (last && strcmp(name_of(&runs, last), phase) == 0 && !options->each_step)
            last->end_us = row->end_us > last->end_us ? row->end_us : last->end_us;
        else
            TRY(add_interval(&runs, phase, row->start_us, row->end_us, error));
        TRY(profile_frame_next_event(frame, &row, error));
    }

    if (runs.count == 0) {
        char what[256];
        snprintf(what, sizeof what, "steps of %s",
            options->n_phases > 0 ? options->phases[0] : "any training phase");
        return profile_nothing(options, what, error);
    }
    /* The whole profile lasts as long as the readings, or as the events if there are no
     * readings. */
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
        TRY(add_interval(intervals, name_of(&runs, run), run->start_us, run->end_us, error));
        if (run < last && run->end_us + 1 <= run[1].start_us - 1)
            TRY(add_between_runs(intervals, name_of(&runs, run), name_of(&runs, run + 1),
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

/* ---- Steps ---- */

/* An event under its key and step. */
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

/* Whether two members are of one step. */
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

/* Frees the lines. */
static void lines_finish(struct lines *lines)
{
    free(lines->all);
}

/* Orders lines by their key. */
static int compare_lines(const void *left, const void *right)
{
    return strcmp(((const struct line *)left)->key, ((const struct line *)right)->key);
}

/* Makes a line for each key from the durations of its steps. */
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

    /* Sort the rows that belong to a step by key. */
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

/* ---- Rows ---- */

/* Whether a metric was asked for; all are if none was named. */
static bool selects(const struct gput_profile_options *options, const char *metric)
{
    return options->n_metrics == 0 || text_is_among(metric, options->metrics, options->n_metrics);
}

/* Whether a reading is of a metric that was asked for. */
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

/* Writes the selected readings. */
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

/* Whether two rows are equal in the columns of this table. Such rows are neighbours in the
 * order. */
static bool same_in_framework(const struct framework_row *a, const struct framework_row *b)
{
    return a->start_us == b->start_us && a->end_us == b->end_us && a->tid == b->tid &&
           a->pid == b->pid && a->metric == b->metric && a->step == b->step &&
           a->bytes == b->bytes && a->phase == b->phase && a->node == b->node;
}

/* Writes the events, skipping those that equal the previous one. */
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

/* Marks the wanted metrics that a row is of. */
static void mark_found(const struct profile_frame *frame,
    const struct gput_profile_options *options, const uint32_t *names, size_t count, bool *found)
{
    for (size_t i = 0; i < options->n_metrics; i++)
        for (size_t j = 0; j < count && !found[i]; j++)
            found[i] = strcmp(options->metrics[i], profile_frame_text(frame, names[j])) == 0;
}

/* Finds which of the wanted metrics the profile has. */
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

/* Fails if the profile lacks a metric that was asked for. */
static int check_metrics(struct profile_frame *frame, const struct gput_profile_options *options,
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

/* Writes all readings and events of the metrics that were asked for. */
static int put_all_rows(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    struct gput_table *system = add_system_table(tables);
    struct gput_table *framework = add_framework_table(tables);
    TRY(check_metrics(frame, options, error));
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

/* ---- Moments and intervals ---- */

/* Sums of durations by name. */
struct sums {
    double *us; /* by number of the text */
    bool *seen;
    size_t count;
};

/* Makes sums for all texts of a frame. Returns false without memory. */
static bool sums_init(struct sums *sums, const struct profile_frame *frame)
{
    sums->count = frame->names.count;
    sums->us = calloc(sums->count + 1, sizeof *sums->us);
    sums->seen = calloc(sums->count + 1, sizeof *sums->seen);
    return sums->us && sums->seen;
}

/* Adds to the sum of one text. */
static void sums_add(struct sums *sums, uint32_t name, double value)
{
    sums->us[name] += value;
    sums->seen[name] = true;
}

/* Writes the sums as a table: durations, or with `normalised` shares of the largest. */
static void sums_put(const struct sums *sums, const struct profile_frame *frame, const char *table,
    const char *key, bool normalised, struct gput_tables *tables)
{
    double largest = 0;
    struct gput_table *out = tables_add(tables, table);
    table_add_column(out, key, GPUT_COLUMN_TEXT);
    table_add_column(out, normalised ? "share_of_largest" : "duration_us", GPUT_COLUMN_DOUBLE);
    for (size_t i = 0; i < sums->count; i++)
        largest = sums->seen[i] && sums->us[i] > largest ? sums->us[i] : largest;
    for (size_t i = 0; i < sums->count; i++) {
        if (!sums->seen[i])
            continue;
        table_put_text(out, profile_frame_text(frame, (uint32_t)i));
        table_put_double(out, normalised ? sums->us[i] / largest : sums->us[i]);
    }
}

/* Counts the moments that are strictly inside a row. */
static size_t moments_in(
    const struct gput_profile_options *options, const struct framework_row *row)
{
    size_t count = 0;
    for (size_t i = 0; i < options->n_moments; i++)
        count += options->moments[i] > row->start_us && options->moments[i] < row->end_us;
    return count;
}

/* Counts the intervals that overlap a row. */
static size_t intervals_over(
    const struct gput_profile_options *options, const struct framework_row *row)
{
    size_t count = 0;
    for (size_t i = 0; i < options->n_intervals; i++)
        count += options->intervals[i].start_us <= row->end_us &&
                 options->intervals[i].end_us >= row->start_us;
    return count;
}

/* Adds the duration of an event to the sums, once for each moment in it. */
static void add_at_moments(const struct profile_frame *frame,
    const struct gput_profile_options *options, const struct framework_row *row,
    struct sums sums[3])
{
    size_t count = profile_selects_event(frame, options, row) ? moments_in(options, row) : 0;
    double duration = (double)count * (double)(row->end_us - row->start_us);
    if (count == 0)
        return;
    bool of_step = strstr(profile_frame_text(frame, row->phase), "Step");
    sums_add(&sums[of_step ? 2 : 0], row->phase, duration);
    if (!strstr(profile_frame_text(frame, row->name), "Step"))
        sums_add(&sums[1], row->name, duration);
}

/* Adds the duration of an event to the sums, once for each interval that it overlaps. */
static void add_between(const struct profile_frame *frame,
    const struct gput_profile_options *options, const struct framework_row *row,
    struct sums sums[3])
{
    size_t count = profile_selects_event(frame, options, row) ? intervals_over(options, row) : 0;
    double duration = (double)count * (double)(row->end_us - row->start_us);
    if (count == 0 || strstr(profile_frame_text(frame, row->name), "Step"))
        return;
    sums_add(&sums[0], row->phase, duration);
    sums_add(&sums[1], row->name, duration);
}

/* Adds all events that are selected. */
static int add_all(struct profile_frame *frame, const struct gput_profile_options *options,
    bool at_moments, struct sums sums[3], struct gput_error *error)
{
    const struct framework_row *row;
    TRY(profile_frame_first_event(frame, &row, error));
    while (row) {
        (at_moments ? add_at_moments : add_between)(frame, options, row, sums);
        TRY(profile_frame_next_event(frame, &row, error));
    }
    return GPUT_OK;
}

/* Adds up the selected events and writes the tables of phases, metrics and steps. */
static int put_sums(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, bool at_moments, struct gput_error *error)
{
    struct sums sums[3] = {0};
    bool ready = true;
    for (int i = 0; i < 3; i++)
        ready = sums_init(&sums[i], frame) && ready;
    int code = ready ? add_all(frame, options, at_moments, sums, error) : error_memory(error);
    if (code == GPUT_OK && at_moments) {
        sums_put(&sums[0], frame, "processes_at", "process", true, tables);
        sums_put(&sums[1], frame, "metrics_at", "framework_metric", false, tables);
        sums_put(&sums[2], frame, "steps_at", "training_phase", false, tables);
    } else if (code == GPUT_OK) {
        sums_put(&sums[0], frame, "processes_between", "process", true, tables);
        sums_put(&sums[1], frame, "metrics_between", "framework_metric", true, tables);
    }
    for (int i = 0; i < 3; i++) {
        /* Free the sums of each table. */
        free(sums[i].us);
        free(sums[i].seen);
    }

    return code;
}

int profile_metrics(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    bool sums = options->n_moments + options->n_intervals > 0;
    if (sums) {
        /* Warn if there is nothing to add up; the result is then an empty table. */
        struct gput_error missing;
        int code = check_metrics(frame, options, &missing);
        if (code != GPUT_OK && code != GPUT_ERROR_NOT_FOUND)
            return error_copy(error, &missing);
        if (code != GPUT_OK && options->warn)
            options->warn(options->user, missing.message);
    }

    if (options->n_moments > 0)
        TRY(put_sums(frame, options, tables, true, error));
    if (options->n_intervals > 0)
        TRY(put_sums(frame, options, tables, false, error));
    return sums ? GPUT_OK : put_all_rows(frame, options, tables, error);
}
