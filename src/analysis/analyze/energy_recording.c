#include "analysis/analyze/energy_recording.h"

#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/sized.h"
#include "base/table.h"
#include "base/text.h"
#include "files/power/energy_recording.h"
#include "files/power/recording_date.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Integrals ---- */

struct point {
    int64_t time_us;
    double value;
};

/* The point of the line from a to b at that time. */
static struct point point_at(struct point a, struct point b, int64_t time_us)
{
    if (time_us == a.time_us || time_us == b.time_us)
        return time_us == a.time_us ? a : b;
    double part = (double)(time_us - a.time_us) / (double)(b.time_us - a.time_us);
    return (struct point){time_us, a.value + part * (b.value - a.value)};
}

static void raise_max(struct energy_integral *integral, double value)
{
    if (!(value <= integral->max))
        integral->max = value;
}

/* Adds the part of the line from a to b within the bounds; false: there is none. */
static bool add_line(struct energy_integral *integral, struct point a, struct point b,
    int64_t start_us, int64_t end_us)
{
    if (b.time_us < start_us || a.time_us > end_us || b.time_us < a.time_us)
        return false;
    struct point from = point_at(a, b, a.time_us > start_us ? a.time_us : start_us);
    struct point to = point_at(a, b, b.time_us < end_us ? b.time_us : end_us);
    double seconds = (double)(to.time_us - from.time_us) / 1e6;
    integral->total += seconds * (to.value + from.value) / 2;
    integral->seconds += seconds;
    raise_max(integral, from.value);
    raise_max(integral, to.value);
    return true;
}

/*
 * Integrates the curve from start_us to end_us. Points without a value (NaN) are skipped: the line
 * continues to the next one of the same segment.
 */
static struct energy_integral energy_integrate(const int64_t *times_us, const uint32_t *segments,
    const double *values, size_t count, int64_t start_us, int64_t end_us)
{
    struct energy_integral integral = {.max = NAN, .single = NAN};
    struct point before = {0};
    bool has_before = false, is_counted = false; /* the segment so far */
    uint32_t segment = 0;
    for (size_t i = 0; i < count; i++) {
        struct point point = {times_us[i], values[i]};
        if (isnan(point.value))
            continue;
        if (!has_before || segments[i] != segment)
            has_before = is_counted = false;
        bool is_inside = point.time_us >= start_us && point.time_us <= end_us;
        bool is_new = has_before && add_line(&integral, before, point, start_us, end_us);
        if ((is_new || is_inside) && !is_counted) {
            is_counted = true;
            integral.segments++;
        }
        if (is_inside) {
            raise_max(&integral, point.value);
            integral.single = point.value;
            integral.points++;
        }
        before = point;
        segment = segments[i];
        has_before = true;
    }
    /* A moment has no joules. */
    if (!(integral.seconds > 0))
        integral.total = NAN;
    return integral;
}

/* ---- Recordings ---- */

/* Numbers from here on (1973) are microseconds since 1970, as in traces. */
#define EPOCH_US (GPUT_ENERGY_EPOCH_SECONDS * 1e6)

int gput_energy_recording_load(
    const char *folder, struct gput_energy_recording **result, struct gput_error *error)
{
    *result = NULL;
    struct gput_energy_recording *recording = calloc(1, sizeof *recording);
    if (!recording)
        return error_memory(error);
    int code = energy_recording_read(folder, &recording->record, error);
    if (code == GPUT_OK)
        *result = recording;
    else
        free(recording);
    return code;
}

void gput_energy_recording_destroy(struct gput_energy_recording *recording)
{
    if (recording)
        energy_record_destroy(recording->record);
    free(recording);
}

const char *gput_energy_recording_warning(const struct gput_energy_recording *recording)
{
    return recording->record->warnings[0] ? recording->record->warnings : NULL;
}

/* ---- Metrics ---- */

size_t gput_energy_recording_metric_count(const struct gput_energy_recording *recording)
{
    size_t count = 0;
    for (int i = 0; i < RECORDED_SERIES; i++)
        count += recording->record->series[i].n_metrics;
    return count;
}

const char *gput_energy_recording_metric_name(
    const struct gput_energy_recording *recording, size_t index)
{
    for (int i = 0; i < RECORDED_SERIES; i++) {
        const struct recorded_series *series = &recording->record->series[i];
        if (index < series->n_metrics)
            return series->metrics[index].name;
        index -= series->n_metrics;
    }
    return NULL;
}

/* Returns the unit of a metric's values; NULL: another, or none. */
static const char *unit_of(const struct recorded_metric *metric)
{
    static const char *const bytes[] = {"per_process_mem_use_abs", "per_process_mem_use_uss",
        "total_mem_use", "nvidia_memory", "per_gpu_nvidia_memory", "nvidia_mem_use"};
    if (recorded_is_power(metric->group, metric->name))
        return "watts";
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        if (recorded_has_name(metric, bytes[i], strlen(bytes[i])))
            return "bytes";
    }
    return NULL;
}

/* Finds a metric by its name; NULL: the series has none. */
static const struct recorded_metric *metric_of(
    const struct recorded_series *series, const char *name)
{
    for (size_t i = 0; i < series->n_metrics; i++) {
        if (strcmp(series->metrics[i].name, name) == 0)
            return &series->metrics[i];
    }
    return NULL;
}

/* Finds a metric of any series. A wattmeter's columns are named with or without the '#' that they
 * have in the file. */
static const struct recorded_metric *find_metric(const struct gput_energy_recording *recording,
    const char *name, const struct recorded_series **series)
{
    for (int i = 0; i < RECORDED_SERIES; i++) {
        *series = &recording->record->series[i];
        const struct recorded_metric *metric = metric_of(*series, name);
        if (!metric && i == RECORDED_WATTMETER && name[0] == '#')
            metric = metric_of(*series, name + 1);
        if (metric)
            return metric;
    }
    return NULL;
}

/* Says that there is no such metric, and which there are. */
static int refuse_name(
    const struct gput_energy_recording *recording, const char *name, struct gput_error *error)
{
    struct str names = {0};
    size_t count = gput_energy_recording_metric_count(recording);
    for (size_t i = 0; i < count; i++)
        str_printf(&names, "%s%s", i ? ", " : "", gput_energy_recording_metric_name(recording, i));
    char question[NEAREST_QUESTION_SIZE];
    int code = error_set(error, GPUT_ERROR_NOT_FOUND,
        "There is no metric \"%s\" in %s%s There are: %s.", name, recording->record->folder,
        nearest_question(str_text(&names), name, question), str_text(&names));
    str_finish(&names);
    return code;
}

size_t gput_energy_recording_select(const struct gput_energy_recording *recording, const char *name,
    const char **names, size_t capacity)
{
    const struct recorded_series *series;
    const struct recorded_metric *metric = find_metric(recording, name, &series);
    if (metric) {
        if (capacity > 0)
            names[0] = metric->name;
        return 1;
    }
    /* The name of a metric of GPUs stands for that of each. */
    series = &recording->record->series[RECORDED_POWER];
    const char *current = recorded_current_name(name);
    size_t count = 0;
    for (size_t i = 0; i < series->n_metrics; i++) {
        metric = &series->metrics[i];
        if (!metric->device || !recorded_has_name(metric, current, strlen(current)))
            continue;
        if (count < capacity)
            names[count] = metric->name;
        count++;
    }
    return count;
}

int energy_recording_select(const struct gput_energy_recording *recording, const char *const *names,
    size_t n_names, const char ***selected, size_t *count, struct gput_error *error)
{
    *selected = NULL;
    *count = 0;
    for (size_t i = 0; i < n_names; i++) {
        size_t found = gput_energy_recording_select(recording, names[i], NULL, 0);
        if (found == 0)
            return refuse_name(recording, names[i], error);
        *count += found;
    }
    *selected = calloc(*count + 1, sizeof **selected);
    if (!*selected)
        return error_memory(error);
    for (size_t i = 0, at = 0; i < n_names; i++)
        at += gput_energy_recording_select(recording, names[i], *selected + at, *count - at);
    return GPUT_OK;
}

static struct gput_energy_window window_or_all(const struct gput_energy_window *window)
{
    return window ? *window : (struct gput_energy_window){INT64_MIN, INT64_MAX};
}

static const struct gput_energy_metric no_metric = {.size = sizeof no_metric};

void gput_energy_metric_init(struct gput_energy_metric *metric, size_t size)
{
    sized_init(metric, size, &no_metric, sizeof no_metric);
}

int gput_energy_recording_metric(const struct gput_energy_recording *recording, const char *name,
    const struct gput_energy_window *window, struct gput_energy_metric *result,
    struct gput_error *error)
{
    const struct recorded_series *series;
    const struct recorded_metric *metric = find_metric(recording, name, &series);
    struct gput_energy_window bounds = window_or_all(window);
    if (!metric)
        return refuse_name(recording, name, error);
    struct energy_integral integral = energy_integrate(series->times_us, series->segments,
        metric->values, series->count, bounds.start_us, bounds.end_us);
    struct gput_energy_metric made = {.name = metric->name,
        .device = metric->device,
        .group = metric->group,
        .unit = unit_of(metric),
        .total = integral.total,
        .average = integral.seconds > 0 ? integral.total / integral.seconds : integral.single,
        .max = integral.max,
        .seconds = integral.seconds,
        .points = integral.points,
        .segments = integral.segments};
    sized_write(result, &made, sizeof made);
    return GPUT_OK;
}

size_t gput_energy_recording_curve(const struct gput_energy_recording *recording, const char *name,
    const struct gput_energy_window *window, struct gput_energy_point *points, size_t capacity)
{
    const struct recorded_series *series;
    const struct recorded_metric *metric = find_metric(recording, name, &series);
    struct gput_energy_window bounds = window_or_all(window);
    size_t count = 0;
    for (size_t i = 0; metric && i < series->count; i++) {
        if (isnan(metric->values[i]) || series->times_us[i] < bounds.start_us ||
            series->times_us[i] > bounds.end_us)
            continue;
        if (count < capacity)
            points[count] = (struct gput_energy_point){
                series->times_us[i], metric->values[i], series->segments[i]};
        count++;
    }
    return count;
}

int energy_recording_points(const struct gput_energy_recording *recording, const char *name,
    const struct gput_energy_window *window, struct energy_curve *curve, struct gput_error *error)
{
    curve->points = NULL;
    curve->metric = gput_energy_metric_default();
    TRY(gput_energy_recording_metric(recording, name, window, &curve->metric, error));
    curve->points = malloc((curve->metric.points + 1) * sizeof *curve->points);
    if (!curve->points)
        return error_memory(error);
    curve->count =
        gput_energy_recording_curve(recording, name, window, curve->points, curve->metric.points);
    return GPUT_OK;
}

bool energy_metric_is_of_interval(const char *name)
{
    static const char *const names[] = {"intel_power", "rel_intel_power", "total_cpu_power",
        "per_process_cpu_power", "uncore_power", "total_dram_power", "per_process_dram_power",
        "psys_power", "absolute_cpu_time_per_pid", "per_process_cpu_uses"};
    return text_is_among(name, names, sizeof names / sizeof *names);
}

/* ---- The recording ---- */

static const struct recorded_series *main_series(const struct gput_energy_recording *recording)
{
    const struct recorded_series *power = &recording->record->series[RECORDED_POWER];
    return power->count ? power : &recording->record->series[RECORDED_WATTMETER];
}

/* Returns the moment at which the seconds of a recording start; 0 when it is empty. */
static int64_t start_us_of(const struct gput_energy_recording *recording)
{
    const struct recorded_series *series = main_series(recording);
    return series->count > 0 ? series->times_us[0] : 0;
}

double gput_energy_recording_seconds(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window)
{
    const struct recorded_series *series = main_series(recording);
    struct gput_energy_window bounds = window_or_all(window);
    double seconds = 0;
    for (size_t i = 1; i < series->count; i++) {
        int64_t from_us = series->times_us[i - 1], to_us = series->times_us[i];
        if (from_us < bounds.start_us)
            from_us = bounds.start_us;
        if (to_us > bounds.end_us)
            to_us = bounds.end_us;
        if (series->segments[i - 1] == series->segments[i] && to_us > from_us)
            seconds += (double)(to_us - from_us) / 1e6;
    }
    return seconds;
}

/* ---- Joules ---- */

/* The points from `first` to before `end`, which are of one segment, and the part of them within
 * the bounds. */
struct interval {
    const struct recorded_series *series;
    size_t first, end;
    struct gput_energy_window bounds;
};

/* Returns the joules of a metric in the interval; NaN: unknown. */
static double interval_total(const struct interval *interval, const struct recorded_metric *metric)
{
    const struct recorded_series *series = interval->series;
    size_t first = interval->first;
    return metric ? energy_integrate(series->times_us + first, series->segments + first,
                        metric->values + first, interval->end - first, interval->bounds.start_us,
                        interval->bounds.end_us)
                        .total
                  : NAN;
}

/* Adds the joules of all metrics of that name that are of one GPU. */
static void add_each_gpu(const struct interval *interval, const char *name, double *joules)
{
    const struct recorded_series *series = interval->series;
    for (size_t i = 0; i < series->n_metrics; i++) {
        const struct recorded_metric *metric = &series->metrics[i];
        if (metric->device && recorded_has_name(metric, name, strlen(name)))
            number_add_known(joules, interval_total(interval, metric));
    }
}

/* Returns the joules of all GPUs outside of packages. When a GPU was lost the sum of all is
 * missing, and the remaining ones count, also cards of MIG instances. */
static double interval_gpu_total(const struct interval *interval)
{
    const struct recorded_series *series = interval->series;
    double joules = interval_total(interval, metric_of(series, "nvidia_power"));
    if (isnan(joules))
        joules = interval_total(interval, metric_of(series, "nvidia_draw_absolute"));
    if (isnan(joules))
        add_each_gpu(interval, "per_gpu_power_draw", &joules);
    if (!isnan(joules))
        return joules;
    add_each_gpu(interval, "per_gpu_nvidia_power", &joules);
    add_each_gpu(interval, "mig_card_power", &joules);
    return joules;
}

void energy_recording_figures(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, double joules[GPUT_ENERGY_FIGURE_COUNT])
{
    const struct recorded_series *series = &recording->record->series[RECORDED_POWER];
    struct interval interval = {.series = series, .bounds = window_or_all(window)};
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        joules[i] = NAN;

    /* Each segment may have its own keys: an old recording can have been continued with new ones.
     */
    for (; interval.first < series->count; interval.first = interval.end) {
        while (interval.end < series->count &&
               series->segments[interval.end] == series->segments[interval.first])
            interval.end++;
        for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
            const char *name = recorded_metric_of_figure((enum gput_energy_figure)i);
            if (name && i != GPUT_ENERGY_GPU)
                number_add_known(&joules[i], interval_total(&interval, metric_of(series, name)));
        }
        number_add_known(&joules[GPUT_ENERGY_GPU], interval_gpu_total(&interval));
    }
    joules[GPUT_ENERGY_TOTAL] = joules[GPUT_ENERGY_PACKAGE];
    number_add_known(&joules[GPUT_ENERGY_TOTAL], joules[GPUT_ENERGY_GPU]);
    number_add_known(&joules[GPUT_ENERGY_TOTAL], joules[GPUT_ENERGY_DRAM]);
}

double gput_energy_recording_total(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window)
{
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    energy_recording_figures(recording, window, joules);
    return joules[GPUT_ENERGY_TOTAL];
}

struct energy_total energy_recording_total_of(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window)
{
    double joules[GPUT_ENERGY_FIGURE_COUNT];
    energy_recording_figures(recording, window, joules);
    number_add_known(&joules[GPUT_ENERGY_PACKAGE], joules[GPUT_ENERGY_GPU]);
    return (struct energy_total){
        joules[GPUT_ENERGY_PACKAGE], gput_energy_recording_seconds(recording, window)};
}

/* ---- Windows ---- */

/* Parses a bound of a window; NULL: it has none. */
static int parse_bound(const struct gput_energy_recording *recording, const char *name,
    const char *text, int64_t *bound, struct gput_error *error)
{
    const struct recorded_series *series = main_series(recording);
    const char *end = text ? text + strlen(text) : NULL;
    double seconds;
    if (!text || recording_date_parse(text, bound))
        return GPUT_OK;
    bool is_number = number_parse_double(text, end, &seconds) == end;
    if (is_number && isinf(seconds)) {
        *bound = seconds < 0 ? INT64_MIN : INT64_MAX;
        return GPUT_OK;
    }
    if (series->count > 0 && is_number &&
        (fabs(seconds) < 9e9 || (seconds >= EPOCH_US && seconds < 9e15))) {
        int64_t us = (int64_t)llround(seconds >= EPOCH_US ? seconds : seconds * 1e6);
        *bound = seconds < GPUT_ENERGY_EPOCH_SECONDS ? start_us_of(recording) + us
                                                     : recording_date_of_epoch_ns(us * 1000);
        return GPUT_OK;
    }
    return error_set(error, GPUT_ERROR_INVALID,
        "The %s \"%s\" is not a valid time of a recording. Give a date such as \"2023-06-30 "
        "16:32:14.5\", or seconds after the beginning or since 1970.",
        name, text);
}

/* Widens a window to the moments of a series: those at which the metric has a value; NULL: all. */
static void widen(struct gput_energy_window *window, const struct recorded_series *series,
    const struct recorded_metric *metric)
{
    for (size_t i = 0; i < series->count; i++) {
        if (metric && isnan(metric->values[i]))
            continue;
        if (series->times_us[i] < window->start_us)
            window->start_us = series->times_us[i];
        if (series->times_us[i] > window->end_us)
            window->end_us = series->times_us[i];
    }
}

struct gput_energy_window gput_energy_recording_window(
    const struct gput_energy_recording *recording, const char *name,
    const struct gput_energy_window *window)
{
    struct gput_energy_window bounds = window_or_all(window), all = {INT64_MAX, INT64_MIN};
    const struct recorded_series *series = main_series(recording);
    const struct recorded_metric *metric = name ? find_metric(recording, name, &series) : NULL;
    widen(&all, series, metric);
    return (struct gput_energy_window){
        .start_us = bounds.start_us > all.start_us ? bounds.start_us : all.start_us,
        .end_us = bounds.end_us < all.end_us ? bounds.end_us : all.end_us};
}

int gput_energy_recording_parse_window(const struct gput_energy_recording *recording,
    const char *start, const char *end, struct gput_energy_window *window, struct gput_error *error)
{
    *window = (struct gput_energy_window){INT64_MIN, INT64_MAX};
    TRY(parse_bound(recording, "start", start, &window->start_us, error));
    TRY(parse_bound(recording, "end", end, &window->end_us, error));
    if (window->start_us > window->end_us)
        return error_set(error, GPUT_ERROR_INVALID, "The start is after the end.");

    /* An interval outside of the recording would silently give nothing. */
    struct gput_energy_window all = {INT64_MAX, INT64_MIN};
    char first[RECORDING_DATE_SIZE], last[RECORDING_DATE_SIZE];
    for (int i = 0; i < RECORDED_SERIES; i++)
        widen(&all, &recording->record->series[i], NULL);
    if (all.start_us > all.end_us ||
        (window->start_us <= all.end_us && window->end_us >= all.start_us))
        return GPUT_OK;
    recording_date_format(all.start_us, first);
    recording_date_format(all.end_us, last);
    return error_set(error, GPUT_ERROR_INVALID,
        "Nothing was recorded between the given start and end: %s has %s to %s.",
        recording->record->folder, first, last);
}

void gput_energy_recording_date(int64_t time_us, char *text, size_t size)
{
    char date[RECORDING_DATE_SIZE];
    recording_date_format(time_us, date);
    snprintf(text, size, "%s", date);
}

/* ---- Tables ---- */

/* Adds the table of a metric's curve: a row a point. */
static int add_curve(const struct gput_energy_recording *recording, const char *name,
    const struct gput_energy_window *window, struct gput_tables *tables, struct gput_error *error)
{
    struct energy_curve curve;
    TRY(energy_recording_points(recording, name, window, &curve, error));
    struct gput_table *table = tables_add(tables, curve.metric.name);
    table_add_column(table, "date", GPUT_COLUMN_TEXT);
    table_add_column(table, "seconds", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "segment", GPUT_COLUMN_INT);
    table_add_column(table, "value", GPUT_COLUMN_DOUBLE);
    if (curve.metric.unit)
        table_set_unit(table, curve.metric.unit);
    int64_t start_us = start_us_of(recording);
    for (size_t i = 0; i < curve.count; i++) {
        const struct gput_energy_point *point = &curve.points[i];
        char date[RECORDING_DATE_SIZE];
        recording_date_format(point->time_us, date);
        table_put_text(table, date);
        table_put_double(table, (double)(point->time_us - start_us) / 1e6);
        table_put_int(table, point->segment);
        table_put_double(table, point->value);
    }
    free(curve.points);
    return GPUT_OK;
}

int gput_energy_recording_tables(const struct gput_energy_recording *recording,
    const char *const *names, size_t n_names, const struct gput_energy_window *window,
    struct gput_tables **tables, struct gput_error *error)
{
    CLEANUP_FREE const char **selected = NULL;
    size_t count;
    *tables = NULL;
    TRY(energy_recording_select(recording, names, n_names, &selected, &count, error));
    struct gput_tables *building = tables_create();
    int code = building ? GPUT_OK : error_memory(error);
    for (size_t i = 0; i < count && code == GPUT_OK; i++)
        code = add_curve(recording, selected[i], window, building, error);
    if (code == GPUT_OK)
        return tables_finish_building(building, tables, error);
    gput_tables_destroy(building);
    return code;
}

/* clang-format off */
#define METRIC(name, type, unit, meaning) {#name, unit, meaning, GPUT_COLUMN_##type, COLUMN_OF(struct gput_energy_metric, name)}

const struct column energy_metric_columns[ENERGY_METRIC_COLUMNS] = {
    METRIC(group, TEXT, NULL, "cpu, gpu, experiment or wattmeter"),
    METRIC(device, TEXT, NULL, "the GPU that it is of; missing: not of a single GPU"),
    METRIC(unit, TEXT, NULL, "of its values; missing: another, or none"),
    METRIC(total, DOUBLE, NULL, "integral over seconds, segment by segment: joules of watts"),
    METRIC(average, DOUBLE, NULL, "over the time recorded, in its unit"),
    METRIC(max, DOUBLE, NULL, "highest value, in its unit"),
    METRIC(seconds, DOUBLE, "seconds", "recorded, segment by segment"),
    METRIC(points, INT, NULL, "how many there are of the curve"),
    METRIC(segments, INT, NULL, "how many there are of the curve"),
};

const struct column energy_total_columns[ENERGY_TOTAL_COLUMNS] = {
    {"total_power_draw", "joules", "of CPU packages and GPUs", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct energy_total, joules)},
    {"exp_duration", "seconds", "recorded, segment by segment", GPUT_COLUMN_DOUBLE, COLUMN_OF(struct energy_total, seconds)},
};
/* clang-format on */

int gput_energy_recording_summary_tables(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_tables *building = tables_create();
    *tables = NULL;
    if (!building)
        return error_memory(error);
    const struct energy_total total = energy_recording_total_of(recording, window);
    struct gput_table *record = tables_add_record(building, "total");
    table_add_columns(record, "", NULL, energy_total_columns, ENERGY_TOTAL_COLUMNS);
    table_put_columns(record, energy_total_columns, ENERGY_TOTAL_COLUMNS, &total);

    struct gput_table *metrics = tables_add(building, "metrics");
    size_t count = gput_energy_recording_metric_count(recording);
    table_add_column(metrics, "name", GPUT_COLUMN_TEXT);
    table_add_columns(metrics, "", NULL, energy_metric_columns, ENERGY_METRIC_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        struct gput_energy_metric metric = gput_energy_metric_default();
        const char *name = gput_energy_recording_metric_name(recording, i);
        if (gput_energy_recording_metric(recording, name, window, &metric, NULL) != GPUT_OK)
            continue;
        table_put_text(metrics, name);
        table_put_columns(metrics, energy_metric_columns, ENERGY_METRIC_COLUMNS, &metric);
    }
    return tables_finish_building(building, tables, error);
}
