/*
 * Encodes metrics for Prometheus' remote write, version 1: series with labels in protobuf,
 * compressed by snappy. The numbers of fields are those of prometheus/prompb/remote.proto.
 */
#include "base/error.h"
#include "base/shared_library.h"
#include "base/str.h"
#include "services/push/protobuf.h"
#include "services/push/push.h"
#include "views/output/labels.h"
#include "views/output/metric.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Snappy ---- */

/* Remote write asks for snappy's block format. libsnappy compresses where it is installed.
 * Otherwise the block has only literals, which every reader accepts but which save no space. */

/* The tag of a literal whose length minus one follows in two bytes. */
#define LITERAL_TAG (61 << 2)
#define MAX_LITERAL ((size_t)1 << 16)

/* Writes the length that precedes a block, in groups of 7 bits. */
static void append_length(struct str *block, size_t length)
{
    for (; length >= 0x80; length >>= 7)
        str_append_char(block, (char)(length | 0x80));
    str_append_char(block, (char)length);
}

/* Functions of snappy-c.h, whose interface is stable. */
struct snappy_library {
    size_t (*max_length)(size_t length);
    int (*compress)(const char *bytes, size_t length, char *block, size_t *block_length);
};

/* Compresses by libsnappy, to about a quarter. Returns false if it is missing or fails. */
static bool pack_by_library(const struct str *bytes, struct str *block)
{
    struct snappy_library library;
    const struct shared_symbol symbols[] = {{"snappy_max_compressed_length", &library.max_length},
        {"snappy_compress", &library.compress}, {NULL, NULL}};
    if (!shared_library_can_load() || shared_library_load("libsnappy.so.1", symbols))
        return false;
    size_t length = library.max_length(bytes->length);
    if (!str_reserve(block, length) ||
        library.compress(str_text(bytes), bytes->length, block->data, &length) != 0)
        return false;
    block->length = length;
    return true;
}

enum { REQUEST_SERIES = 1 };
enum { SERIES_LABELS = 1, SERIES_SAMPLES = 2 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum { SAMPLE_VALUE = 1, SAMPLE_TIME_MS = 2 };

#define MAX_OWN_LABELS (8 + SESSION_LABELS)

/* Names a series as Prometheus does: counters end in "_total". */
static void name_series(const struct metric *metric, bool is_first, struct push_series *series)
{
    (void)is_first;
    snprintf(series->name, sizeof series->name, "%s%s", metric->name,
        metric->kind == METRIC_COUNTER ? "_total" : "");
}

/* ---- labels ---- */

/* The labels of one series; names and values are not owned. */
struct label_list {
    struct {
        const char *name, *value;
    } * items;
    size_t count;
};

/* Adds a label, unless its value is empty. */
static void add_label(struct label_list *list, const char *name, const char *value)
{
    if (!value[0])
        return;
    list->items[list->count].name = name;
    list->items[list->count++].value = value;
}

/* Adds a label, unless the user gave one of that name. */
static void add_own(
    const struct push *push, struct label_list *list, const char *name, const char *value)
{
    if (!labels_get(&push->settings.labels, name))
        add_label(list, name, value);
}

/* Returns whether a label of that name is in the list. */
static bool has_label(const struct label_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) == 0)
            return true;
    }
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Writes labels sorted and without repetition, as the receiver requires. */
static void write_labels(struct str *message, struct label_list *list)
{
    qsort(list->items, list->count, sizeof *list->items, compare_names);
    for (size_t i = 0; i < list->count; i++) {
        size_t label = protobuf_begin(message, SERIES_LABELS);
        protobuf_add_text(message, LABEL_NAME, list->items[i].name);
        protobuf_add_text(message, LABEL_VALUE, list->items[i].value);
        protobuf_end(message, label);
    }
}

/* Texts of labels that are the same for all series, except `gpu`. All processes of a session share
 * its series. */
struct own_labels {
    char instance[128], rank[32], gpu[32];
};

/* ---- series ---- */

struct encoder {
    const struct push *push;
    struct str *message;
    size_t count; /* number of samples */
    struct own_labels own;
    struct label_list list; /* owns its items */
};

/* Lists the labels that all series of the session have. */
static void list_labels(struct encoder *encoder, const char *name)
{
    const struct push *push = encoder->push;
    const struct gput_identity *identity = &push->results.identity;
    struct label_list *list = &encoder->list;
    list->count = 0;
    for (size_t i = 0; i < push->settings.labels.count; i++)
        add_label(list, push->settings.labels.items[i].name, push->settings.labels.items[i].value);
    add_label(list, "__name__", name);
    add_own(push, list, "job", "gpu-tracker");
    add_own(push, list, "instance", encoder->own.instance);
    add_own(push, list, "job_id", identity->job_id);
    add_own(push, list, "step", identity->step);
    add_own(push, list, "rank", encoder->own.rank);
}

/* Writes one value with its time. */
static void write_sample(struct encoder *encoder, size_t index, double value)
{
    struct str *message = encoder->message;
    size_t sample = protobuf_begin(message, SERIES_SAMPLES);
    protobuf_add_double(message, SAMPLE_VALUE, value);
    protobuf_add_uint(
        message, SAMPLE_TIME_MS, (uint64_t)(push_at(encoder->push, index)->time_ns / 1000000));
    protobuf_end(message, sample);
}

/* Writes a series of the value 1 whose labels describe the session. Other series refer to it by
 * their instance. */
static void write_session(struct encoder *encoder)
{
    struct session_label known[SESSION_LABELS];
    size_t count = session_labels_of(&encoder->push->results, known);
    if (count == 0 || encoder->push->without_constants)
        return;
    size_t begin = protobuf_begin(encoder->message, REQUEST_SERIES);
    list_labels(encoder, "gputracker_session_info");
    for (size_t i = 0; i < count; i++) {
        if (!has_label(&encoder->list, known[i].name))
            add_label(&encoder->list, known[i].name, known[i].value);
    }
    write_labels(encoder->message, &encoder->list);
    for (size_t i = 0; i < encoder->count; i++)
        write_sample(encoder, i, 1);
    protobuf_end(encoder->message, begin);
}

/* Writes a series with its samples, or nothing if it has none. */
static void write_series(struct encoder *encoder, const char *name, size_t series, int64_t gpu)
{
    struct str *message = encoder->message;
    size_t before = message->length, n = 0;
    const struct push *push = encoder->push;
    struct label_list *list = &encoder->list;
    const struct metric *metric = gpu < 0 ? push->series[series].metric : NULL;
    if (metric && metric->attribute && labels_get(&push->settings.labels, metric->attribute))
        return; /* all series of that name would become one */
    size_t begin = protobuf_begin(message, REQUEST_SERIES);
    list_labels(encoder, name);
    if (metric && metric->attribute)
        add_label(list, metric->attribute, metric->word);
    if (gpu >= 0) {
        snprintf(encoder->own.gpu, sizeof encoder->own.gpu, "%u", (unsigned)gpu);
        add_own(push, list, "gpu", encoder->own.gpu);
        add_own(push, list, "uuid", push->results.gpus[gpu].uuid);
    }
    write_labels(encoder->message, list);

    for (size_t i = 0; i < encoder->count; i++) {
        const struct push_sample *sample = push_at(encoder->push, i);
        double value = gpu < 0 ? push_value(encoder->push, sample, series)
                               : push_gpu_value(encoder->push, sample, (uint32_t)gpu, series);

        if (!isfinite(value))
            continue;
        write_sample(encoder, i, value);
        n++;
    }
    protobuf_end(message, begin);
    if (n == 0 && !message->failed)
        message->length = before;
}

/* Encodes samples as a WriteRequest. */
static void encode(const struct push *push, size_t count, struct str *message)
{
    struct encoder encoder = {.push = push, .message = message, .count = count};
    encoder.list.items =
        calloc(push->settings.labels.count + MAX_OWN_LABELS, sizeof *encoder.list.items);
    if (!encoder.list.items) {
        message->failed = true;
        return;
    }
    const struct gput_identity *identity = &push->results.identity;
    session_labels_name(
        identity, push->settings.pids_are_inner, encoder.own.instance, sizeof encoder.own.instance);
    double number = identity->rank;
    encoder.own.rank[0] = '\0';
    if (isfinite(number))
        snprintf(encoder.own.rank, sizeof encoder.own.rank, "%.0f", number);

    write_session(&encoder);
    for (size_t i = 0; i < push->n_series; i++)
        write_series(&encoder, push->series[i].name, i, -1);
    for (uint32_t gpu = 0; gpu < push->results.n_gpus; gpu++) {
        for (size_t i = 0; i < push->n_gpu_series; i++)
            write_series(&encoder, push->gpu_series[i].name, i, gpu);
    }
    free(encoder.list.items);
}

static int compress(const struct push *push, struct str *body, struct gput_error *error)
{
    (void)push;

    /* Replace the body by its compressed form. Errors: GPUT_ERROR_MEMORY; the body is then
     * unchanged. */
    struct str block = {0};
    if (pack_by_library(body, &block)) {
        str_finish(body);
        *body = block;
        return GPUT_OK;
    }
    str_clear(&block);
    append_length(&block, body->length);
    for (size_t at = 0; at < body->length; at += MAX_LITERAL) {
        size_t left = body->length - at, length = left < MAX_LITERAL ? left : MAX_LITERAL;
        const char head[] = {(char)LITERAL_TAG, (char)(length - 1), (char)((length - 1) >> 8)};
        str_append_bytes(&block, head, sizeof head);
        str_append_bytes(&block, body->data + at, length);
    }
    if (block.failed) {
        str_finish(&block);
        return error_memory(error);
    }
    str_finish(body);
    *body = block;
    return GPUT_OK;
}

static bool is_busy(int status)
{
    return status == 429 || status >= 500;
}

const struct push_protocol push_remote_write = {
    .content_type = "application/x-protobuf",
    .fields = "Content-Encoding: snappy\r\nX-Prometheus-Remote-Write-Version: 0.1.0\r\n",
    .first = metrics_of_prometheus,
    .name = name_series,
    .encode = encode,
    .compress = compress,
    .is_busy = is_busy,
};
