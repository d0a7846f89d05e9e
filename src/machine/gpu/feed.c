#include "machine/gpu/feed.h"

#include "base/clock.h"
#include "base/thread.h"
#include "machine/gpu/feed_worker.h"

#include <stdlib.h>
#include <string.h>

/* A driver that has not answered for so long is not waited for again before it does. */
#define OVERDUE_NS (NS_PER_SECOND / 10)

void gpu_feed_view_finish(struct gpu_feed_view *view)
{
    gpu_process_list_finish(&view->processes);
}

static bool copy_options(struct gpu_source_options *to, const struct gpu_source_options *from)
{
    *to = *from;
    to->procfs_root = strdup(from->procfs_root);
    to->sysfs_root = strdup(from->sysfs_root);
    to->nvml_path = from->nvml_path ? strdup(from->nvml_path) : NULL;
    return to->procfs_root && to->sysfs_root && (to->nvml_path || !from->nvml_path);
}

static void init_locks(struct gpu_feed *feed)
{
    pthread_mutex_init(&feed->lock, NULL);
    thread_condition_init(&feed->wake_devices);
    thread_condition_init(&feed->wake_lists);
    thread_condition_init(&feed->done);
}

/* Lists the devices known before the source is open. False without memory. */
static bool list_probed(struct gpu_feed *feed)
{
    feed->devices = calloc(GPU_MAX_DEVICES, sizeof *feed->devices);
    feed->readings = calloc(GPU_MAX_DEVICES, sizeof *feed->readings);
    if (!feed->devices || !feed->readings)
        return false;
    feed->opening = true;
    feed->n_devices = feed->source->list_devices(feed->state, feed->devices, GPU_MAX_DEVICES);
    feed->devices_version = feed->n_devices ? 1 : 0;
    return true;
}

struct gpu_feed *gpu_feed_create(
    const struct gpu_source *source, const struct gpu_source_options *options, bool synchronous)
{
    struct gpu_feed *feed = calloc(1, sizeof *feed);
    if (!feed)
        return NULL;
    init_locks(feed);
    feed->source = source;
    feed->synchronous = synchronous;
    feed->references = 1;
    feed->status.name = source->name;
    bool has_memory = copy_options(&feed->options, options);
    if (has_memory)
        feed->state = source->probe(&feed->options, &feed->status);
    if (feed->state)
        has_memory = list_probed(feed);
    else
        feed->finished = true;
    if (has_memory)
        return feed;
    feed_destroy(feed);
    return NULL;
}

bool gpu_feed_is_absent(const struct gpu_feed *feed, struct gpu_source_status *status)
{
    if (!feed->finished || feed->status.state != GPU_SOURCE_ABSENT)
        return false;
    *status = feed->status;
    return true;
}

void gpu_feed_start(struct gpu_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    if (!feed->finished) {
        feed->devices_asked = feed->processes_asked = 1;
        feed->devices_whole = true;
        if (feed->synchronous) {
            if (feed_open_source(feed)) {
                feed_read_devices(feed);
                feed_read_processes(feed);
            }
        } else if (!feed_start_worker(feed)) {
            feed->finished = true;
            feed->opening = false;
            gpu_source_status_set(
                &feed->status, GPU_SOURCE_FAILED, "", "no thread could be started for it");
        }
    }
    pthread_mutex_unlock(&feed->lock);
}

/* Requests a list when one is due. The thread that reads lists wakes by itself at its deadline, so
 * that it is not woken at each of a thousand ticks a second. */
static void ask_for_list(struct gpu_feed *feed)
{
    if (feed->processes_answered == UINT64_MAX)
        return;
    if (feed->processes_asked++ == feed->processes_answered && !feed->synchronous)
        pthread_cond_signal(&feed->wake_lists);
}

static void ask_for_devices(struct gpu_feed *feed)
{
    if (feed->devices_asked++ == feed->devices_answered)
        feed->devices_unanswered_ns = clock_monotonic_ns();
}

void gpu_feed_skip(struct gpu_feed *feed, const bool *skipped, const char *reason)
{
    pthread_mutex_lock(&feed->lock);
    for (size_t i = 0; i < GPU_MAX_DEVICES; i++)
        feed->skipped[i] = skipped && skipped[i];
    feed->why_skipped = reason;
    pthread_mutex_unlock(&feed->lock);
}

void gpu_feed_track(struct gpu_feed *feed, const pid_t *pids, size_t count)
{
    if (pthread_mutex_lock(&feed->lock) != 0)
        return;
    if (!feed->finished && feed_pids_set(&feed->tracked, pids, count)) {
        feed->tracked.version++;
        ask_for_list(feed);
    }
    pthread_mutex_unlock(&feed->lock);
}

void gpu_feed_request(struct gpu_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    if (!feed->finished) {
        ask_for_devices(feed);
        ask_for_list(feed);
        if (!feed->synchronous) {
            pthread_cond_signal(&feed->wake_devices);
        } else if (feed->opened || feed_open_source(feed)) {
            feed_read_devices(feed);
            feed_read_processes(feed);
        }
    }
    pthread_mutex_unlock(&feed->lock);
}

void gpu_feed_request_list(struct gpu_feed *feed, bool whole)
{
    pthread_mutex_lock(&feed->lock);
    if (!feed->finished && !feed->synchronous) {
        ask_for_list(feed);
        feed->list_requested = feed->processes_asked;
        pthread_cond_signal(&feed->wake_lists);
        if (whole) {
            feed->devices_whole = feed->list_whole = true;
            ask_for_devices(feed);
            pthread_cond_signal(&feed->wake_devices);
        }
    }
    pthread_mutex_unlock(&feed->lock);
}

void gpu_feed_update(struct gpu_feed *feed, struct gpu_feed_view *view)
{
    /* Held for copying alone. A view that stayed as it was would be one without GPUs at first, and
     * later one from before the list that was waited for. */
    pthread_mutex_lock(&feed->lock);
    view->status = feed->status;
    view->opening = feed->opening;
    view->opened = feed->opened;
    if (view->devices_version != feed->devices_version) {
        memcpy(view->devices, feed->devices, feed->n_devices * sizeof *feed->devices);
        view->devices_version = feed->devices_version;
        view->n_devices = feed->n_devices;
    }
    if (feed->n_devices > 0) {
        memcpy(view->readings, feed->readings, feed->n_devices * sizeof *feed->readings);
        memcpy(view->read_ns, feed->read_ns, feed->n_devices * sizeof *feed->read_ns);
        memcpy(view->paired_version, feed->paired_version,
            feed->n_devices * sizeof *feed->paired_version);
        memcpy(view->paired_ram_bytes, feed->paired_ram_bytes,
            feed->n_devices * sizeof *feed->paired_ram_bytes);
    }
    if (view->processes_version != feed->processes_version &&
        gpu_process_list_copy(&view->processes, &feed->processes)) {
        view->processes_version = feed->processes_version;
        view->processes_ns = feed->processes_ns;
        view->processes_start_ns = feed->processes_start_ns;
        memcpy(view->list_ram_bytes, feed->list_ram_bytes,
            feed->n_devices * sizeof *feed->list_ram_bytes);
    }
    pthread_mutex_unlock(&feed->lock);
}

/* With the lock held. */
static bool has_answered(const struct gpu_feed *feed)
{
    if (feed->finished)
        return true;
    if (feed->opening || feed->devices_answered < feed->devices_asked)
        return false;
    return !feed->opened || feed->processes_answered >= feed->processes_asked;
}

bool gpu_feed_await_all(struct gpu_feed *feed, int64_t deadline_ns)
{
    struct timespec until = clock_timespec_of_ns(deadline_ns);
    bool in_time = true;
    pthread_mutex_lock(&feed->lock);
    while (!has_answered(feed) && in_time && !feed->synchronous)
        in_time = pthread_cond_timedwait(&feed->done, &feed->lock, &until) == 0;
    bool answered = has_answered(feed);
    if (!in_time)
        feed->list_overdue = feed->processes_answered < feed->processes_asked;
    pthread_mutex_unlock(&feed->lock);
    return answered;
}

void gpu_feed_await_devices(struct gpu_feed *feed, int64_t deadline_ns)
{
    struct timespec until = clock_timespec_of_ns(deadline_ns);
    bool in_time = true;
    pthread_mutex_lock(&feed->lock);
    while (feed->opened && !feed->finished && feed->devices_answered < feed->devices_asked &&
           !feed->devices_overdue && in_time)
        in_time = pthread_cond_timedwait(&feed->done, &feed->lock, &until) == 0;
    if (!in_time)
        feed->devices_overdue = clock_monotonic_ns() - feed->devices_unanswered_ns >= OVERDUE_NS;
    pthread_mutex_unlock(&feed->lock);
}

static bool is_list_awaited(const struct gpu_feed *feed)
{
    return feed->opened && !feed->finished && !feed->list_overdue &&
           feed->processes_answered < feed->list_requested;
}

void gpu_feed_await_list(struct gpu_feed *feed, int64_t deadline_ns)
{
    struct timespec until = clock_timespec_of_ns(deadline_ns);
    bool in_time = true;
    pthread_mutex_lock(&feed->lock);
    while (is_list_awaited(feed) && in_time)
        in_time = pthread_cond_timedwait(&feed->done, &feed->lock, &until) == 0;
    feed->list_overdue |= is_list_awaited(feed);
    pthread_mutex_unlock(&feed->lock);
}

static bool is_moved_list_awaited(const struct gpu_feed *feed, int64_t deadline_ns)
{
    bool is_due = !feed->memory_moved || feed_list_due_ns(feed) < deadline_ns;
    return feed->opened && !feed->finished && !feed->list_overdue && !feed->moved_list_overdue &&
           feed->processes_version < feed->moved_version && is_due;
}

void gpu_feed_await_moved_list(struct gpu_feed *feed, int64_t deadline_ns)
{
    struct timespec until = clock_timespec_of_ns(deadline_ns);
    bool in_time = true;
    pthread_mutex_lock(&feed->lock);
    while (is_moved_list_awaited(feed, deadline_ns) && in_time)
        in_time = pthread_cond_timedwait(&feed->done, &feed->lock, &until) == 0;
    feed->moved_list_overdue |= is_moved_list_awaited(feed, deadline_ns);
    pthread_mutex_unlock(&feed->lock);
}

/* Asks the threads to end; the lock is held. */
static void stop(struct gpu_feed *feed)
{
    feed->closing = true;
    pthread_cond_signal(&feed->wake_devices);
    pthread_cond_signal(&feed->wake_lists);
}

void gpu_feed_stop(struct gpu_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    stop(feed);
    pthread_mutex_unlock(&feed->lock);
}

void gpu_feed_close(struct gpu_feed *feed, int64_t deadline_ns)
{
    struct timespec until = clock_timespec_of_ns(deadline_ns);
    pthread_mutex_lock(&feed->lock);
    stop(feed);
    bool in_time = true;
    while (feed->references > 1 && in_time)
        in_time = pthread_cond_timedwait(&feed->done, &feed->lock, &until) == 0;
    bool last = --feed->references == 0;
    pthread_mutex_unlock(&feed->lock);
    if (last)
        feed_destroy(feed);
}
