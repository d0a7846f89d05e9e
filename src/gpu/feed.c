#include "gpu/feed.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/thread.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Bounds of the pause after a list of processes; the shorter minimum applies after a change of
 * memory. */
#define MIN_PAUSE_NS (NS_PER_SECOND / 10)
#define MIN_PAUSE_AFTER_MOVE_NS (NS_PER_SECOND / 200)
#define MAX_USUAL_PAUSE_NS NS_PER_SECOND
#define PAUSE_PER_COST 20
#define PAUSE_PER_HIGH_COST 2

/* Drivers need a large stack; only touched pages take memory. */
#define STACK_BYTES (1024 * 1024)

struct gpu_feed {
    const struct gpu_source *source;
    struct gpu_source_options options; /* its strings are owned */
    bool synchronous;
    void *state; /* of the source; closed by the last thread that ends */

    pthread_mutex_t lock;                    /* of all below; held only for copying */
    pthread_cond_t wake_devices, wake_lists; /* to the threads */
    pthread_cond_t done;                     /* from the threads */
    unsigned references;                     /* one of the reader, one of each thread */
    unsigned workers;                        /* threads that have not ended */
    bool closing;
    bool finished; /* no more figures will come */

    struct gpu_source_status status;
    bool opening, opened;
    uint64_t devices_version;
    uint32_t n_devices;
    struct gpu_device *devices;          /* GPU_MAX_DEVICES; owned; NULL without `state` */
    struct gpu_device_reading *readings; /* the same */
    int64_t read_ns[GPU_MAX_DEVICES];
    bool skipped[GPU_MAX_DEVICES];
    const char *why_skipped;
    uint64_t devices_asked, devices_answered;
    bool devices_overdue; /* the last wait timed out, and no answer came since */

    struct gpu_process_list processes;
    uint64_t processes_version;
    int64_t processes_ns, processes_begun_ns;
    uint64_t processes_asked, processes_answered;
    uint64_t list_requested; /* processes_asked as of the last request for a list at once */
    bool list_overdue;       /* like devices_overdue, of that list */
    bool moved_list_overdue; /* the same of the list that follows a change of memory */
    bool memory_moved;       /* since the current list, or the one being read */
    uint64_t lists_begun;
    uint64_t moved_version; /* the number of the list that follows the last change of memory */
    int64_t next_list_ns;   /* not before then; */
    int64_t next_list_after_move_ns;
    double ram_before_list[GPU_MAX_DEVICES]; /* in use when reading the last list began; NaN:
                                                unknown */
    bool is_unpaired[GPU_MAX_DEVICES];       /* no reading has followed the current list */
    uint64_t paired_version[GPU_MAX_DEVICES];
    double paired_ram_bytes[GPU_MAX_DEVICES];
    struct pid_list {
        pid_t *pids; /* owned */
        size_t count, capacity;
        uint64_t version;
    } tracked;

    /* Used only by the thread that reads processes. */
    struct gpu_process_list scratch;
    struct pid_list asked_for;
};

void gpu_feed_view_finish(struct gpu_feed_view *view)
{
    gpu_process_list_finish(&view->processes);
}

static bool pid_list_set(struct pid_list *list, const pid_t *pids, size_t count)
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

static void destroy(struct gpu_feed *feed)
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
    destroy(feed);
    return NULL;
}

/* Calls open() with the lock released; true when the source is open. */
static bool open_source(struct gpu_feed *feed)
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

/* Pairs a reading that began after the list with it when memory in use is the same as before the
 * list: then it did not change while the list was read, or returned to the same value. */
static void pair_with_list(
    struct gpu_feed *feed, uint32_t device, int64_t begun_ns, double ram_bytes)
{
    if (!feed->is_unpaired[device] || begun_ns < feed->processes_ns)
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
    feed->moved_version = feed->lists_begun + 1;
    pthread_cond_signal(&feed->wake_lists);
}

/* Reads each device with the lock released, and publishes each as it comes. */
static void read_devices(struct gpu_feed *feed)
{
    uint64_t asked = feed->devices_asked;
    for (uint32_t i = 0; i < feed->n_devices && !feed->closing; i++) {
        struct gpu_device_reading reading;
        bool is_read = !feed->skipped[i];
        gpu_device_reading_clear(&reading, is_read ? NULL : feed->why_skipped);
        pthread_mutex_unlock(&feed->lock);
        int64_t begun_ns = clock_monotonic_ns();
        if (is_read)
            feed->source->read_device(feed->state, i, &reading);
        pthread_mutex_lock(&feed->lock);
        feed->readings[i] = reading;
        feed->read_ns[i] = clock_monotonic_ns();
        pair_with_list(feed, i, begun_ns, reading.ram_used_bytes);
        watch_memory(feed, i, reading.ram_used_bytes);
    }
    feed->devices_answered = asked;
    feed->devices_overdue = false;
    pthread_cond_broadcast(&feed->done);
}

/* The start of the next list, by the cost of this one. */
static int64_t next_start_ns(int64_t begun_ns, int64_t cost_ns, int64_t min_pause_ns)
{
    int64_t pause = PAUSE_PER_COST * cost_ns;
    if (pause < min_pause_ns)
        pause = min_pause_ns;
    if (pause > MAX_USUAL_PAUSE_NS)
        pause = MAX_USUAL_PAUSE_NS;
    if (pause < PAUSE_PER_HIGH_COST * cost_ns)
        pause = PAUSE_PER_HIGH_COST * cost_ns;
    return begun_ns + pause;
}

static void begin_list(struct gpu_feed *feed)
{
    feed->memory_moved = false;
    feed->lists_begun++;
    for (uint32_t i = 0; i < feed->n_devices; i++)
        feed->ram_before_list[i] = feed->read_ns[i] ? feed->readings[i].ram_used_bytes : NAN;
    if (feed->asked_for.version != feed->tracked.version &&
        pid_list_set(&feed->asked_for, feed->tracked.pids, feed->tracked.count))
        feed->asked_for.version = feed->tracked.version;
}

/* Lists the processes with the lock released. */
static void read_processes(struct gpu_feed *feed)
{
    uint64_t asked = feed->processes_asked;
    begin_list(feed);
    struct gpu_tracked tracked = {feed->asked_for.pids, feed->asked_for.count};
    pthread_mutex_unlock(&feed->lock);
    int64_t before = clock_monotonic_ns();
    gpu_process_list_clear(&feed->scratch);
    feed->source->read_processes(feed->state, &tracked, &feed->scratch);
    gpu_process_list_sort(&feed->scratch);
    gpu_process_list_set_tracked(&feed->scratch, tracked.pids, tracked.count);
    int64_t after = clock_monotonic_ns();
    pthread_mutex_lock(&feed->lock);
    struct gpu_process_list old = feed->processes;
    feed->processes = feed->scratch;
    feed->scratch = old;
    feed->processes_ns = after;
    feed->processes_begun_ns = before;
    feed->processes_version++;
    feed->processes_answered = asked;
    feed->list_overdue = feed->moved_list_overdue = false;
    memset(feed->is_unpaired, true, feed->n_devices * sizeof *feed->is_unpaired);
    feed->next_list_ns = next_start_ns(before, after - before, MIN_PAUSE_NS);
    feed->next_list_after_move_ns = next_start_ns(before, after - before, MIN_PAUSE_AFTER_MOVE_NS);
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
        destroy(feed);
    return NULL;
}

/* When the next list is due; INT64_MAX: on request only. */
static int64_t list_due_ns(const struct gpu_feed *feed)
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
        int64_t due_ns = list_due_ns(feed);
        if (due_ns == INT64_MAX) {
            pthread_cond_wait(&feed->wake_lists, &feed->lock);
        } else if (clock_monotonic_ns() < due_ns) {
            struct timespec until = clock_timespec_of_ns(due_ns);
            pthread_cond_timedwait(&feed->wake_lists, &feed->lock, &until);
        } else {
            read_processes(feed);
        }
    }
    return leave(feed);
}

static bool start_thread(struct gpu_feed *feed, void *(*run)(void *))
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    bool started = thread_start(&thread, &attributes, run, feed) == 0;
    pthread_attr_destroy(&attributes);
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
    feed->processes_ns = feed->processes_begun_ns = clock_monotonic_ns();
    feed->processes_answered = UINT64_MAX;
}

static void *device_thread(void *argument)
{
    struct gpu_feed *feed = argument;
    pthread_mutex_lock(&feed->lock);
    while (!feed->closing && !feed->finished && !open_source(feed)) {
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
            read_devices(feed);
    }
    return leave(feed);
}

void gpu_feed_start(struct gpu_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    if (!feed->finished) {
        feed->devices_asked = feed->processes_asked = 1;
        if (feed->synchronous) {
            if (open_source(feed)) {
                read_devices(feed);
                read_processes(feed);
            }
        } else if (!start_thread(feed, device_thread)) {
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
    if (!feed->finished && pid_list_set(&feed->tracked, pids, count)) {
        feed->tracked.version++;
        ask_for_list(feed);
    }
    pthread_mutex_unlock(&feed->lock);
}

void gpu_feed_request(struct gpu_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    if (!feed->finished) {
        feed->devices_asked++;
        ask_for_list(feed);
        if (!feed->synchronous) {
            pthread_cond_signal(&feed->wake_devices);
        } else if (feed->opened || open_source(feed)) {
            read_devices(feed);
            read_processes(feed);
        }
    }
    pthread_mutex_unlock(&feed->lock);
}

void gpu_feed_request_list(struct gpu_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    if (!feed->finished && !feed->synchronous) {
        ask_for_list(feed);
        feed->list_requested = feed->processes_asked;
        pthread_cond_signal(&feed->wake_lists);
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
        view->processes_begun_ns = feed->processes_begun_ns;
    }
    pthread_mutex_unlock(&feed->lock);
}

/* With the lock held. */
static bool is_settled(const struct gpu_feed *feed)
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
    while (!is_settled(feed) && in_time && !feed->synchronous)
        in_time = pthread_cond_timedwait(&feed->done, &feed->lock, &until) == 0;
    bool settled = is_settled(feed);
    if (!in_time)
        feed->list_overdue = feed->processes_answered < feed->processes_asked;
    pthread_mutex_unlock(&feed->lock);
    return settled;
}

void gpu_feed_await_devices(struct gpu_feed *feed, int64_t deadline_ns)
{
    struct timespec until = clock_timespec_of_ns(deadline_ns);
    pthread_mutex_lock(&feed->lock);
    while (feed->opened && !feed->finished && feed->devices_answered < feed->devices_asked &&
           !feed->devices_overdue)
        feed->devices_overdue = pthread_cond_timedwait(&feed->done, &feed->lock, &until) != 0;
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
    bool is_due = !feed->memory_moved || list_due_ns(feed) < deadline_ns;
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
        destroy(feed);
}
