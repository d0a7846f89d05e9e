#include "analysis/training/sagemaker/profile_views.h"

#include <stdlib.h>
#include <string.h>

/* Durations by name. */
struct sums {
    double *us; /* by number of the text */
    bool *seen;
    size_t count;
};

/* Makes sums for all texts of a frame. False: out of memory. */
static bool sums_init(struct sums *sums, const struct profile_frame *frame)
{
    sums->count = frame->names.count;
    sums->us = calloc(sums->count + 1, sizeof *sums->us);
    sums->seen = calloc(sums->count + 1, sizeof *sums->seen);
    return sums->us && sums->seen;
}

/* Frees the sums. */
static void sums_finish(struct sums *sums)
{
    free(sums->us);
    free(sums->seen);
}

/* Adds to the sum of one text. */
static void sums_add(struct sums *sums, uint32_t name, double value)
{
    sums->us[name] += value;
    sums->seen[name] = true;
}

/* Writes the sums of a table, with shares where they are wanted. */
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

/* How many of the moments are strictly inside a row. */
static size_t moments_in(
    const struct gput_profile_options *options, const struct framework_row *row)
{
    size_t count = 0;
    for (size_t i = 0; i < options->n_moments; i++)
        count += options->moments[i] > row->start_us && options->moments[i] < row->end_us;
    return count;
}

/* How many of the intervals a row overlaps. */
static size_t intervals_over(
    const struct gput_profile_options *options, const struct framework_row *row)
{
    size_t count = 0;
    for (size_t i = 0; i < options->n_intervals; i++)
        count += options->intervals[i].start_us <= row->end_us &&
                 options->intervals[i].end_us >= row->start_us;
    return count;
}

/* What an event that contains moments, or overlaps intervals, adds. */
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

/* Adds what an event had within the intervals. */
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

/* Adds up and writes the tables of phases, operators and so on. */
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
    for (int i = 0; i < 3; i++)
        sums_finish(&sums[i]);
    return code;
}

int profile_metrics(struct profile_frame *frame, const struct gput_profile_options *options,
    struct gput_tables *tables, struct gput_error *error)
{
    bool sums = options->n_moments + options->n_intervals > 0;
    if (sums) {
        /* Warn if there is nothing to add up; the result is then an empty table. */
        struct gput_error missing;
        int code = profile_check_metrics(frame, options, &missing);
        if (code != GPUT_OK && code != GPUT_ERROR_NOT_FOUND)
            return error_copy(error, &missing);
        if (code != GPUT_OK && options->warn)
            options->warn(options->user, missing.message);
    }

    if (options->n_moments > 0)
        TRY(put_sums(frame, options, tables, true, error));
    if (options->n_intervals > 0)
        TRY(put_sums(frame, options, tables, false, error));
    return sums ? GPUT_OK : profile_all_rows(frame, options, tables, error);
}
