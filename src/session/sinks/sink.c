#include "session/sinks/sink.h"

#include "session/sampler/snapshot.h"

#include <stdlib.h>

bool sink_is_wanted(const struct sink_class *class, const struct gput_session_options *options)
{
    if (class->is_wanted)
        return class->is_wanted(options);
    return !class->option || *(char *const *)((const char *)options + class->option);
}

int sink_open(struct sink *sink, struct gput_error *error)
{
    const struct sink_class *class = sink->class;
    if (class->job && !(sink->writer = sink_writer_create(class->job)))
        return error_memory(error);
    return class->open ? class->open(sink, error) : GPUT_OK;
}

void sink_pass_warnings(struct sink *sink)
{
    for (char *text; sink->writer && (text = sink_writer_take_warning(sink->writer));) {
        session_warn(sink->settings, "%s", text);
        free(text);
    }
}

static const char *waits_for(const struct sink *sink)
{
    return sink->class->waits_for ? sink->class->waits_for : "disk";
}

bool sink_put(struct sink *sink, const void *item)
{
    sink_writer_start(sink->writer, sink->settings->mode == SESSION_SELF);
    if (sink_writer_put(sink->writer, item))
        return true;
    if (sink->items_lost++ == 0)
        session_warn(sink->settings,
            "The %s of the %s is too slow or does not answer: some of it is being lost; tracking "
            "goes on.",
            waits_for(sink), sink->class->name);
    return false;
}

bool sink_await_end(struct sink *sink)
{
    bool has_ended = !sink->writer || sink_writer_await_end(sink->writer);
    sink_pass_warnings(sink);
    sink->is_left = !has_ended;
    if (!has_ended)
        session_warn(sink->settings,
            "The %s of the %s does not answer. gpu-tracker no longer waits for it, and what was "
            "not written yet may be missing.",
            waits_for(sink), sink->class->name);
    return has_ended;
}

/* ---- The latest results and snapshot ---- */

void latest_init(struct latest *latest)
{
    pthread_mutex_init(&latest->lock, NULL);
}

void latest_finish(struct latest *latest)
{
    gput_snapshot_release(latest->snapshot);
    gput_results_destroy(latest->results);
    gput_results_destroy(latest->next);
    pthread_mutex_destroy(&latest->lock);
}

struct gput_results *latest_next_results(struct latest *latest)
{
    if (!latest->next)
        latest->next = calloc(1, sizeof *latest->next);
    return latest->next;
}

void latest_publish_results(struct latest *latest)
{
    if (pthread_mutex_trylock(&latest->lock) != 0)
        return;
    struct gput_results *before = latest->results;
    latest->results = latest->next;
    latest->next = before;
    latest->number++;
    pthread_mutex_unlock(&latest->lock);
}

bool latest_has_results(struct latest *latest)
{
    pthread_mutex_lock(&latest->lock);
    bool has_some = latest->number > 0;
    pthread_mutex_unlock(&latest->lock);
    return has_some;
}

uint64_t latest_results(struct latest *latest, uint64_t known, struct gput_results *results)
{
    pthread_mutex_lock(&latest->lock);
    uint64_t number = latest->number;
    bool is_copied =
        number > 0 && number != known && results_copy(results, latest->results) == GPUT_OK;
    pthread_mutex_unlock(&latest->lock);
    return is_copied ? number : known;
}

void latest_set_snapshot(struct latest *latest, struct gput_snapshot *snapshot)
{
    if (pthread_mutex_trylock(&latest->lock) == 0) {
        struct gput_snapshot *before = latest->snapshot;
        latest->snapshot = snapshot;
        snapshot = before;
        pthread_mutex_unlock(&latest->lock);
    }
    gput_snapshot_release(snapshot);
}

struct gput_snapshot *latest_snapshot(struct latest *latest)
{
    pthread_mutex_lock(&latest->lock);
    struct gput_snapshot *snapshot =
        latest->snapshot ? snapshot_copy_retain(latest->snapshot) : NULL;
    pthread_mutex_unlock(&latest->lock);
    return snapshot;
}
