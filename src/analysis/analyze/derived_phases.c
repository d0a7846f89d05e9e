/* Phases of a session that says nothing: change points of its samples, as code blocks. */
#include "analysis/analyze/change_points.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "files/marks/sub_tracking_file.h"
#include "files/tracking/tracking_reader.h"

#include <gputracker/sub_tracking.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH 256

/* The figures from which phases are derived; below these percents a difference is noise. */
static const struct {
    enum gput_measurement_id id;
    double min_noise;
} derived_from[] = {
    {GPUT_CPU_COMBINED_SUM, 2},
    {GPUT_COMBINED_RAM, 0},
    {GPUT_GPU_SUM_UTILIZATION, 2},
    {GPUT_COMBINED_GPU_RAM, 0},
};

enum { SERIES = sizeof derived_from / sizeof *derived_from };

/* Samples as means of equally many, so that any number of them fits: where it does not, two bins
 * become one. */
struct bins {
    double *begin;          /* the time of the first sample of each */
    double *values[SERIES]; /* means; NaN: none of its samples has a value */
    size_t count;
    uint64_t per_bin;
    uint64_t in_last;       /* samples of the last bin */
    uint64_t known[SERIES]; /* of these, with a value */
    double last[SERIES];    /* their sums */
    double end;             /* the time of the last sample */
};

/* Adds a sample to the last bin, which becomes a mean when it has all of its samples. */
static void add_row(struct bins *bins, const struct tracking_row *row)
{
    if (!isfinite(row->timestamp) || (bins->end > 0 && row->timestamp < bins->end))
        return; /* the system's time was set back */
    if (bins->in_last == 0 && bins->count == CHANGE_POINTS_VALUES) {
        /* Make one bin of every two, so that as many more samples have space. */
        for (size_t i = 0; i < bins->count / 2; i++) {
            bins->begin[i] = bins->begin[2 * i];
            for (size_t s = 0; s < SERIES; s++) {
                double one = bins->values[s][2 * i], other = bins->values[s][2 * i + 1];
                bins->values[s][i] = isnan(one) ? other : isnan(other) ? one : (one + other) / 2;
            }
        }
        bins->count /= 2;
        bins->per_bin *= 2;
    }
    if (bins->in_last == 0)
        bins->begin[bins->count] = row->timestamp;
    for (size_t s = 0; s < SERIES; s++) {
        double value = row->values[derived_from[s].id];
        bins->known[s] += isfinite(value);
        bins->last[s] += isfinite(value) ? value : 0;
    }
    bins->end = row->timestamp;
    if (++bins->in_last < bins->per_bin)
        return;
    for (size_t s = 0; s < SERIES; s++) {
        bins->values[s][bins->count] =
            bins->known[s] > 0 ? bins->last[s] / (double)bins->known[s] : NAN;
        bins->last[s] = 0;
        bins->known[s] = 0;
    }
    bins->in_last = 0;
    bins->count++;
}

/* Reads all samples of a tracking file into bins. */
static int read_bins(const char *path, struct bins *bins, struct gput_error *error)
{
    struct tracking_reader *reader;
    CLEANUP_FREE struct tracking_row *rows = malloc(BATCH * sizeof *rows);
    size_t count = 0;
    if (!rows)
        return error_memory(error);
    TRY(tracking_reader_open(path, &reader, error));
    int code;
    do {
        code = tracking_reader_next(reader, rows, BATCH, &count, error);
        for (size_t i = 0; code == GPUT_OK && i < count; i++)
            add_row(bins, &rows[i]);
    } while (code == GPUT_OK && count > 0);
    tracking_reader_close(reader);
    return code;
}

/* Makes missing values those before them. False: there is none at all. */
static bool fill_gaps(double *values, size_t n)
{
    size_t first = 0;
    while (first < n && isnan(values[first]))
        first++;
    for (size_t i = 0; first < n && i < first; i++)
        values[i] = values[first];
    for (size_t i = first + 1; i < n; i++)
        values[i] = isnan(values[i]) ? values[i - 1] : values[i];
    return first < n;
}

/* ---- Marks ---- */

struct marks {
    struct sub_tracking_writer *writer;
    struct sub_tracking_names *names;
    int64_t process_id;
};

/* Adds the marks of a phase. */
static int add_phase(
    struct marks *marks, size_t number, double begin, double end, struct gput_error *error)
{
    char name[48];
    int length = snprintf(name, sizeof name, "derived:phase %zu", number);
    struct sub_tracking_mark rows[2];
    for (int i = 0; i < 2; i++) {
        double time = i ? end : begin;
        rows[i] = (struct sub_tracking_mark){.process_id = marks->process_id,
            .thread_id = SUB_TRACKING_UNKNOWN,
            .started_ns = SUB_TRACKING_UNKNOWN,
            .timestamp_ns = (int64_t)llround(time * 1e9),
            .timestamp = time,
            .position = i ? SUB_TRACKING_STOP : SUB_TRACKING_START};
        rows[i].name = sub_tracking_names_add(marks->names, name, (size_t)length);
        if (rows[i].name == SUB_TRACKING_NO_NAME)
            return error_memory(error);
    }
    return sub_tracking_writer_add(marks->writer, rows, 2, marks->names, error);
}

/* ---- Everything ---- */

static void bins_finish(struct bins *bins)
{
    free(bins->begin);
    for (size_t s = 0; s < SERIES; s++)
        free(bins->values[s]);
}

int gput_sub_tracking_derive(const char *output, const char *tracking_file, int64_t process_id,
    size_t *n_phases, struct gput_error *error)
{
    *n_phases = 0;
    CLEANUP(bins_finish) struct bins bins = {.per_bin = 1};
    bins.begin = malloc((CHANGE_POINTS_VALUES + 1) * sizeof *bins.begin);
    bool is_complete = bins.begin != NULL;
    for (size_t s = 0; s < SERIES; s++) {
        bins.values[s] = malloc((CHANGE_POINTS_VALUES + 1) * sizeof *bins.values[s]);
        is_complete &= bins.values[s] != NULL;
    }
    if (!is_complete)
        return error_memory(error);
    TRY(read_bins(tracking_file, &bins, error));

    struct change_series series[SERIES];
    size_t n_series = 0, changes[CHANGE_POINTS_MAX], count = 0;
    for (size_t s = 0; s < SERIES; s++)
        if (fill_gaps(bins.values[s], bins.count))
            series[n_series++] = (struct change_series){bins.values[s], derived_from[s].min_noise};
    TRY(change_points_find(series, n_series, bins.count, changes, &count, error));
    if (count == 0)
        return GPUT_OK;
    /* Write a file of the phases between the changes. */
    struct marks marks = {.names = sub_tracking_names_create(), .process_id = process_id};
    if (!marks.names)
        return error_memory(error);
    int code = sub_tracking_writer_create(output, 0, &marks.writer, error);
    double begin = bins.begin[0];
    for (size_t i = 0; code == GPUT_OK && i <= count; i++) {
        double end = i < count ? bins.begin[changes[i]] : bins.end;
        code = add_phase(&marks, i + 1, begin, end, error);
        begin = end;
    }
    if (code == GPUT_OK)
        code = sub_tracking_writer_finish(marks.writer, error);
    else if (marks.writer)
        sub_tracking_writer_abandon(marks.writer);
    sub_tracking_names_destroy(marks.names);
    TRY(code);
    *n_phases = count + 1;
    return GPUT_OK;
}
