/*
 * Encodes metrics for OTLP over HTTP: OpenTelemetry's protobuf, compressed by gzip. The numbers of
 * fields are those of opentelemetry/proto/metrics/v1/metrics.proto.
 */
#include "base/error.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "services/push/protobuf.h"
#include "services/push/push.h"
#include "views/output/labels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* zlib's bits for the largest window and gzip's header. */
#define WINDOW_BITS (15 + 16)
#define MEMORY_LEVEL 8

enum { REQUEST_RESOURCE_METRICS = 1 };
enum { RESOURCE_METRICS_RESOURCE = 1, RESOURCE_METRICS_SCOPE_METRICS = 2 };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_METRICS_SCOPE = 1, SCOPE_METRICS_METRICS = 2 };
enum { SCOPE_NAME = 1, SCOPE_VERSION = 2 };
enum {
    METRIC_NAME = 1,
    METRIC_DESCRIPTION = 2,
    METRIC_UNIT = 3,
    METRIC_IS_GAUGE = 5,
    METRIC_IS_SUM = 7
};
enum { DATA_POINTS = 1, SUM_TEMPORALITY = 2, SUM_IS_MONOTONIC = 3, TEMPORALITY_CUMULATIVE = 2 };
enum { POINT_START = 2, POINT_TIME = 3, POINT_DOUBLE = 4, POINT_ATTRIBUTES = 7 };
enum { KEY = 1, VALUE = 2, VALUE_TEXT = 1, VALUE_INT = 3 };
enum { RESPONSE_PARTIAL_SUCCESS = 1, REJECTED_POINTS = 1, ERROR_MESSAGE = 2 };

/* ---- names ---- */

/* Names a series by the conventions of OpenTelemetry. If they have no name, ours is converted:
 * gputracker_main_memory_bytes becomes gputracker.main_memory in By. */
static void name_series(const struct metric *metric, bool is_first, struct push_series *series)
{
    static const char *const units[][2] = {{"bytes", "By"}, {"ratio", "1"}, {"seconds", "s"},
        {"joules", "J"}, {"grams", "g"}, {"watts", "W"}};
    const char *prefix = "gputracker_", *unit = metric_unit_of_name(metric);
    series->unit = metric->unit ? metric->unit : "";
    if (is_first) {
        snprintf(series->name, sizeof series->name, "%s", metric->name);
        return;
    }
    if (!text_begins_with(metric->name, prefix)) /* older names of the same figures */
        return;
    int length = (int)(strlen(metric->name) - (unit ? strlen(unit) + 1 : 0) - strlen(prefix));
    snprintf(series->name, sizeof series->name, "gputracker.%.*s", length,
        metric->name + strlen(prefix));
    for (size_t i = 0; unit && i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i][0]) == 0)
            series->unit = units[i][1];
    }
}

/* ---- attributes ---- */

/* Adds an attribute with a text, unless it is empty. */
static void add_text(struct str *message, unsigned field, const char *key, const char *text)
{
    if (!text || !text[0])
        return;
    size_t attribute = protobuf_begin(message, field);
    protobuf_add_text(message, KEY, key);
    size_t value = protobuf_begin(message, VALUE);
    protobuf_add_text(message, VALUE_TEXT, text);
    protobuf_end(message, value);
    protobuf_end(message, attribute);
}

/* Adds an attribute with a text, unless the user gave one of that name. */
static void add_known_text(
    const struct push *push, struct str *resource, const char *key, const char *text)
{
    if (!labels_get(&push->settings.labels, key))
        add_text(resource, RESOURCE_ATTRIBUTES, key, text);
}

/* Adds an attribute with a number, unless the user gave one of that name. */
static void add_known_int(
    const struct push *push, struct str *resource, const char *key, double number)
{
    if (!labels_get(&push->settings.labels, key)) {
        if (isfinite(number)) {
            size_t attribute = protobuf_begin(resource, RESOURCE_ATTRIBUTES);
            protobuf_add_text(resource, KEY, key);
            size_t value = protobuf_begin(resource, VALUE);
            protobuf_add_uint(resource, VALUE_INT, (uint64_t)(int64_t)number);
            protobuf_end(resource, value);
            protobuf_end(resource, attribute);
        }
    }
}

/* Adds the attributes that identify the session. */
static void add_resource(const struct push *push, struct str *message)
{
    const struct labels *labels = &push->settings.labels;
    size_t resource = protobuf_begin(message, RESOURCE_METRICS_RESOURCE);
    for (size_t i = 0; i < labels->count; i++)
        add_text(message, RESOURCE_ATTRIBUTES, labels->items[i].name, labels->items[i].value);
    add_known_text(push, message, "service.name", "gpu-tracker");
    const struct gput_identity *identity = &push->results.identity;
    char text[128];
    session_labels_name(identity, push->settings.pids_are_inner, text, sizeof text);
    add_known_text(push, message, "service.instance.id", text);

    /* The conventions lack some labels, such as those of parallel jobs; these keep our names. */
    static const char *const conventions[][2] = {{"host", "host.name"}, {"pid", "process.pid"},
        {"user", "process.owner"}, {"container", "container.id"}, {"pod", "k8s.pod.name"},
        {"cgroup", "process.linux.cgroup"}};
    struct session_label known[SESSION_LABELS];
    size_t count = session_labels_of(&push->results, known);
    for (size_t i = 0; i < count; i++) {
        char key[64];
        snprintf(key, sizeof key, "gputracker.%s", known[i].name);
        for (size_t k = 0; k < sizeof conventions / sizeof *conventions; k++) {
            if (strcmp(known[i].name, conventions[k][0]) == 0)
                snprintf(key, sizeof key, "%s", conventions[k][1]);
        }
        if (strcmp(known[i].name, "command") == 0) {
            /* The program is the first word. The rest has its script, and arguments only if they
             * were recorded. */
            const char *command = known[i].value;
            char program[SESSION_LABEL_SIZE];
            const char *end = strchr(command, ' ');
            text_fit(program, sizeof program, "%.*s",
                end ? (int)(end - command) : (int)strlen(command), command);
            add_known_text(push, message, "process.executable.name", file_base_name(program));
            add_known_text(push, message, "process.command", program);
            if (end)
                add_known_text(push, message, "process.command_line", command);
        } else if (isfinite(known[i].number))
            add_known_int(push, message, key, known[i].number);
        else
            add_known_text(push, message, key, known[i].value);
    }

    protobuf_end(message, resource);
}

/* ---- points ---- */

/* One metric while its points are added. */
struct points {
    const struct push *push;
    struct str *message;
    size_t count; /* number of samples */
    size_t n;     /* number of points so far */
};

/* Adds one value as a data point; counters have the start of the session. */
static void add_point(struct points *points, const struct metric *metric,
    const struct push_sample *sample, double value, const struct gput_gpu *gpu)
{
    struct str *message = points->message;
    if (!isfinite(value))
        return;
    size_t point = protobuf_begin(message, DATA_POINTS);
    if (metric->kind != METRIC_GAUGE)
        protobuf_add_fixed64(message, POINT_START, (uint64_t)points->push->start_ns);
    protobuf_add_fixed64(message, POINT_TIME, (uint64_t)sample->time_ns);
    protobuf_add_double(message, POINT_DOUBLE, value);
    if (metric->attribute)
        add_text(message, POINT_ATTRIBUTES, metric->attribute, metric->word);
    if (metric->hw_id) {
        add_text(message, POINT_ATTRIBUTES, "hw.id", metric->hw_id);
        add_text(message, POINT_ATTRIBUTES, "hw.type", metric->hw_type);
    }
    if (gpu) {
        add_text(message, POINT_ATTRIBUTES, "hw.id", gpu->uuid);
        add_text(message, POINT_ATTRIBUTES, "hw.type", "gpu");
        add_text(message, POINT_ATTRIBUTES, "hw.name", gpu->name);
        add_text(message, POINT_ATTRIBUTES, "hw.vendor", gpu->vendor);
    }
    protobuf_end(message, point);
    points->n++;
}

/* Adds the points of all series with that name, of the machine and of GPUs. */
static void add_points(struct points *points, const char *name)
{
    const struct push *push = points->push;
    for (size_t i = 0; i < push->n_series; i++) {
        if (strcmp(push->series[i].name, name) == 0) {
            /* Add the points of a series of the whole session. */
            for (size_t k = 0; k < points->count; k++) {
                const struct push_sample *sample = push_at(push, k);
                add_point(
                    points, push->series[i].metric, sample, push_value(push, sample, i), NULL);
            }
        }
    }
    for (size_t i = 0; i < push->n_gpu_series; i++) {
        if (strcmp(push->gpu_series[i].name, name) == 0) {
            /* Add the points of a series for each GPU. */
            for (uint32_t gpu = 0; gpu < push->results.n_gpus; gpu++) {
                for (size_t k = 0; k < points->count; k++) {
                    const struct push_sample *sample = push_at(push, k);
                    add_point(points, push->gpu_series[i].metric, sample,
                        push_gpu_value(push, sample, gpu, i), &push->results.gpus[gpu]);
                }
            }
        }
    }
}

/* ---- metrics ---- */

/* Adds a metric with its points, or nothing if it has no points. */
static void add_metric(
    const struct push *push, size_t count, const struct push_series *series, struct str *message)
{
    enum metric_kind kind = series->metric->kind;
    struct points points = {push, message, count, 0};
    size_t before = message->length;
    size_t metric = protobuf_begin(message, SCOPE_METRICS_METRICS);
    protobuf_add_text(message, METRIC_NAME, series->name);
    protobuf_add_text(message, METRIC_DESCRIPTION, series->metric->help);
    protobuf_add_text(message, METRIC_UNIT, series->unit);
    size_t data = protobuf_begin(message, kind == METRIC_GAUGE ? METRIC_IS_GAUGE : METRIC_IS_SUM);
    add_points(&points, series->name);
    if (kind != METRIC_GAUGE)
        protobuf_add_uint(message, SUM_TEMPORALITY, TEMPORALITY_CUMULATIVE);
    if (kind == METRIC_COUNTER)
        protobuf_add_uint(message, SUM_IS_MONOTONIC, true);
    protobuf_end(message, data);
    protobuf_end(message, metric);
    if (points.n == 0 && !message->failed)
        message->length = before;
}

/* Whether an earlier series has that name. */
static bool is_known(const struct push_series *series, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(series[i].name, name) == 0)
            return true;
    }
    return false;
}

/* Encodes samples as an ExportMetricsServiceRequest. */
static void encode(const struct push *push, size_t count, struct str *message)
{
    size_t all = protobuf_begin(message, REQUEST_RESOURCE_METRICS);
    add_resource(push, message);
    size_t metrics = protobuf_begin(message, RESOURCE_METRICS_SCOPE_METRICS);
    size_t scope = protobuf_begin(message, SCOPE_METRICS_SCOPE);
    protobuf_add_text(message, SCOPE_NAME, "gpu-tracker");
    protobuf_add_text(message, SCOPE_VERSION, GPUT_VERSION);
    protobuf_end(message, scope);
    for (size_t i = 0; i < push->n_series; i++) {
        if (!is_known(push->series, i, push->series[i].name))
            add_metric(push, count, &push->series[i], message);
    }
    for (size_t i = 0; i < push->n_gpu_series; i++) {
        const char *name = push->gpu_series[i].name;
        if (!is_known(push->series, push->n_series, name) && !is_known(push->gpu_series, i, name))
            add_metric(push, count, &push->gpu_series[i], message);
    }
    protobuf_end(message, metrics);
    protobuf_end(message, all);
}

static int compress_body(const struct push *push, struct str *body, struct gput_error *error)
{
    if (!push->settings.is_compressed)
        return GPUT_OK;

    /* Compress the body by gzip. Without memory it stays unchanged. */
    z_stream stream = {0};
    struct str packed = {0};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
            Z_DEFAULT_STRATEGY) != Z_OK)
        return error_memory(error);
    size_t most = deflateBound(&stream, body->length);
    bool is_whole = false;
    if (str_reserve(&packed, most)) {
        stream.next_in = (Bytef *)body->data;
        stream.avail_in = (uInt)body->length;
        stream.next_out = (Bytef *)packed.data;
        stream.avail_out = (uInt)most;
        is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
        packed.length = most - stream.avail_out;
    }
    deflateEnd(&stream);
    if (!is_whole) {
        str_finish(&packed);
        return error_memory(error);
    }
    str_finish(body);
    *body = packed;
    return GPUT_OK;
}

/* ---- the answer ---- */

static bool is_busy(int status)
{
    return status == 429 || status == 502 || status == 503 || status == 504;
}

/* Reads how many points were refused, and the reason. */
static uint64_t read_partial_success(const char *message, size_t length, char *why, size_t size)
{
    struct protobuf_field field;
    uint64_t refused = 0;
    for (size_t at = 0; protobuf_next(message, length, &at, &field);) {
        if (field.number == REJECTED_POINTS && !field.has_bytes)
            refused = (int64_t)field.value > 0 ? field.value : 0;
        else if (field.number == ERROR_MESSAGE && field.has_bytes)
            text_fit(
                why, size, "%.*s", (int)(field.length < 200 ? field.length : 200), field.bytes);
    }
    return refused;
}

/* Reads an answer, and returns how many points were refused. */
static uint64_t refused(const struct str *body, char *why, size_t size)
{
    struct protobuf_field field;
    uint64_t count = 0;
    for (size_t at = 0; protobuf_next(str_text(body), body->length, &at, &field);) {
        if (field.number == RESPONSE_PARTIAL_SUCCESS && field.has_bytes)
            count = read_partial_success(field.bytes, field.length, why, size);
    }
    for (char *at = why; *at; at++)
        *at = *at >= ' ' && *at <= '~' ? *at : '?';
    return count;
}

const struct push_protocol push_otlp = {
    .content_type = "application/x-protobuf",
    .fields = "",
    .first = metrics_of_opentelemetry,
    .others = metrics_of_prometheus,
    .name = name_series,
    .encode = encode,
    .compress = compress_body,
    .is_busy = is_busy,
    .refused = refused,
};
