#include "machine/gpu/feed_worker.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/thread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least time from the start of a list of processes to that of the next one; the shorter one
 * applies after a change of memory. */
#define MIN_PAUSE_NS (NS_PER_SECOND / 10)
#define MIN_PAUSE_AFTER_MOVE_NS (NS_PER_SECOND / 200)

/* Drivers need a large stack; only touched pages take memory. */
#define STACK_BYTES (1024 * 1024)

bool feed_pids_set(struct feed_pids *list, const pid_t *pids, size_t count)
{
    if (count > list->capacity) {
        if (!ARRAY_RESIZE(list->pids, count))
            return false;
        list->capacity = count;
    }
    if (count)
        memcpy(list->pids, pids, count * sizeof *pids);
    list->count = count;
    return true;
}

void feed_destroy(struct gpu_feed *feed)
{
    if (feed->state)
        feed->source->close(feed->state);
    gpu_process_list_finish(&feed->processes);
    gpu_process_list_finish(&feed->scratch);
    free(feed->tracked.pids);
    free(feed->asked_for.pids);
    free(feed->devices);
    free(feed->readings);
    free((char *)feed->options.procfs_root);
    free((char *)feed->options.sysfs_root);
    free((char *)feed->options.nvml_path);
    pthread_mutex_destroy(&feed->lock);
    pthread_cond_destroy(&feed->wake_devices);
    pthread_cond_destroy(&feed->wake_lists);
    pthread_cond_destroy(&feed->done);
    free(feed);
}

bool feed_open_source(struct gpu_feed *feed)
{
    struct gpu_source_status status = feed->status;
    pthread_mutex_unlock(&feed->lock);
    struct gpu_device *devices = calloc(GPU_MAX_DEVICES, sizeof *devices);
    bool opened = false;
    uint32_t count = 0;
    if (devices)
        opened = feed->source->open(feed->state, &status);
    else
        gpu_source_status_set(&status, GPU_SOURCE_FAILED, "", "out of memory");
    if (opened)
        count = feed->source->list_devices(feed->state, devices, GPU_MAX_DEVICES);
    pthread_mutex_lock(&feed->lock);
    feed->status = status;
    feed->opening = false;
    if (opened) {
        feed->status.n_devices = count;
        feed->opened = true;
        memcpy(feed->devices, devices, count * sizeof *devices);
        feed->n_devices = count;
        feed->devices_version++;
    } else if (status.state != GPU_SOURCE_SUSPENDED) {
        feed->finished = true;
    }
    free(devices);
    return opened;
}

/* Pairs the list with a reading that began after it, if memory in use is the same as before the
 * list. Then it did not change while the list was read, or returned to the same value. */
static void pair_with_list(
    struct gpu_feed *feed, uint32_t device, int64_t start_ns, double ram_bytes)
{
    if (!feed->is_unpaired[device] || start_ns < feed->processes_ns)
        return;
    feed->is_unpaired[device] = false;
    double before = feed->ram_before_list[device];
    if (!(fabs(ram_bytes - before) < GPU_MIN_MOVE_BYTES))
        return;
    feed->paired_version[device] = feed->processes_version;
    feed->paired_ram_bytes[device] = ram_bytes < before ? ram_bytes : before;
}

/* Requests a list of processes when a device's memory in use has changed since the last one, or was
 * not known then. */
static void watch_memory(struct gpu_feed *feed, uint32_t device, double ram_bytes)
{
    bool is_same = fabs(ram_bytes - feed->ram_before_list[device]) < GPU_MIN_MOVE_BYTES;
    if (feed->memory_moved || is_same || isnan(ram_bytes))
        return;
    feed->memory_moved = true;
    feed->moved_version = feed->lists_started + 1;
    pthread_cond_signal(&feed->wake_lists);
}

void feed_read_devices(struct gpu_feed *feed)
{
    uint64_t asked = feed->devices_asked;
    bool whole = feed->synchronous || feed->devices_whole;
    feed->devices_whole = false;
    for (uint32_t i = 0; i < feed->n_devices && !feed->closing; i++) {
        struct gpu_device_reading reading;
        bool is_read = !feed->skipped[i];
        gpu_device_reading_clear(&reading, is_read ? NULL : feed->why_skipped);
        pthread_mutex_unlock(&feed->lock);
        int64_t start_ns = clock_monotonic_ns();
        if (is_read)
            feed->source->read_device(feed->state, i, whole, &reading);
        pthread_mutex_lock(&feed->lock);
        feed->readings[i] = reading;
        feed->read_ns[i] = clock_monotonic_ns();
        pair_with_list(feed, i, start_ns, reading.ram_used_bytes);
        watch_memory(feed, i, reading.ram_used_bytes);
    }
    feed->devices_answered = asked;
    feed->devices_unanswered_ns = clock_monotonic_ns();
    feed->devices_overdue = false;
    pthread_cond_broadcast(&feed->done);
}

/* When the next list may begin, after one that began then. */
static int64_t next_start_ns(const struct gpu_feed *feed, int64_t start_ns, int64_t min_pause_ns)
{
    int64_t paid_until_ns = feed->list_budget.paid_until_ns;
    return paid_until_ns > start_ns + min_pause_ns ? paid_until_ns : start_ns + min_pause_ns;
}

static void begin_list(struct gpu_feed *feed)
{
    feed->memory_moved = false;
    feed->lists_started++;
    for (uint32_t i = 0; i < feed->n_devices; i++)
        feed->ram_before_list[i] = feed->read_ns[i] ? feed->readings[i].ram_used_bytes : NAN;
    if (feed->asked_for.version != feed->tracked.version &&
        feed_pids_set(&feed->asked_for, feed->tracked.pids, feed->tracked.count))
        feed->asked_for.version = feed->tracked.version;
}

void feed_read_processes(struct gpu_feed *feed)
{
    uint64_t asked = feed->processes_asked;
    bool whole = feed->synchronous || feed->list_whole;
    feed->list_whole = false;
    begin_list(feed);
    struct gpu_tracked tracked = {feed->asked_for.pids, feed->asked_for.count};
    pthread_mutex_unlock(&feed->lock);
    int64_t before = clock_monotonic_ns();
    gpu_process_list_clear(&feed->scratch);
    feed->source->read_processes(feed->state, &tracked, whole, &feed->scratch);
    gpu_process_list_sort(&feed->scratch);
    gpu_process_list_set_tracked(&feed->scratch, tracked.pids, tracked.count);
    int64_t after = clock_monotonic_ns();
    pthread_mutex_lock(&feed->lock);
    struct gpu_process_list old = feed->processes;
    feed->processes = feed->scratch;
    feed->scratch = old;
    feed->processes_ns = after;
    feed->processes_start_ns = before;
    feed->processes_version++;
    feed->processes_answered = asked;
    feed->list_overdue = feed->moved_list_overdue = false;
    memcpy(feed->list_ram_bytes, feed->ram_before_list,
        feed->n_devices * sizeof *feed->list_ram_bytes);
    memset(feed->is_unpaired, true, feed->n_devices * sizeof *feed->is_unpaired);
    list_budget_spend(&feed->list_budget, before, after - before);
    feed->next_list_ns = next_start_ns(feed, before, MIN_PAUSE_NS);
    feed->next_list_after_move_ns = next_start_ns(feed, before, MIN_PAUSE_AFTER_MOVE_NS);
    pthread_cond_broadcast(&feed->done);
}

/* The end of a thread, with the lock held: the last one closes the source. */
static void *leave(struct gpu_feed *feed)
{
    if (--feed->workers == 0 && feed->closing) {
        void *state = feed->state;
        feed->state = NULL;
        pthread_mutex_unlock(&feed->lock);
        feed->source->close(state);
        pthread_mutex_lock(&feed->lock);
    }
    bool last = --feed->references == 0;
    pthread_cond_broadcast(&feed->done);
    pthread_mutex_unlock(&feed->lock);
    if (last)
        feed_destroy(feed);
    return NULL;
}

int64_t feed_list_due_ns(const struct gpu_feed *feed)
{
    if (feed->processes_answered < feed->list_requested)
        return 0;
    if (feed->memory_moved)
        return feed->next_list_after_move_ns;
    return feed->processes_answered == feed->processes_asked ? INT64_MAX : feed->next_list_ns;
}

static void *process_thread(void *argument)
{
    struct gpu_feed *feed = argument;
    pthread_mutex_lock(&feed->lock);
    while (!feed->closing) {
        int64_t due_ns = feed_list_due_ns(feed);
        if (due_ns == INT64_MAX) {
            pthread_cond_wait(&feed->wake_lists, &feed->lock);
        } else if (clock_monotonic_ns() < due_ns) {
            struct timespec until = clock_timespec_of_ns(due_ns);
            pthread_cond_timedwait(&feed->wake_lists, &feed->lock, &until);
        } else {
            feed_read_processes(feed);
        }
    }
    return leave(feed);
}

static bool start_thread(struct gpu_feed *feed, void *(*run)(void *))
{
    bool started = thread_start(NULL, STACK_BYTES, run, feed) == 0;
    if (started) {
        feed->references++;
        feed->workers++;
    }
    return started;
}

static void mark_lists_missing(struct gpu_feed *feed)
{
    for (uint32_t i = 0; i < GPU_MAX_DEVICES; i++)
        feed->processes.ram_missing[i] = feed->processes.sm_missing[i] =
            "no thread could be started to list processes";
    feed->processes_version++;
    feed->processes_ns = feed->processes_start_ns = clock_monotonic_ns();
    feed->processes_answered = UINT64_MAX;
}

static void *device_thread(void *argument)
{
    struct gpu_feed *feed = argument;
    pthread_mutex_lock(&feed->lock);
    while (!feed->closing && !feed->finished && !feed_open_source(feed)) {
        feed->devices_answered = feed->devices_asked;
        pthread_cond_broadcast(&feed->done);
        while (!feed->closing && !feed->finished && feed->devices_answered == feed->devices_asked)
            pthread_cond_wait(&feed->wake_devices, &feed->lock);
    }
    if (feed->opened && !feed->closing && !start_thread(feed, process_thread))
        mark_lists_missing(feed);
    while (!feed->closing && !feed->finished) {
        if (feed->devices_answered == feed->devices_asked)
            pthread_cond_wait(&feed->wake_devices, &feed->lock);
        else
            feed_read_devices(feed);
    }
    return leave(feed);
}

bool feed_start_worker(struct gpu_feed *feed)
{
    return start_thread(feed, device_thread);
}
