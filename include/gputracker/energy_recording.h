/*
 * Recordings of power: folders that AIPowerMeter (deep_learning_power_measure) or a session with
 * `energy_folder` wrote.
 *
 *     struct gput_energy_recording *recording;
 *     struct gput_energy_metric metric = gput_energy_metric_default();
 *     if (gput_energy_recording_load("exp1", &recording, &error) == GPUT_OK &&
 *         gput_energy_recording_metric(recording, "intel_power", NULL, &metric, &error) == GPUT_OK)
 *         printf("%.1f J\n", metric.total);
 *     gput_energy_recording_destroy(recording);
 *
 * A metric is a curve over time, from the CPU and GPU metrics of power_metrics.json (or .sqlite),
 * an experiment's results (results_exp.json) or an external wattmeter (omegawatt.csv). A metric
 * with a number for each process is their sum. A metric with a number for each GPU becomes one
 * metric a GPU: "per_gpu_nvidia_power:0". A recording that was stopped and continued has several
 * segments; nothing is integrated across their borders.
 */
#ifndef GPUTRACKER_ENERGY_RECORDING_H
#define GPUTRACKER_ENERGY_RECORDING_H

#include <gputracker/error.h>
#include <gputracker/format.h>
#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gput_energy_recording;

/**
 * An interval of a recording. Curves are cut at its ends, where values are interpolated linearly
 * between the neighbouring points. Microseconds of local time on a calendar without time zones;
 * INT64_MIN and INT64_MAX: no bound. Final.
 */
struct gput_energy_window {
    int64_t start_us;
    int64_t end_us;
};

/** A point of a curve. Final. */
struct gput_energy_point {
    int64_t time_us; /**< as in the window */
    double value;
    uint32_t segment; /**< index of its segment, from 0; a new one begins each time that recording
                         was stopped */
};

/** A metric over a window. Sized: see gputracker/sized.h. NaN: nothing was recorded of it. */
struct gput_energy_metric {
    size_t size;      /**< set by gput_energy_metric_default() */
    const char *name; /**< belongs to the recording */
    /** Index of its GPU ("0"), with which its name ends; NULL: not of a single GPU. */
    const char *device;
    const char *group; /**< "cpu", "gpu", "experiment" or "wattmeter" */
    /** Unit of its values: "watts", "bytes", "seconds"; NULL: another, or none. */
    const char *unit;
    double total;   /**< trapezoid integral over seconds, segment by segment: joules for watts; NaN
                       for a single point */
    double average; /**< total / seconds; for a single point its value */
    double max;
    double seconds; /**< duration recorded, segment by segment */
    size_t points;  /**< number of points in the window; 0 when the window lies between two */
    size_t segments;
};

/** Clears a struct of that size; for gput_energy_metric_default(). */
GPUT_API void gput_energy_metric_init(struct gput_energy_metric *metric, size_t size);

/** An empty metric. */
static inline struct gput_energy_metric gput_energy_metric_default(void)
{
    struct gput_energy_metric metric;
    gput_energy_metric_init(&metric, sizeof metric);
    return metric;
}

/**
 * Reads the folder. On success the caller calls gput_energy_recording_destroy(); on failure
 * `*recording` is NULL.
 * Errors: GPUT_ERROR_NOT_FOUND (no folder, or no recording in it), GPUT_ERROR_FORMAT,
 * GPUT_ERROR_PERMISSION, GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_energy_recording_load(
    const char *folder, struct gput_energy_recording **recording, struct gput_error *error);
/** NULL is fine. */
GPUT_API void gput_energy_recording_destroy(struct gput_energy_recording *recording);

/** Sentences about skipped parts (a truncated line); NULL: none was skipped. */
GPUT_API const char *gput_energy_recording_warning(const struct gput_energy_recording *recording);

/** The number of metrics, and the name of one, in the order in which they first appear: CPU and
 * GPU, experiment, wattmeter. NULL: no such index. */
GPUT_API size_t gput_energy_recording_metric_count(const struct gput_energy_recording *recording);
GPUT_API const char *gput_energy_recording_metric_name(
    const struct gput_energy_recording *recording, size_t index);

/** The metrics that `name` stands for. Returns how many there are: one for its own name, one for
 * each GPU for "per_gpu_nvidia_power", or 0. Writes at most `capacity` of their names to `names`,
 * which may be NULL with capacity 0. The names belong to the recording. */
GPUT_API size_t gput_energy_recording_select(const struct gput_energy_recording *recording,
    const char *name, const char **names, size_t capacity);

/** A metric over a window (NULL: all of it).
 * Errors: GPUT_ERROR_NOT_FOUND, whose message lists the metrics there are. */
GPUT_API int gput_energy_recording_metric(const struct gput_energy_recording *recording,
    const char *name, const struct gput_energy_window *window, struct gput_energy_metric *metric,
    struct gput_error *error);

/** From this number on (1973) gput_energy_recording_parse_window() takes a number as seconds since
 * 1970. */
#define GPUT_ENERGY_EPOCH_SECONDS 1e8

/** Writes at most `capacity` points of a metric to `points` (may be NULL with capacity 0); returns
 * how many there are in the window. 0 for an unknown metric. */
GPUT_API size_t gput_energy_recording_curve(const struct gput_energy_recording *recording,
    const char *name, const struct gput_energy_window *window, struct gput_energy_point *points,
    size_t capacity);

/**
 * The points of metrics in the window (NULL: all), in order of time. Each metric is a table of its
 * name; "per_gpu_nvidia_power" without a GPU gives one for each GPU. The columns:
 *
 *     date     text, as the recording has it
 *     seconds  after the first moment of the recording
 *     segment, value
 *
 * On success `*tables` is to be freed by gput_tables_destroy().
 * Errors: GPUT_ERROR_NOT_FOUND (a metric), GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_energy_recording_tables(const struct gput_energy_recording *recording,
    const char *const *names, size_t n_names, const struct gput_energy_window *window,
    struct gput_tables **tables, struct gput_error *error);

/**
 * The summary in a window (NULL: all) as tables, with AIPowerMeter's names:
 *
 * - "total", a record: total_power_draw, the joules of CPU packages and GPUs without DRAM;
 *   exp_duration, the seconds recorded;
 * - "metrics", a row a metric: its name, and what struct gput_energy_metric has of it.
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_energy_recording_summary_tables(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, struct gput_tables **tables, struct gput_error *error);

/** Seconds recorded in the window, segment by segment. */
GPUT_API double gput_energy_recording_seconds(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window);

/** The first and the last moment within the window at which a metric was recorded. `name` NULL: any
 * metric of CPU or GPU, but not of the wattmeter. The start is after the end if there is none. */
GPUT_API struct gput_energy_window gput_energy_recording_window(
    const struct gput_energy_recording *recording, const char *name,
    const struct gput_energy_window *window);

/** Joules of the machine in the window: CPU packages, DRAM and GPUs, as far as they were recorded;
 * NaN when none was. */
GPUT_API double gput_energy_recording_total(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window);

/** Parses the bounds of a window: a date ("2023-06-30 16:32:14.5"), a number of seconds after the
 * first moment of the recording, or, from GPUT_ENERGY_EPOCH_SECONDS on, since 1970. NULL: no bound.
 * Errors: GPUT_ERROR_INVALID (neither a date nor a number, the start after the end, or nothing of
 * the recording between them). */
GPUT_API int gput_energy_recording_parse_window(const struct gput_energy_recording *recording,
    const char *start, const char *end, struct gput_energy_window *window,
    struct gput_error *error);

/** A date and time as recordings write it: "2023-06-30 16:32:14.588530". `size` 32 is enough. */
GPUT_API void gput_energy_recording_date(int64_t time_us, char *text, size_t size);

/**
 * The summary: energy, mean and maximum of every metric, and what the folder says about model and
 * experiment. As text (a line each) or JSON. GPUT_FORMAT_SUMMARY is for people: units that fit, the
 * command next to the machine, a row a GPU. Result and errors: see gputracker/format.h.
 */
GPUT_API int gput_energy_recording_render(const struct gput_energy_recording *recording,
    const struct gput_energy_window *window, enum gput_format format, char **bytes, size_t *length,
    struct gput_error *error);

/** The points of metrics as text, JSON or CSV, or as a picture with one line a metric (SVG, PDF,
 * PNG; gputracker/plot.h has what they need). A metric by GPU has one line for each GPU. Result and
 * errors: see gputracker/format.h; GPUT_ERROR_NOT_FOUND (a metric), GPUT_ERROR_UNSUPPORTED (cairo
 * or Pango is missing). */
GPUT_API int gput_energy_recording_render_curves(const struct gput_energy_recording *recording,
    const char *const *names, size_t n_names, const struct gput_energy_window *window,
    enum gput_format format, char **bytes, size_t *length, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
