#include "session/sinks/sinks.h"

#include "base/file.h"
#include "model/session_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a sampling thread that came back late is waited for, while it feeds the sinks. */
enum { LAST_SAMPLE_MS = 1000 };

static const struct sink_class *const classes[] = {
#define SINK_CLASS(name) &sink_##name,
    SINKS(SINK_CLASS)
#undef SINK_CLASS
};

/* Where the option of a class is; NULL: it names none. */
static const char **option_of(const struct sink_class *class, struct gput_session_options *options)
{
    return class->option ? (const char **)((char *)options + class->option) : NULL;
}

/* The caller's text need not stay. */
static int copy_option(struct sink *sink, const char **option, struct gput_error *error)
{
    if (!option || !*option)
        return GPUT_OK;
    sink->option = strdup(*option);
    *option = sink->option;
    return sink->option ? GPUT_OK : error_memory(error);
}

/* Frees the last sink with its writer. */
static void destroy_last(struct sinks *sinks)
{
    struct sink *sink = sinks->sinks[--sinks->count];
    if (sink->class->finish)
        sink->class->finish(sink);
    sink_writer_destroy(sink->writer);
    free(sink->option);
    free(sink);
}

/* Opens a sink. One that cannot be opened is an error unless the caller does without it. */
static int open_one(struct sinks *sinks, const struct sink_class *class,
    struct session_settings *settings, struct latest *latest, struct gput_error *error)
{
    struct gput_error reason;
    struct sink *sink = calloc(1, class->size);
    if (!sink)
        return error_memory(error);
    *sink = (struct sink){.class = class, .settings = settings, .latest = latest};
    sinks->sinks[sinks->count++] = sink;
    TRY(copy_option(sink, option_of(class, &settings->options), error));
    if (sink_open(sink, &reason) != GPUT_OK) {
        if (!class->option ||
            !session_options_do_without(&settings->options, class->option, &reason))
            return error_copy(error, &reason);
        const struct sink_end unused = {.is_unused = true};
        if (sink->writer)
            sink_writer_end(sink->writer, &unused);
        if (class->close)
            class->close(sink);
        destroy_last(sinks);
        return GPUT_OK;
    }
    sinks->want_bytes |= sink->wants_bytes;
    sinks->want_processes |= sink->wants_processes;
    return GPUT_OK;
}

int sinks_open(struct sinks *sinks, struct session_settings *settings, struct latest *latest,
    struct gput_error *error)
{
    int code = GPUT_OK;
    struct file_limit limit;
    file_limit_block_signal(&limit);
    for (size_t i = 0; i < SINK_COUNT && code == GPUT_OK; i++)
        if (sink_is_wanted(classes[i], &settings->options))
            code = open_one(sinks, classes[i], settings, latest, error);
    file_limit_unblock_signal(&limit);
    return code;
}

int sinks_begin(struct sinks *sinks, struct gput_error *error)
{
    int code = GPUT_OK;
    struct file_limit limit;
    file_limit_block_signal(&limit);
    for (size_t i = 0; i < sinks->count && code == GPUT_OK; i++)
        if (sinks->sinks[i]->class->begin)
            code = sinks->sinks[i]->class->begin(sinks->sinks[i], error);
    file_limit_unblock_signal(&limit);
    return code;
}

/* Whether the state was IDLE, which it is not any more. */
static bool leave_idle(struct sinks *sinks, int state)
{
    int idle = SINKS_ARE_IDLE;
    return atomic_compare_exchange_strong(&sinks->state, &idle, state);
}

void sinks_sample(struct sinks *sinks, const struct snapshot *snapshot)
{
    if (!leave_idle(sinks, SINKS_ARE_FED))
        return;
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *sink = sinks->sinks[i];
        if (sink->class->sample)
            sink->class->sample(sink, snapshot);
        sink_pass_warnings(sink);
    }
    atomic_store(&sinks->state, SINKS_ARE_IDLE);
}

void sinks_results(struct sinks *sinks, const struct gput_results *results)
{
    if (!leave_idle(sinks, SINKS_ARE_FED))
        return;
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *sink = sinks->sinks[i];
        if (sink->class->results)
            sink->class->results(sink, results);
    }
    atomic_store(&sinks->state, SINKS_ARE_IDLE);
}

void sinks_stop(struct sinks *sinks)
{
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *sink = sinks->sinks[i];
        if (sink->class->stop)
            sink->class->stop(sink);
        if (sink->writer && sink->settings->mode == SESSION_SELF)
            sink_writer_drain(sink->writer);
    }
}

int64_t sinks_cpu_ns(const struct sinks *sinks)
{
    int64_t cpu_ns = 0;
    for (size_t i = 0; i < sinks->count; i++) {
        const struct sink *sink = sinks->sinks[i];
        cpu_ns += atomic_load(&sink->thread_cpu_ns);
        if (sink->writer)
            cpu_ns += sink_writer_cpu_ns(sink->writer);
    }
    return cpu_ns;
}

/* All complete what they write at the same time, and then each is waited for. */
bool sinks_close(struct sinks *sinks, const struct sink_end *end)
{
    bool have_ended = true;
    struct file_limit limit;
    if (atomic_load(&sinks->state) == SINKS_ARE_CLOSED)
        return true;
    for (int i = 0; !leave_idle(sinks, SINKS_ARE_CLOSED); i++) {
        if (i == LAST_SAMPLE_MS)
            return false;
        usleep(1000);
    }
    file_limit_block_signal(&limit);
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *sink = sinks->sinks[i];
        if (sink->writer)
            sink_writer_end(sink->writer, end);
        if (sink->class->close)
            sink->class->close(sink);
    }
    for (size_t i = 0; i < sinks->count; i++)
        have_ended &= sink_await_end(sinks->sinks[i]);
    file_limit_unblock_signal(&limit);
    return have_ended;
}

void sinks_bytes(
    struct sinks *sinks, const struct snapshot *snapshot, const struct task_counts *bytes)
{
    if (!leave_idle(sinks, SINKS_ARE_FED))
        return;
    for (size_t i = 0; i < sinks->count; i++) {
        struct sink *sink = sinks->sinks[i];
        if (sink->wants_bytes)
            sink->class->bytes(sink, snapshot, bytes);
    }
    atomic_store(&sinks->state, SINKS_ARE_IDLE);
}

unsigned sinks_threads(const struct sinks *sinks)
{
    unsigned count = 0;
    for (size_t i = 0; i < sinks->count; i++) {
        const struct sink *sink = sinks->sinks[i];
        count += sink->has_thread + (sink->writer && sink_writer_has_thread(sink->writer));
    }
    return count;
}

void sinks_subtract_thread_counts(const struct sinks *sinks, struct session_counts *counts)
{
    for (size_t i = 0; i < sinks->count; i++) {
        const struct sink *sink = sinks->sinks[i];
        struct session_counts own = sink->thread_counts;
        if (sink->writer)
            own = sink_writer_counts(sink->writer);
        session_counts_subtract(counts, &own);
    }
}

const char *sinks_address(const struct sinks *sinks)
{
    const char *address = NULL;
    for (size_t i = 0; i < sinks->count && !address; i++) {
        const struct sink *sink = sinks->sinks[i];
        if (sink->class->address)
            address = sink->class->address(sink);
    }
    return address;
}

void sinks_add_sources(const struct sinks *sinks, struct gput_results *results)
{
    for (size_t i = 0; i < sinks->count; i++) {
        const struct sink *sink = sinks->sinks[i];
        if (sink->class->add_source)
            sink->class->add_source(sink, results);
    }
}

void sinks_remove_left(const struct sinks *sinks)
{
    for (size_t i = 0; i < sinks->count; i++) {
        const struct sink *sink = sinks->sinks[i];
        if (sink->class->remove_left)
            sink->class->remove_left(sink);
    }
}

void sinks_finish(struct sinks *sinks)
{
    while (sinks->count > 0)
        destroy_last(sinks);
}
