#include "machine/gpu/feed.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "machine/gpu/call_pace.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A driver that has not answered for so long is not waited for again before it does. */
#define OVERDUE_NS (NS_PER_SECOND / 10)
/* After that time in the driver a list is late: another thread goes on with the devices. */
#define LIST_DEADLINE_NS (NS_PER_SECOND / 50)
/* The least time from the start of a list to that of the next one, while the memory in use stays
 * the same. */
#define MIN_PAUSE_NS (NS_PER_SECOND / 10)
/* Drivers need a large stack; only touched pages take memory. */
#define STACK_BYTES (1024 * 1024)

struct pid_list {
    pid_t *pids; /* owned */
    size_t count, capacity;
};

/* The reading of a thread until it is published. */
struct reading {
    struct gpu_device_reading devices[GPU_MAX_DEVICES];
    int64_t read_ns[GPU_MAX_DEVICES];
    struct gpu_process_list list;
    struct pid_list tracked;
    double before_bytes[GPU_MAX_DEVICES]; /* in use before the list */
    int64_t start_ns, end_ns;             /* of the list */
    uint64_t list_request;                /* the last request that the list answers */
};

struct gpu_feed {
    const struct gpu_source *source;
    struct gpu_source_options options; /* its strings are owned */
    bool synchronous;
    void *state; /* of the source; closed by the last thread that ends */

    pthread_mutex_t lock; /* of all below; held only for copying */
    pthread_cond_t wake;  /* to the thread */
    pthread_cond_t done;  /* from it */
    unsigned n_threads;   /* one; while a list is late two */
    pid_t thread_id;      /* of the last that was started; 0: it did not run yet */
    pid_t ended_id;       /* of one that ends, and may not be gone yet; 0: none */
    bool is_left;         /* the last thread frees the feed */
    bool closing;
    bool finished; /* no more figures will come */

    uint64_t asked, answered;           /* requests */
    uint64_t list_asked, list_answered; /* of `asked`: the last that was for a list */
    enum gpu_feed_request wanted;       /* the most that the next reading is to have */
    int64_t unanswered_ns;              /* since when a request has waited for its answer */
    bool is_overdue; /* a wait timed out after a tenth of a second, and no answer came since */
    bool is_list_overdue;
    bool skipped[GPU_MAX_DEVICES];
    const char *why_skipped;
    struct pid_list tracked;

    int64_t list_deadline_ns;  /* of the list that is being read; 0: none is */
    bool is_list_late;         /* it is, and its thread was replaced */
    struct reading *late_list; /* it came, and is to be published; owned */
    uint64_t taken_version;    /* of the list as of the last update */
    struct list_budget budget;
    struct gpu_feed_view *latest; /* owned; NULL: the source is absent */
};

void gpu_feed_view_finish(struct gpu_feed_view *view)
{
    gpu_process_list_finish(&view->processes);
}

/* Replaces a list of pids. False without memory: it stays as it was. */
static bool copy_pids(struct pid_list *list, const pid_t *pids, size_t count)
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

static void reading_free(struct reading *reading)
{
    if (!reading)
        return;
    gpu_process_list_finish(&reading->list);
    free(reading->tracked.pids);
    free(reading);
}

/* Frees a feed that no thread uses. */
static void destroy(struct gpu_feed *feed)
{
    if (feed->state)
        feed->source->close(feed->state);
    if (feed->latest)
        gpu_process_list_finish(&feed->latest->processes);
    free(feed->latest);
    reading_free(feed->late_list);
    free(feed->tracked.pids);
    free((char *)feed->options.procfs_root);
    free((char *)feed->options.sysfs_root);
    free((char *)feed->options.nvml_path);
    pthread_mutex_destroy(&feed->lock);
    pthread_cond_destroy(&feed->wake);
    pthread_cond_destroy(&feed->done);
    free(feed);
}

struct gpu_feed *gpu_feed_create(const struct gpu_source *source,
    const struct gpu_source_options *options, bool synchronous, struct gpu_source_status *status)
{
    *status = (struct gpu_source_status){.name = source->name};
    struct gpu_feed *feed = calloc(1, sizeof *feed);
    if (!feed)
        return NULL;
    pthread_mutex_init(&feed->lock, NULL);
    thread_condition_init(&feed->wake);
    thread_condition_init(&feed->done);
    feed->source = source;
    feed->synchronous = synchronous;
    struct gpu_source_options *to = &feed->options;
    *to = *options;
    to->procfs_root = strdup(options->procfs_root);
    to->sysfs_root = strdup(options->sysfs_root);
    to->nvml_path = options->nvml_path ? strdup(options->nvml_path) : NULL;
    bool has_memory = to->procfs_root && to->sysfs_root && (to->nvml_path || !options->nvml_path);
    if (has_memory)
        feed->state = source->probe(&feed->options, status);
    /* The state of GPUs takes 200 kB. Most machines need it for at most one source. */
    bool is_absent = has_memory && !feed->state && status->state == GPU_SOURCE_ABSENT;
    feed->latest = has_memory && !is_absent ? calloc(1, sizeof *feed->latest) : NULL;
    struct gpu_feed_view *latest = feed->latest;
    if (!latest) {
        destroy(feed);
        return NULL;
    }
    latest->status = *status;
    feed->finished = !feed->state;
    if (feed->state) {
        latest->opening = true;
        latest->n_devices = source->list_devices(feed->state, latest->devices, GPU_MAX_DEVICES);
        latest->devices_version = latest->n_devices > 0;
    }
    return feed;
}

/* ---- the driver's side: begins and ends with the lock held, which is released during calls ----
 */

/* Opens the driver without the lock, which may take seconds, and publishes its devices. Returns
 * whether there are any to read. */
static bool open_source(struct gpu_feed *feed)
{
    struct gpu_feed_view *latest = feed->latest;
    struct gpu_source_status status = latest->status;
    pthread_mutex_unlock(&feed->lock);
    CLEANUP_FREE struct gpu_device *devices = calloc(GPU_MAX_DEVICES, sizeof *devices);
    bool opened = false;
    uint32_t count = 0;
    if (devices)
        opened = feed->source->open(feed->state, &status);
    else
        gpu_source_status_set(&status, GPU_SOURCE_FAILED, "", "out of memory");
    if (opened)
        count = feed->source->list_devices(feed->state, devices, GPU_MAX_DEVICES);
    pthread_mutex_lock(&feed->lock);
    latest->status = status;
    latest->opening = false;
    if (opened) {
        latest->status.n_devices = count;
        latest->opened = true;
        memcpy(latest->devices, devices, count * sizeof *devices);
        latest->n_devices = count;
        latest->devices_version++;
    } else if (status.state != GPU_SOURCE_SUSPENDED) {
        feed->finished = true;
    }
    return opened;
}

/* Reads the figures of all devices without the lock. Those that nobody wants are skipped. */
static void read_devices(struct gpu_feed *feed, struct reading *reading, bool whole)
{
    bool skipped[GPU_MAX_DEVICES];
    const char *why_skipped = feed->why_skipped;
    uint32_t n_devices = feed->latest->n_devices;
    memcpy(skipped, feed->skipped, sizeof skipped);
    pthread_mutex_unlock(&feed->lock);
    for (uint32_t i = 0; i < n_devices; i++) {
        struct gpu_device_reading *device = &reading->devices[i];
        gpu_device_reading_clear(device, skipped[i] ? why_skipped : NULL);
        if (!skipped[i])
            feed->source->read_device(feed->state, i, whole, device);
        reading->read_ns[i] = clock_monotonic_ns();
    }
    pthread_mutex_lock(&feed->lock);
}

/* Whether a list is due: after a pause, or when a device's memory in use has changed since the last
 * list or was not known then; as long as lists do not take too much of the time, and the last one
 * was taken. */
static bool is_list_due(const struct gpu_feed *feed, const struct reading *reading)
{
    const struct gpu_feed_view *latest = feed->latest;
    int64_t now_ns = clock_monotonic_ns();
    bool is_due = now_ns >= latest->processes_start_ns + MIN_PAUSE_NS;
    for (uint32_t i = 0; i < latest->n_devices; i++) {
        double in_use = reading->devices[i].ram_used_bytes;
        bool is_same = fabs(in_use - latest->list_ram_bytes[i]) < GPU_MIN_MOVE_BYTES;
        is_due |= !isnan(in_use) && !is_same;
    }
    bool is_taken = latest->processes_version == feed->taken_version;
    return !latest->processes_version ||
           (is_due && is_taken && now_ns >= feed->budget.paid_until_ns);
}

/* Lists the processes after the devices were read, then reads the memory in use once more. False:
 * the list came late, so that another thread reads by now, which will publish it. */
static bool read_list(struct gpu_feed *feed, struct reading *reading, bool whole)
{
    uint32_t n_devices = feed->latest->n_devices;
    const struct gpu_source *source = feed->source;
    if (!copy_pids(&reading->tracked, feed->tracked.pids, feed->tracked.count))
        reading->tracked.count = 0;
    const struct gpu_tracked tracked = {reading->tracked.pids, reading->tracked.count};
    reading->list_request = feed->asked;
    reading->start_ns = clock_monotonic_ns();
    feed->list_deadline_ns = reading->start_ns + LIST_DEADLINE_NS;
    pthread_mutex_unlock(&feed->lock);
    for (uint32_t i = 0; i < n_devices; i++)
        reading->before_bytes[i] = reading->devices[i].ram_used_bytes;
    gpu_process_list_clear(&reading->list);
    source->read_processes(feed->state, &tracked, whole, &reading->list);
    gpu_process_list_sort(&reading->list);
    gpu_process_list_set_tracked(&reading->list, tracked.pids, tracked.count);
    reading->end_ns = clock_monotonic_ns();

    pthread_mutex_lock(&feed->lock);
    list_budget_spend(&feed->budget, reading->start_ns, reading->end_ns - reading->start_ns);
    feed->list_deadline_ns = 0;
    if (feed->is_list_late) {
        feed->is_list_late = false;
        feed->late_list = reading;
        pthread_cond_signal(&feed->wake);
        return false;
    }
    pthread_mutex_unlock(&feed->lock);
    for (uint32_t i = 0; i < n_devices && source->read_ram; i++) {
        if (isnan(reading->devices[i].ram_used_bytes))
            continue;
        source->read_ram(feed->state, i, &reading->devices[i]);
        reading->read_ns[i] = clock_monotonic_ns();
    }
    pthread_mutex_lock(&feed->lock);
    return true;
}

/* Publishes the list of `from`. */
static void publish_list(struct gpu_feed *feed, struct reading *from)
{
    struct gpu_feed_view *latest = feed->latest;
    struct gpu_process_list old = latest->processes;
    latest->processes = from->list;
    from->list = old;
    latest->processes_version++;
    latest->processes_start_ns = from->start_ns;
    latest->processes_ns = from->end_ns;
    feed->list_answered = from->list_request;
    feed->is_list_overdue = false;
}

/* Answers what was requested so far. False: another thread does. */
static bool answer(struct gpu_feed *feed, struct reading *reading)
{
    struct gpu_feed_view *latest = feed->latest;
    uint64_t asked = feed->asked;
    enum gpu_feed_request wanted = feed->wanted;
    bool whole = feed->synchronous || wanted == GPU_FEED_ALL;
    feed->wanted = GPU_FEED_FIGURES; /* what is requested meanwhile is for the next reading */
    struct reading *listed = feed->late_list;
    feed->late_list = NULL;
    read_devices(feed, reading, whole);
    if (!listed && !feed->is_list_late && !feed->closing &&
        (feed->synchronous || wanted != GPU_FEED_FIGURES || is_list_due(feed, reading))) {
        if (!read_list(feed, reading, whole))
            return false;
        listed = reading;
    } else if (wanted > feed->wanted) {
        feed->wanted = wanted;
    }
    for (uint32_t i = 0; listed && i < latest->n_devices; i++) {
        double before = listed->before_bytes[i], after = reading->devices[i].ram_used_bytes;
        bool is_same = fabs(after - before) < GPU_MIN_MOVE_BYTES;
        latest->list_ram_bytes[i] = is_same ? fmin(before, after) : NAN;
        /* Where the memory in use has changed meanwhile, the reading has the most of it. */
        if (listed == reading)
            reading->devices[i].ram_used_bytes = fmax(before, after);
    }
    for (uint32_t i = 0; i < latest->n_devices; i++)
        latest->max_ram_bytes[i] =
            fmax(latest->max_ram_bytes[i], reading->devices[i].ram_used_bytes);
    memcpy(latest->readings, reading->devices, latest->n_devices * sizeof *reading->devices);
    memcpy(latest->read_ns, reading->read_ns, latest->n_devices * sizeof *reading->read_ns);
    if (listed)
        publish_list(feed, listed);
    if (listed != reading)
        reading_free(listed);
    feed->answered = asked;
    feed->unanswered_ns = clock_monotonic_ns();
    feed->is_overdue = false;
    pthread_cond_broadcast(&feed->done);
    return true;
}

/* Runs the thread of a feed: it opens the driver when it is first asked, then answers one request
 * after the other until the feed is closed. */
static void *answer_requests(void *argument)
{
    struct gpu_feed *feed = argument;
    struct reading *reading = calloc(1, sizeof *reading);
    prctl(PR_SET_NAME, "gpu-tracker");
    pthread_mutex_lock(&feed->lock);
    feed->thread_id = (pid_t)syscall(SYS_gettid); /* glibc has gettid() since 2.30 only */
    if (!reading) {
        feed->finished = true;
        gpu_source_status_set(&feed->latest->status, GPU_SOURCE_FAILED, "", "out of memory");
    }
    while (!feed->closing && !feed->finished) {
        /* A list that was requested while an earlier one was late is read once that has come. */
        bool lacks_list =
            feed->latest->opened && feed->wanted != GPU_FEED_FIGURES && !feed->is_list_late;
        if (feed->answered == feed->asked && !feed->late_list && !lacks_list) {
            pthread_cond_wait(&feed->wake, &feed->lock);
        } else if (!feed->latest->opened && !open_source(feed)) {
            feed->answered = feed->asked;
            pthread_cond_broadcast(&feed->done);
        } else if (!answer(feed, reading)) {
            reading = NULL; /* the feed's by now */
            break;
        }
    }

    /* The last thread closes the source, which may take long. */
    if (feed->n_threads == 1 && feed->closing) {
        void *state = feed->state;
        feed->state = NULL;
        pthread_mutex_unlock(&feed->lock);
        feed->source->close(state);
        pthread_mutex_lock(&feed->lock);
    }
    reading_free(reading); /* before the end is announced: the process may exit then */
    feed->ended_id = (pid_t)syscall(SYS_gettid);
    bool is_owner = --feed->n_threads == 0 && feed->is_left;
    pthread_cond_broadcast(&feed->done);
    pthread_mutex_unlock(&feed->lock);
    if (is_owner)
        destroy(feed);

    return NULL;
}

static bool start_thread(struct gpu_feed *feed)
{
    bool started = thread_start(NULL, STACK_BYTES, answer_requests, feed) == 0;
    feed->n_threads += started;
    return started;
}

static void answer_synchronously(struct gpu_feed *feed)
{
    struct reading *reading = calloc(1, sizeof *reading);
    if (reading && (feed->latest->opened || open_source(feed)))
        answer(feed, reading);
    reading_free(reading);
}

/* ---- the reader's side ---- */

void gpu_feed_start(struct gpu_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    if (!feed->finished) {
        feed->asked = feed->list_asked = 1;
        feed->wanted = GPU_FEED_ALL;
        if (feed->synchronous) {
            answer_synchronously(feed);
        } else if (!start_thread(feed)) {
            feed->finished = true;
            feed->latest->opening = false;
            gpu_source_status_set(
                &feed->latest->status, GPU_SOURCE_FAILED, "", "no thread could be started for it");
        }
    }
    pthread_mutex_unlock(&feed->lock);
}

unsigned gpu_feed_threads(struct gpu_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    unsigned n_threads = feed->n_threads;
    if (feed->ended_id && syscall(SYS_tgkill, getpid(), feed->ended_id, 0) == 0)
        n_threads++;
    else
        feed->ended_id = 0;
    pthread_mutex_unlock(&feed->lock);
    return n_threads;
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
    pthread_mutex_lock(&feed->lock);
    if (!feed->finished)
        copy_pids(&feed->tracked, pids, count);
    pthread_mutex_unlock(&feed->lock);
}

/* Replaces a thread that has been in a list for too long. Where no thread can be started, that is
 * tried again after as long. */
static void replace_late_thread(struct gpu_feed *feed)
{
    int64_t now_ns = clock_monotonic_ns();
    if (!feed->list_deadline_ns || now_ns < feed->list_deadline_ns || feed->is_list_late ||
        feed->closing)
        return;
    feed->is_list_late = start_thread(feed);
    feed->list_deadline_ns = now_ns + LIST_DEADLINE_NS;
}

void gpu_feed_request(struct gpu_feed *feed, enum gpu_feed_request what)
{
    pthread_mutex_lock(&feed->lock);
    if (!feed->finished) {
        if (feed->asked++ == feed->answered)
            feed->unanswered_ns = clock_monotonic_ns();
        if (what > feed->wanted)
            feed->wanted = what;
        if (what != GPU_FEED_FIGURES)
            feed->list_asked = feed->asked;
        if (feed->synchronous)
            answer_synchronously(feed);
        pthread_cond_signal(&feed->wake);
        replace_late_thread(feed);
    }
    pthread_mutex_unlock(&feed->lock);
}

void gpu_feed_update(struct gpu_feed *feed, struct gpu_feed_view *view)
{
    /* Held for copying alone. A view that stayed as it was would be one without GPUs at first, and
     * later one from before the list that was waited for. */
    pthread_mutex_lock(&feed->lock);
    struct gpu_feed_view *latest = feed->latest;
    uint32_t count = latest->n_devices;
    view->status = latest->status;
    view->opening = latest->opening;
    view->opened = latest->opened;
    if (view->devices_version != latest->devices_version) {
        memcpy(view->devices, latest->devices, count * sizeof *latest->devices);
        view->devices_version = latest->devices_version;
        view->n_devices = count;
    }
    memcpy(view->readings, latest->readings, count * sizeof *latest->readings);
    memcpy(view->read_ns, latest->read_ns, count * sizeof *latest->read_ns);
    for (uint32_t i = 0; i < count; i++) {
        view->max_ram_bytes[i] = fmax(view->max_ram_bytes[i], latest->max_ram_bytes[i]);
        latest->max_ram_bytes[i] = 0;
    }
    if (view->processes_version != latest->processes_version &&
        gpu_process_list_copy(&view->processes, &latest->processes)) {
        view->processes_version = latest->processes_version;
        view->processes_ns = latest->processes_ns;
        view->processes_start_ns = latest->processes_start_ns;
        memcpy(view->list_ram_bytes, latest->list_ram_bytes, sizeof view->list_ram_bytes);
    }
    feed->taken_version = latest->processes_version;
    pthread_mutex_unlock(&feed->lock);
}

/* Waits for news of the threads, and keeps the deadline of a list. False after `deadline_ns`. */
static bool await_news(struct gpu_feed *feed, int64_t deadline_ns)
{
    int64_t now_ns = clock_monotonic_ns(), until_ns = now_ns + LIST_DEADLINE_NS;
    if (now_ns >= deadline_ns)
        return false;
    if (feed->list_deadline_ns && !feed->is_list_late)
        until_ns = feed->list_deadline_ns;
    struct timespec until = clock_timespec_of_ns(until_ns < deadline_ns ? until_ns : deadline_ns);
    pthread_cond_timedwait(&feed->done, &feed->lock, &until);
    replace_late_thread(feed);
    return true;
}

void gpu_feed_await(struct gpu_feed *feed, int64_t deadline_ns)
{
    bool in_time = true;
    pthread_mutex_lock(&feed->lock);
    while (in_time && feed->latest->opened && !feed->finished && feed->answered < feed->asked &&
           !feed->is_overdue)
        in_time = await_news(feed, deadline_ns);
    if (!in_time)
        feed->is_overdue = clock_monotonic_ns() - feed->unanswered_ns >= OVERDUE_NS;
    pthread_mutex_unlock(&feed->lock);
}

void gpu_feed_await_list(struct gpu_feed *feed, int64_t deadline_ns)
{
    bool in_time = true;
    pthread_mutex_lock(&feed->lock);
    while (in_time && feed->latest->opened && !feed->finished &&
           feed->list_answered < feed->list_asked && !feed->is_list_overdue)
        in_time = await_news(feed, deadline_ns);
    feed->is_list_overdue |= !in_time;
    pthread_mutex_unlock(&feed->lock);
}

static bool has_answered(const struct gpu_feed *feed)
{
    if (feed->finished)
        return true;
    if (feed->latest->opening || feed->answered < feed->asked)
        return false;
    return !feed->latest->opened || feed->list_answered >= feed->list_asked;
}

bool gpu_feed_await_all(struct gpu_feed *feed, int64_t deadline_ns)
{
    bool in_time = true;
    pthread_mutex_lock(&feed->lock);
    while (in_time && !has_answered(feed) && !feed->synchronous)
        in_time = await_news(feed, deadline_ns);
    bool answered = has_answered(feed);
    if (!in_time)
        feed->is_list_overdue = feed->list_answered < feed->list_asked;
    pthread_mutex_unlock(&feed->lock);
    return answered;
}

void gpu_feed_stop(struct gpu_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    feed->closing = true;
    pthread_cond_broadcast(&feed->wake);
    pthread_mutex_unlock(&feed->lock);
}

pid_t gpu_feed_close(struct gpu_feed *feed, int64_t deadline_ns)
{
    struct timespec until = clock_timespec_of_ns(deadline_ns);
    bool in_time = true;
    gpu_feed_stop(feed);
    pthread_mutex_lock(&feed->lock);
    while (feed->n_threads > 0 && in_time)
        in_time = pthread_cond_timedwait(&feed->done, &feed->lock, &until) == 0;
    feed->is_left = feed->n_threads > 0;
    bool is_owner = !feed->is_left;
    pid_t thread_id = feed->thread_id;
    pthread_mutex_unlock(&feed->lock);
    if (is_owner)
        destroy(feed);
    return thread_id;
}
