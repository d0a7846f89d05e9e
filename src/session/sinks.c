#include "session/sinks.h"

#include "base/file_limit.h"

#include <stdlib.h>

/* In the order in which they are served. */
static const struct sink_class *const classes[] = {
    &sink_metrics,
    &sink_power,
    &sink_tracking,
    &sink_callback,
    &sink_results,
};
#define CLASSES (sizeof classes / sizeof classes[0])

_Static_assert(CLASSES <= SINKS_MAX, "no space for all sinks");

static int open_each(struct sinks *sinks, const struct session_settings *settings,
    struct latest *latest, struct gput_error *error)
{
    for (size_t i = 0; i < CLASSES; i++) {
        if (!classes[i]->is_wanted(&settings->options))
            continue;
        struct sink *sink = calloc(1, classes[i]->size);
        if (!sink)
            return error_memory(error);
        *sink = (struct sink){.class = classes[i], .settings = settings, .latest = latest};
        sinks->sinks[sinks->count++] = sink;
        if (classes[i]->open)
            TRY(classes[i]->open(sink, error));
    }
    return GPUT_OK;
}

int sinks_open(struct sinks *sinks, const struct session_settings *settings, struct latest *latest,
    struct gput_error *error)
{
    struct file_limit limit;
    file_limit_block_signal(&limit);
    int code = open_each(sinks, settings, latest, error);
    file_limit_unblock_signal(&limit);
    return code;
}

static int begin_each(struct sinks *sinks, struct gput_error *error)
{
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *sink = sinks->sinks[i];
        if (sink->class->begin)
            TRY(sink->class->begin(sink, error));
    }
    return GPUT_OK;
}

int sinks_begin(struct sinks *sinks, struct gput_error *error)
{
    struct file_limit limit;
    file_limit_block_signal(&limit);
    int code = begin_each(sinks, error);
    file_limit_unblock_signal(&limit);
    return code;
}

void sinks_sample(struct sinks *sinks, const struct snapshot *snapshot)
{
    struct file_limit limit = {0};
    /* It is taken in the caller's thread; the sampling thread blocks all signals. */
    if (snapshot->is_baseline)
        file_limit_block_signal(&limit);
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *sink = sinks->sinks[i];
        if (sink->class->sample)
            sink->class->sample(sink, snapshot);
    }
    file_limit_unblock_signal(&limit);
}

void sinks_results(struct sinks *sinks, const struct gput_results *results)
{
    struct file_limit limit;
    file_limit_block_signal(&limit);
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *sink = sinks->sinks[i];
        if (sink->class->results)
            sink->class->results(sink, results);
    }
    file_limit_unblock_signal(&limit);
}

void sinks_stop(struct sinks *sinks)
{
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *sink = sinks->sinks[i];
        if (sink->class->stop)
            sink->class->stop(sink);
    }
}

int64_t sinks_cpu_ns(const struct sinks *sinks)
{
    int64_t cpu_ns = 0;
    for (size_t i = 0; i < sinks->count; i++) {
        const struct sink *sink = sinks->sinks[i];
        if (sink->class->cpu_ns)
            cpu_ns += sink->class->cpu_ns(sink);
    }
    return cpu_ns;
}

void sinks_close(struct sinks *sinks, const struct sink_end *end)
{
    struct file_limit limit;
    file_limit_block_signal(&limit);
    for (size_t i = 0; i < sinks->count && !sinks->are_closed; i++)
        sinks->sinks[i]->class->close(sinks->sinks[i], end);
    file_limit_unblock_signal(&limit);
    sinks->are_closed = true;
}

uint64_t sinks_rows_lost(const struct sinks *sinks)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sinks->count; i++)
        count += sinks->sinks[i]->rows_lost;
    return count;
}

bool sinks_want_processes(const struct sinks *sinks)
{
    for (size_t i = 0; i < sinks->count; i++)
        if (sinks->sinks[i]->wants_processes)
            return true;
    return false;
}

unsigned sinks_threads(const struct sinks *sinks)
{
    unsigned count = 0;
    for (size_t i = 0; i < sinks->count; i++)
        count += sinks->sinks[i]->has_thread;
    return count;
}

void sinks_subtract_thread_counts(const struct sinks *sinks, struct session_counts *counts)
{
    for (size_t i = 0; i < sinks->count; i++)
        session_counts_subtract(counts, &sinks->sinks[i]->thread_counts);
}

const struct sink *sinks_find(const struct sinks *sinks, const struct sink_class *class)
{
    for (size_t i = 0; i < sinks->count; i++)
        if (sinks->sinks[i]->class == class)
            return sinks->sinks[i];
    return NULL;
}

void sinks_finish(struct sinks *sinks)
{
    for (size_t i = 0; i < sinks->count; i++)
        free(sinks->sinks[i]);
    sinks->count = 0;
}
