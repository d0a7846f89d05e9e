#include "session/sinks/sink_writer.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* Items are written this long after the last ones, unless half of the queue is full. */
#define REST_NS (NS_PER_SECOND / 5)
#define MAX_WARNINGS 4

struct items {
    char *bytes; /* owned */
    size_t count, capacity;
};

struct sink_writer {
    const struct sink_writer_job *job;
    void *output; /* NULL: none, or completed */
    unsigned timeout_seconds;
    bool has_thread;
    pthread_t thread;
    _Atomic int64_t cpu_ns;
    _Atomic uint64_t rows_lost;
    atomic_uint n_warnings;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;  /* the thread */
    pthread_cond_t done;  /* those that wait for it */
    struct items waiting;
    bool is_idle; /* the thread waits for items */
    bool is_inside;
    bool is_draining, is_ending, has_ended;
    bool is_stuck;      /* it was waited for in vain */
    bool is_left;       /* its thread frees it */
    uint64_t completed; /* items */
    struct sink_end end;
    struct session_counts counts;
    char *warnings[MAX_WARNINGS];
};

struct sink_writer *sink_writer_create(const struct sink_writer_job *job)
{
    struct sink_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    writer->job = job;
    writer->timeout_seconds = job->timeout_seconds;
    pthread_mutex_init(&writer->lock, NULL);
    if (thread_condition_init(&writer->wake) == 0) {
        if (thread_condition_init(&writer->done) == 0)
            return writer;
        pthread_cond_destroy(&writer->wake);
    }
    pthread_mutex_destroy(&writer->lock);
    free(writer);
    return NULL;
}

void sink_writer_set_output(struct sink_writer *writer, void *output)
{
    writer->output = output;
}

void sink_writer_set_timeout(struct sink_writer *writer, unsigned seconds)
{
    writer->timeout_seconds = seconds;
}

/* Frees the writer with its queue and warnings. */
static void free_writer(struct sink_writer *writer)
{
    for (size_t i = 0; i < MAX_WARNINGS; i++)
        free(writer->warnings[i]);
    free(writer->waiting.bytes);
    pthread_cond_destroy(&writer->wake);
    pthread_cond_destroy(&writer->done);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}

/* ---- its thread ---- */

static void end_output(struct sink_writer *writer)
{
    if (writer->output)
        writer->job->end(writer, writer->output, &writer->end);
    writer->output = NULL;
}

static void flush(struct sink_writer *writer)
{
    if (writer->job->flush)
        writer->job->flush(writer, writer->output);
}

static bool is_urgent(const struct sink_writer *writer)
{
    return writer->is_draining || writer->is_ending ||
           writer->waiting.count >= writer->job->max_items / 2;
}

static void rest(struct sink_writer *writer, int64_t until_ns)
{
    struct timespec until = clock_timespec_of_ns(until_ns);
    while (!is_urgent(writer) && clock_monotonic_ns() < until_ns)
        pthread_cond_timedwait(&writer->wake, &writer->lock, &until);
}

/* Writes items until the writer ends: the function of its thread. */
static void *run(void *user)
{
    struct sink_writer *writer = user;
    struct items items = {0};
    int64_t rest_until_ns = 0;
    bool came_soon = false;
    sigset_t fault;
    prctl(PR_SET_NAME, "gpu-tracker");
    sigemptyset(&fault);
    sigaddset(&fault, SIGBUS); /* of a mapped file that was cut: blocked, it ends the process */
    pthread_sigmask(SIG_UNBLOCK, &fault, NULL);
    pthread_mutex_lock(&writer->lock);
    while (writer->waiting.count > 0 || !writer->is_ending) {
        /* Wait until there is something to do, and then for more that may come soon. Where several
         * came at once, some will come while it rests, and need not wake it. */
        if (came_soon)
            rest(writer, rest_until_ns);
        writer->is_idle = true;
        while (writer->waiting.count == 0 && !is_urgent(writer))
            pthread_cond_wait(&writer->wake, &writer->lock);
        writer->is_idle = false;
        rest(writer, rest_until_ns);
        came_soon = writer->waiting.count > 1;
        /* Write the items; the lock is released meanwhile. */
        struct items taken = writer->waiting;
        writer->waiting = items;
        for (size_t i = 0; i < taken.count; i++) {
            pthread_mutex_unlock(&writer->lock);
            writer->job->write(writer, writer->output, taken.bytes + i * writer->job->item_size);
            if (i + 1 == taken.count)
                flush(writer);
            pthread_mutex_lock(&writer->lock);
            writer->completed++;
        }
        taken.count = 0;
        items = taken;
        atomic_store(&writer->cpu_ns, clock_thread_cpu_ns());
        rest_until_ns = clock_monotonic_ns() + REST_NS;
        if (writer->is_draining && writer->waiting.count == 0) {
            /* Tell the session that all items are written. */
            if (writer->is_inside)
                writer->counts = session_counts_of_thread();
            atomic_store(&writer->cpu_ns, clock_thread_cpu_ns());
            writer->is_draining = false;
            pthread_cond_signal(&writer->done);
        }
    }
    pthread_mutex_unlock(&writer->lock);
    free(items.bytes);
    end_output(writer);
    pthread_mutex_lock(&writer->lock);
    writer->has_ended = true;
    bool is_left = writer->is_left;
    pthread_cond_signal(&writer->done);
    pthread_mutex_unlock(&writer->lock);
    if (is_left)
        free_writer(writer);
    return NULL;
}

void sink_writer_start(struct sink_writer *writer, bool is_inside)
{
    if (writer->has_thread)
        return;
    writer->is_inside = is_inside;
    writer->has_thread = thread_start(&writer->thread, THREAD_STACK_BYTES, run, writer) == 0;
}

/* ---- the session's side ---- */

/* Space for one more item. */
static bool make_space(struct sink_writer *writer)
{
    struct items *items = &writer->waiting;
    size_t size = writer->job->item_size;
    return items->count < writer->job->max_items &&
           array_reserve(&items->bytes, items->count, &items->capacity, size);
}

/* Adds an item to the queue. False: there is no space. */
static bool put(struct sink_writer *writer, const void *item)
{
    struct items *items = &writer->waiting;
    if (!make_space(writer))
        return false;
    memcpy(items->bytes + items->count * writer->job->item_size, item, writer->job->item_size);
    items->count++;
    return true;
}

bool sink_writer_put(struct sink_writer *writer, const void *item)
{
    if (!writer->has_thread) {
        if (!make_space(writer))
            return false;
        struct file_limit limit;
        file_limit_block_signal(&limit);
        /* Items are the caller's, and theirs are written to. */
        memcpy(writer->waiting.bytes, item, writer->job->item_size);
        writer->job->write(writer, writer->output, writer->waiting.bytes);
        flush(writer);
        file_limit_unblock_signal(&limit);
        return true;
    }
    pthread_mutex_lock(&writer->lock);
    bool fits = put(writer, item);
    bool wakes = writer->is_idle || writer->waiting.count == writer->job->max_items / 2;
    pthread_mutex_unlock(&writer->lock);
    /* Only now: the thread begins with the lock. */
    if (fits && wakes)
        pthread_cond_signal(&writer->wake);
    return fits;
}

/* With the lock held: waits until `*flag` is `value`, as long as the disk answers. Seconds are
 * counted one by one, for this process may be stopped meanwhile. */
static bool await_flag(struct sink_writer *writer, const bool *flag, bool value)
{
    uint64_t completed = writer->completed;
    unsigned seconds = 0;
    while (*flag != value && !writer->is_stuck) {
        struct timespec until = clock_timespec_of_ns(clock_monotonic_ns() + NS_PER_SECOND);
        if (seconds == writer->timeout_seconds)
            writer->is_stuck = true;
        else if (pthread_cond_timedwait(&writer->done, &writer->lock, &until) == ETIMEDOUT)
            seconds = completed == writer->completed ? seconds + 1 : 0;
        completed = writer->completed;
    }
    return *flag == value;
}

void sink_writer_drain(struct sink_writer *writer)
{
    if (!writer->has_thread)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->is_draining = true;
    pthread_cond_signal(&writer->wake);
    await_flag(writer, &writer->is_draining, false);
    pthread_mutex_unlock(&writer->lock);
}

void sink_writer_end(struct sink_writer *writer, const struct sink_end *end)
{
    pthread_mutex_lock(&writer->lock);
    writer->end = *end;
    writer->is_ending = true;
    pthread_cond_signal(&writer->wake);
    pthread_mutex_unlock(&writer->lock);
    if (!writer->has_thread)
        end_output(writer);
}

bool sink_writer_await_end(struct sink_writer *writer)
{
    if (!writer->has_thread)
        return true;
    pthread_mutex_lock(&writer->lock);
    bool has_ended = await_flag(writer, &writer->has_ended, true);
    pthread_mutex_unlock(&writer->lock);
    return has_ended;
}

void sink_writer_destroy(struct sink_writer *writer)
{
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->is_left = writer->has_thread && !writer->has_ended;
    bool is_left = writer->is_left;
    if (is_left)
        pthread_detach(writer->thread);
    pthread_mutex_unlock(&writer->lock);
    if (is_left)
        return;
    if (writer->has_thread)
        pthread_join(writer->thread, NULL);
    free_writer(writer);
}

int64_t sink_writer_cpu_ns(const struct sink_writer *writer)
{
    return atomic_load(&writer->cpu_ns);
}

struct session_counts sink_writer_counts(struct sink_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    struct session_counts counts = writer->counts;
    pthread_mutex_unlock(&writer->lock);
    return counts;
}

bool sink_writer_has_thread(const struct sink_writer *writer)
{
    return writer->has_thread;
}

/* ---- what it says ---- */

uint64_t sink_writer_rows_lost(const struct sink_writer *writer)
{
    return atomic_load(&writer->rows_lost);
}

void sink_writer_set_rows_lost(struct sink_writer *writer, uint64_t count)
{
    atomic_store(&writer->rows_lost, count);
}

void sink_writer_warn(struct sink_writer *writer, const char *format, ...)
{
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(message, sizeof message, format, arguments);
    va_end(arguments);
    pthread_mutex_lock(&writer->lock);
    unsigned count = atomic_load(&writer->n_warnings);
    if (count < MAX_WARNINGS && (writer->warnings[count] = strdup(message)))
        atomic_store(&writer->n_warnings, count + 1);
    pthread_mutex_unlock(&writer->lock);
}

char *sink_writer_take_warning(struct sink_writer *writer)
{
    char *first = NULL;
    if (atomic_load(&writer->n_warnings) == 0)
        return NULL;
    pthread_mutex_lock(&writer->lock);
    first = writer->warnings[0];
    memmove(writer->warnings, writer->warnings + 1, sizeof writer->warnings - sizeof first);
    writer->warnings[MAX_WARNINGS - 1] = NULL;
    atomic_fetch_sub(&writer->n_warnings, 1);
    pthread_mutex_unlock(&writer->lock);
    return first;
}
