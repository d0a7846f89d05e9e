/*
 * The sinks that send metrics to receivers: OTLP, and Prometheus' remote write. The session's side
 * copies the results every few seconds; all that waits for a network is done in the writer's
 * thread.
 */
#include "base/clock.h"
#include "base/text.h"
#include "machine/os/procfs.h"
#include "services/push/push.h"
#include "session/sinks/sink.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Requests are given up in time. A name that cannot be looked up is not, and is waited for no
 * longer than this. */
#define TIMEOUT_SECONDS 5
#define SPARE_SECONDS 3

/* Output of the writer's thread; it lives longer than the sink if a receiver hangs. */
struct push_output {
    struct push *push;
    _Atomic int64_t
        retry_ns; /* when it wants to be called again; INT64_MAX: with the next sample */
    bool has_warned;
    int64_t last_ns;      /* of the sample before */
    pthread_mutex_t lock; /* guards what follows, and the life of this */
    char description[512];
    uint64_t lost, unsent;
    bool has_lost;
    unsigned holders; /* the writer and the sink */
};

struct push_sink {
    struct sink sink;
    struct push_output *output;
    int64_t interval_ns, next_ns; /* monotonic clock; 0: at once */
};

struct push_item {
    int64_t time_ns;
    struct gput_results *results; /* owned; NULL: it is to be tried again */
};

/* Frees the output when both the session and the writer's thread have released it. */
static void release(struct push_output *output)
{
    pthread_mutex_lock(&output->lock);
    bool is_last = --output->holders == 0;
    pthread_mutex_unlock(&output->lock);
    if (!is_last)
        return;
    pthread_mutex_destroy(&output->lock);
    free(output);
}

/* ---- the writer's thread ---- */

/* Copies the state of the queue to where the session reads it. */
static void publish(struct push_output *output)
{
    const struct push *push = output->push;
    bool waits = push->n_waiting > 0 && push->failures > 0;
    atomic_store(&output->retry_ns, waits ? push->next_try_ns : INT64_MAX);
    pthread_mutex_lock(&output->lock);
    push_describe(push, output->description, sizeof output->description);
    output->lost = push->lost;
    output->unsent = push->n_waiting;
    output->has_lost = push->lost + push->refused > 0;
    pthread_mutex_unlock(&output->lock);
}

/* Adds the results of an item to the queue, and sends what is due. Warns of the first failure.
 * */
static void write_item(struct sink_writer *writer, void *user, void *bytes)
{
    struct push_output *output = user;
    struct push_item *item = bytes;
    if (item->results) {
        push_add(output->push, item->time_ns, item->results);
        output->last_ns = item->time_ns;
    }
    gput_results_destroy(item->results);
    publish(output);
    push_send(output->push);
    publish(output);
    if (output->push->problem[0] && !output->has_warned)
        sink_writer_warn(writer, "%s. %s", output->push->problem,
            output->push->lost + output->push->refused > 0
                ? "Metrics are being lost; tracking goes on."
                : "Metrics wait, and are sent later; tracking goes on.");
    output->has_warned |= output->push->problem[0] != '\0';
}

/* The figures of the end are sent, too. Prometheus takes one sample a millisecond: the last one
 * may have been taken in the same. */
static void end_output(struct sink_writer *writer, void *user, const struct sink_end *end)
{
    struct push_output *output = user;
    struct push *push = output->push;
    int64_t time_ns = clock_realtime_ns();
    if (time_ns / NS_PER_MS == output->last_ns / NS_PER_MS)
        time_ns += NS_PER_MS;
    if (end->results && !end->is_unused)
        push_add(push, time_ns, end->results);
    publish(output);
    push_finish(push);
    publish(output);
    if (push->lost > 0)
        sink_writer_warn(writer, "%s. gpu-tracker push sends what a tracking file (--tf) has.",
            output->description);
    push_destroy(push);
    output->push = NULL;
    release(output);
}

/* ---- the session's side ---- */

/* Creates the queue of a receiver, and gives it to the writer's thread. */
static int make_output(
    struct push_sink *sink, const struct push_protocol *protocol, struct push_settings *settings)
{
    struct push_output *output = calloc(1, sizeof *output);
    int64_t interval_ns = settings->interval_ns;
    unsigned seconds = (unsigned)(push_end_ns(settings, 0) / NS_PER_SECOND) + SPARE_SECONDS;
    if (!output || !(output->push = push_create(protocol, settings))) {
        free(output);
        return GPUT_ERROR_MEMORY;
    }
    pthread_mutex_init(&output->lock, NULL);
    atomic_init(&output->retry_ns, INT64_MAX);
    output->holders = 2;
    sink->output = output;
    sink->interval_ns = interval_ns;
    sink_writer_set_output(sink->sink.writer, output);
    if (seconds > TIMEOUT_SECONDS)
        sink_writer_set_timeout(sink->sink.writer, seconds);
    return GPUT_OK;
}

static const char *variable(const char *name)
{
    return getenv(name);
}

typedef int settings_reader(struct push_settings *settings, const char *url, const char *labels,
    double interval_seconds, push_variable *variable, struct gput_error *error);

/* Reads the settings of a protocol, and prepares what they ask for. */
static int open_push(struct sink *sink, const struct push_protocol *protocol,
    settings_reader *read_settings, struct gput_error *error)
{
    struct push_settings settings;
    const struct gput_session_options *options = &sink->settings->options;
    int code = read_settings(
        &settings, sink->option, options->labels, options->push_interval_seconds, variable, error);
    push_settings_set_timeout(&settings, options->push_timeout_seconds);
    settings.pids_are_inner = procfs_is_inner(options->procfs_root);
    for (size_t i = 0; code == GPUT_OK && i < settings.n_remarks; i++)
        session_warn(sink->settings, "%s", settings.remarks[i]);
    if (code == GPUT_OK && settings.is_off)
        session_warn(sink->settings, "OTEL_SDK_DISABLED is set: no metrics are sent.");
    else if (code == GPUT_OK &&
             make_output((struct push_sink *)sink, protocol, &settings) != GPUT_OK)
        code = error_memory(error);
    push_settings_finish(&settings);
    return code;
}

/* Reads the settings of OTLP, also from its environment variables. */
static int open_otlp(struct sink *sink, struct gput_error *error)
{
    return open_push(sink, &push_otlp, push_settings_of_otlp, error);
}

/* Reads the settings of remote write, also from its environment variables. */
static int open_remote_write(struct sink *sink, struct gput_error *error)
{
    return open_push(sink, &push_remote_write, push_settings_of_remote_write, error);
}

/* The next moment is counted from the last one, and those that passed meanwhile are skipped. */
static bool is_due(struct push_sink *sink, int64_t now_ns)
{
    if (now_ns < sink->next_ns)
        return false;
    sink->next_ns += sink->interval_ns;
    if (sink->next_ns <= now_ns)
        sink->next_ns = now_ns + sink->interval_ns;
    return true;
}

/* Hands a copy of the results to the writer's thread when they are due, or wakes it to try
 * again. */
static void take_results(struct sink *base, const struct gput_results *results)
{
    struct push_sink *sink = (struct push_sink *)base;
    struct push_item item = {.time_ns = clock_realtime_ns()};
    int64_t now_ns = clock_monotonic_ns();
    if (!sink->output)
        return;
    if (is_due(sink, now_ns)) {
        item.results = calloc(1, sizeof *item.results);
        if (!item.results || results_copy(item.results, results) != GPUT_OK ||
            !sink_put(base, &item))
            gput_results_destroy(item.results);
    } else if (now_ns >= atomic_load(&sink->output->retry_ns)) {
        atomic_store(&sink->output->retry_ns, INT64_MAX);
        sink_put(base, &item);
    }
}

/* A request that is on its way gets little more time. */
static void end_soon(struct sink *base)
{
    struct push_sink *sink = (struct push_sink *)base;
    if (sink->output)
        push_end_soon(sink->output->push, clock_monotonic_ns());
}

/* Reports where metrics were sent, and how many samples were lost. */
static void add_source(const struct sink *base, struct gput_results *results)
{
    const struct push_sink *sink = (const struct push_sink *)base;
    char text[512];
    if (!sink->output)
        return;
    pthread_mutex_lock(&sink->output->lock);
    uint64_t unsent = base->is_left ? sink->output->unsent : 0;
    bool has_lost = sink->output->has_lost || unsent > 0;
    double *lost = &results->tracker.metrics_lost;
    *lost = (isnan(*lost) ? 0 : *lost) + (double)(sink->output->lost + unsent + base->items_lost);
    text_fit(text, sizeof text, unsent > 0 ? "%s; %llu more were not answered in time" : "%s",
        sink->output->description, (unsigned long long)unsent);
    pthread_mutex_unlock(&sink->output->lock);
    if (text[0])
        results_add_source(results, base->class->source,
            has_lost ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_EXACT, "%s", text);
}

/* Releases the session's part of the output. */
static void finish(struct sink *base)
{
    struct push_sink *sink = (struct push_sink *)base;
    if (sink->output)
        release(sink->output);
    sink->output = NULL;
}

/* A receiver that is away is waited for with a request, not with items. */
static const struct sink_writer_job job = {
    .item_size = sizeof(struct push_item),
    .max_items = 64,
    .timeout_seconds = TIMEOUT_SECONDS,
    .write = write_item,
    .end = end_output,
};

const struct sink_class sink_otlp = {
    .name = "metrics of OTLP",
    .waits_for = "receiver",
    .source = "otlp",
    .size = sizeof(struct push_sink),
    .option = offsetof(struct gput_session_options, otlp),
    .job = &job,
    .open = open_otlp,
    .results = take_results,
    .stop = end_soon,
    .add_source = add_source,
    .finish = finish,
};

const struct sink_class sink_remote_write = {
    .name = "metrics of remote write",
    .waits_for = "receiver",
    .source = "remote_write",
    .size = sizeof(struct push_sink),
    .option = offsetof(struct gput_session_options, remote_write),
    .job = &job,
    .open = open_remote_write,
    .results = take_results,
    .stop = end_soon,
    .add_source = add_source,
    .finish = finish,
};
