#include "machine/process/process_threads.h"

#include "base/array.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* CPU time that an exit record may lack: the part since the last tick of the scheduler. */
#define RECORD_LAG_NS 10000000

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
    *thread = (struct thread){.id = id, .schedstat_fd = -1, .wchan_fd = -1};
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
 * Linux since 6.12 counts a whole sleep as waiting for a CPU where it moves a thread that has just
 * fallen asleep to another CPU (a delayed dequeue). Takes back what the samples contradict: most of
 * the wait, and more than four of their standard errors.
 */
static void drop_false_wait(
    const struct process *process, struct thread *thread, uint64_t run_ns, uint64_t wait_ns)
{
    const struct wall_samples *samples = &thread->samples;
    int64_t waited_ns = (int64_t)wait_ns - thread->before_wait_ns;
    double slept_ns = (double)samples->pages_ns;
    bool has_unseen_end = thread->has_record && process_is_old(process);
    if (samples->count == 0 || waited_ns <= thread->wait_ns || has_unseen_end)
        return;
    for (int i = WALL_FIRST_SAMPLED; i < WALL_UNKNOWN; i++)
        slept_ns += (double)samples->ns[i];
    int64_t wall_ns = process_thread_account(process, thread).wall_ns;
    slept_ns *= (double)wall_ns / (slept_ns + (double)samples->ns[WALL_COMPUTING]);
    double error_ns = slept_ns / sqrt((double)samples->count);
    int64_t false_ns =
        (int64_t)run_ns - thread->before_run_ns + waited_ns + (int64_t)slept_ns - wall_ns;
    if (false_ns <= waited_ns / 2 || (double)false_ns <= 4 * error_ns)
        return;
    int64_t new_ns = waited_ns - thread->wait_ns;
    thread->before_wait_ns += false_ns < new_ns ? false_ns : new_ns;
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

static void close_files_of(struct thread *thread, struct process_view *view)
{
    process_close_cached(&thread->schedstat_fd, view);
    process_close_cached(&thread->wchan_fd, view);
}

/* Returns when a thread began that the previous reading did not find. */
static int64_t began_before(const struct process_threads *list, const struct schedstat *now)
{
    int64_t ns = list->seen_ns - (int64_t)(now->run_ns + now->wait_ns);
    return ns > list->before_ns ? ns : list->before_ns;
}

/* Reads what a thread ran and waited for a CPU, and counts it from the baseline on. */
static void read_thread(const struct process *process, struct thread *thread, bool is_baseline,
    struct process_view *view, struct run_queue_times *times)
{
    struct schedstat now;
    thread->is_listed = true;
    int code = read_schedstat(process, thread, view, &now);
    if (code != GPUT_OK && thread->schedstat_fd >= 0) {
        /* Another thread may have its id. */
        close_files_of(thread, view);
        code = read_schedstat(process, thread, view, &now);
    }
    if (code != GPUT_OK) {
        close_files_of(thread, view);
        return;
    }
    if (thread->began_ns == 0)
        thread->began_ns = began_before(process->threads, &now);
    if (now.timeslices == 0 && now.run_ns == 0) {
        /* A new one may not have run yet; the only one of a process that ran has. */
        times->uncounted += process->polled->cpu_ns > 0 && process->polled->stat.thread_count == 1;
        return;
    }
    if (is_baseline) {
        thread->before_run_ns = (int64_t)now.run_ns;
        thread->before_wait_ns = (int64_t)now.wait_ns;
    } else if ((int64_t)now.run_ns - thread->before_run_ns < thread->run_ns) {
        /*
         * Its id is another thread's now: a new one, or of the first thread that which called
         * execve(). The latter had another id before, so it counts from here on.
         */
        thread->before_run_ns = -thread->run_ns;
        thread->before_wait_ns = -thread->wait_ns;
        thread->has_record = false;
        if (thread->id == process->pid) {
            thread->before_run_ns += (int64_t)now.run_ns;
            thread->before_wait_ns += (int64_t)now.wait_ns;
            times->uncertain++;
        }
    }
    drop_false_wait(process, thread, now.run_ns, now.wait_ns);
    raise_times(thread, now.run_ns, now.wait_ns, times);
}

/* ---- a process ---- */

struct process_threads *process_threads_of(struct process *process)
{
    if (!process->threads) {
        process->threads = calloc(1, sizeof *process->threads);
        if (process->threads)
            process->threads->is_stale = true;
    }
    return process->threads;
}

static int64_t above_zero(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

int64_t process_thread_wall_ns(const struct process *process, const struct thread *thread)
{
    const struct process_threads *list = process->threads;
    bool has_start = thread->id == process->pid && !process_is_old(process);
    int64_t began_ns = has_start ? process->start.at_ns : thread->began_ns;
    int64_t wall_ns = list->seen_ns - began_ns;
    if (thread->has_record && !process_is_old(process))
        wall_ns = thread->lived_ns + above_zero(thread->wait_ns - thread->record_wait_ns) +
                  above_zero(thread->run_ns - thread->record_run_ns - RECORD_LAG_NS);
    return above_zero(wall_ns);
}

struct wall_account process_thread_account(
    const struct process *process, const struct thread *thread)
{
    return wall_account_of(
        process_thread_wall_ns(process, thread), thread->run_ns, thread->wait_ns, &thread->samples);
}

/* Keeps the account of one that ended, and drops it. */
static void add_ended(struct process *process, const struct thread *thread)
{
    struct process_threads *list = process->threads;
    struct wall_account account = process_thread_account(process, thread);
    wall_account_add(&list->ended, &account);
    if (account.ns[WALL_COMPUTING] + account.ns[WALL_CPU] >
        list->busiest.ns[WALL_COMPUTING] + list->busiest.ns[WALL_CPU])
        list->busiest = account;
}

/* Drops those that are gone and of which nothing more will come. */
static void drop_gone(struct process *process, struct process_view *view)
{
    struct process_threads *list = process->threads;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct thread *thread = &list->threads[i];
        if (!thread->is_listed)
            close_files_of(thread, view);
        if (thread->is_listed || (view->has_exit_records && !thread->has_record))
            list->threads[kept++] = *thread;
        else
            add_ended(process, thread);
    }
    list->count = kept;
}

/* Reads all threads that procfs lists now, and drops the others. */
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

/* Notes that it lives, or has just been found to have ended. */
static void note_reading(struct process *process, int64_t now_ns)
{
    struct process_threads *list = process->threads;
    list->before_ns = list->seen_ns;
    if (list->began_ns == 0) {
        list->began_ns = now_ns;
        list->before_ns = process_is_old(process) ? now_ns : process->start.at_ns;
    }
    if (!list->has_ended)
        list->seen_ns = now_ns;
    list->has_ended = process_is_zombie(process);
}

void process_threads_read(struct process *process, struct process_view *view, bool is_brief,
    int64_t now_ns, struct run_queue_times *times)
{
    bool is_first = !process->threads || process->threads->began_ns == 0;
    /* Its record has arrived, or will. */
    if (is_first && view->has_exit_records && process_is_zombie(process))
        return;
    struct process_threads *list = process_threads_of(process);
    if (!list)
        return;
    list->is_stale |= process->polled->has_run;
    uint32_t count = process->polled->stat.thread_count;
    bool is_single = count <= 1 && list->last_count <= 1;
    if (is_brief && !is_single)
        return;
    note_reading(process, now_ns);
    if (!list->is_stale)
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
    struct process_threads *list = process_threads_of(process);
    struct thread *thread = list ? find(list, exit->thread) : NULL;
    if (list && !thread)
        thread = add(list, exit->thread);
    if (!thread) {
        times->uncertain++;
        return;
    }
    /* The first thread ended when another one called execve(), which has its id since. */
    times->uncertain += thread->has_record;
    thread->has_record = true;
    thread->lived_ns = (int64_t)exit->elapsed_ns;
    thread->record_run_ns = (int64_t)exit->cpu_ns - thread->before_run_ns;
    drop_false_wait(process, thread, exit->cpu_ns, exit->delays.cpu_ns);
    thread->record_wait_ns = (int64_t)exit->delays.cpu_ns - thread->before_wait_ns;
    raise_times(thread, exit->cpu_ns, exit->delays.cpu_ns, times);
}
