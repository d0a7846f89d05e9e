#include "machine/process/process_threads.h"

#include "base/array.h"
#include "machine/os/procfs.h"
#include "machine/os/schedstat.h"

#include <stdio.h>
#include <stdlib.h>

void run_queue_times_add(struct run_queue_times *times, const struct run_queue_times *more)
{
    times->run_ns += more->run_ns;
    times->wait_ns += more->wait_ns;
    times->threads += more->threads;
    times->uncertain += more->uncertain;
    times->uncounted += more->uncounted;
}

/* ---- one thread ---- */

static struct thread *find(struct process_threads *list, pid_t id)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->threads[i].id == id)
            return &list->threads[i];
    }
    return NULL;
}

/* NULL without memory. */
static struct thread *add(struct process_threads *list, pid_t id)
{
    if (!ARRAY_RESERVE(list->threads, list->count, list->capacity))
        return NULL;
    struct thread *thread = &list->threads[list->count++];
    *thread = (struct thread){.id = id, .schedstat_fd = -1};
    return thread;
}

/* Raises its figures to what the kernel says that it used since its start. */
static void raise_times(
    struct thread *thread, uint64_t run_ns, uint64_t wait_ns, struct run_queue_times *times)
{
    int64_t ran_ns = (int64_t)run_ns - thread->before_run_ns;
    int64_t waited_ns = (int64_t)wait_ns - thread->before_wait_ns;
    times->threads += !thread->is_counted;
    thread->is_counted = true;
    if (ran_ns > thread->run_ns) {
        times->run_ns += ran_ns - thread->run_ns;
        thread->run_ns = ran_ns;
    }
    if (waited_ns > thread->wait_ns) {
        times->wait_ns += waited_ns - thread->wait_ns;
        thread->wait_ns = waited_ns;
    }
}

/*
 * Its id is another thread's now: a new one, or of the first thread that which called execve(). The
 * latter had another id before, so it counts from here on.
 */
static void follow_id(
    struct thread *thread, pid_t pid, const struct schedstat *now, struct run_queue_times *times)
{
    thread->before_run_ns = -thread->run_ns;
    thread->before_wait_ns = -thread->wait_ns;
    thread->has_record = false;
    if (thread->id != pid)
        return;
    thread->before_run_ns += (int64_t)now->run_ns;
    thread->before_wait_ns += (int64_t)now->wait_ns;
    times->uncertain++;
}

/* Keeps the descriptor while that is allowed. */
static int read_schedstat(const struct process *process, struct thread *thread,
    struct process_view *view, struct schedstat *now)
{
    char name[64], text[128];
    if (thread->schedstat_fd >= 0)
        return schedstat_reread(thread->schedstat_fd, now);
    snprintf(name, sizeof name, "task/%d/schedstat", (int)thread->id);
    if (view->free_files == 0) {
        TRY(procfs_read(view->procfs_root, process->pid, name, text, sizeof text, NULL, NULL));
        return schedstat_parse(text, now);
    }
    TRY(procfs_open(view->procfs_root, process->pid, name, &thread->schedstat_fd, NULL));
    view->free_files--;
    return schedstat_reread(thread->schedstat_fd, now);
}

static void read_thread(const struct process *process, struct thread *thread, bool is_baseline,
    struct process_view *view, struct run_queue_times *times)
{
    struct schedstat now;
    thread->is_listed = true;
    int code = read_schedstat(process, thread, view, &now);
    if (code != GPUT_OK && thread->schedstat_fd >= 0) {
        /* Another thread may have its id. */
        process_close_cached(&thread->schedstat_fd, view);
        code = read_schedstat(process, thread, view, &now);
    }
    if (code != GPUT_OK) {
        process_close_cached(&thread->schedstat_fd, view);
        return;
    }
    if (now.timeslices == 0 && now.run_ns == 0) {
        /* A new one may not have run yet; the only one of a process that ran has. */
        times->uncounted += process->polled->cpu_ns > 0 && process->polled->stat.thread_count == 1;
        return;
    }
    if (is_baseline) {
        thread->before_run_ns = (int64_t)now.run_ns;
        thread->before_wait_ns = (int64_t)now.wait_ns;
    } else if ((int64_t)now.run_ns - thread->before_run_ns < thread->run_ns) {
        follow_id(thread, process->pid, &now, times);
    }
    raise_times(thread, now.run_ns, now.wait_ns, times);
}

/* ---- a process ---- */

static struct process_threads *threads_of(struct process *process)
{
    if (!process->threads) {
        process->threads = calloc(1, sizeof *process->threads);
        if (process->threads)
            process->threads->is_stale = true;
    }
    return process->threads;
}

/* Drops those that are gone and of which nothing more will come. */
static void drop_gone(struct process *process, struct process_view *view)
{
    struct process_threads *list = process->threads;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct thread *thread = &list->threads[i];
        if (!thread->is_listed)
            process_close_cached(&thread->schedstat_fd, view);
        if (thread->is_listed || (view->has_exit_records && !thread->has_record))
            list->threads[kept++] = *thread;
    }
    list->count = kept;
}

static void read_several(struct process *process, bool is_baseline, struct process_view *view,
    struct run_queue_times *times)
{
    struct process_threads *list = process->threads;
    struct pid_vector ids = {0};
    if (procfs_list_threads(view->procfs_root, process->pid, &ids, NULL) != GPUT_OK) {
        pid_vector_finish(&ids);
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        list->threads[i].is_listed = false;
    for (size_t i = 0; i < ids.count; i++) {
        /* As a rule they are listed in the same order as before. */
        struct thread *thread = i < list->count && list->threads[i].id == ids.pids[i]
                                    ? &list->threads[i]
                                    : find(list, ids.pids[i]);
        if (!thread)
            thread = add(list, ids.pids[i]);
        if (thread)
            read_thread(process, thread, is_baseline, view, times);
    }
    pid_vector_finish(&ids);
    drop_gone(process, view);
}

static void read_first_alone(struct process *process, bool is_baseline, struct process_view *view,
    struct run_queue_times *times)
{
    struct thread *thread = find(process->threads, process->pid);
    if (!thread)
        thread = add(process->threads, process->pid);
    if (thread)
        read_thread(process, thread, is_baseline, view, times);
}

void process_threads_read(struct process *process, struct process_view *view, bool is_brief,
    struct run_queue_times *times)
{
    bool is_first = !process->threads;
    /* Its record has arrived, or will. */
    if (is_first && view->has_exit_records && process_is_zombie(process))
        return;
    struct process_threads *list = threads_of(process);
    if (!list)
        return;
    list->is_stale |= process->polled->has_run;
    uint32_t count = process->polled->stat.thread_count;
    bool is_single = count <= 1 && list->last_count <= 1;
    if (!list->is_stale || (is_brief && !is_single))
        return;
    list->is_stale = false;
    list->last_count = count;
    bool is_baseline = is_first && process_is_old(process);
    if (is_single)
        read_first_alone(process, is_baseline, view, times);
    else
        read_several(process, is_baseline, view, times);
}

void process_threads_add_record(
    struct process *process, const struct taskstats_exit *exit, struct run_queue_times *times)
{
    if (!exit->delays.has_cpu) {
        times->uncounted++;
        return;
    }
    struct process_threads *list = process->threads;
    struct thread only = {.id = exit->thread}, *thread = list ? find(list, exit->thread) : &only;
    if (!thread)
        thread = add(list, exit->thread);
    if (!thread) {
        times->uncertain++;
        return;
    }
    /* The first thread ended when another one called execve(), which has its id since. */
    times->uncertain += thread->has_record;
    thread->has_record = true;
    raise_times(thread, exit->cpu_ns, exit->delays.cpu_ns, times);
}
