/*
 * Helpers for tests of the process log: a procfs made of files, a tree that scans it, a log, and
 * events of the kernel.
 */
#pragma once

#include "fake_procfs.h"
#include "machine/process/process_figures.h"
#include "machine/process/process_log.h"

#include <time.h>

#define SECOND INT64_C(1000000000)

/* A procfs made of files, a tree that scans it, and a log of both. */
struct stage {
    struct fake_procfs fake;
    struct process_tree tree;
    struct process_log log;
    int64_t now_ns;
};

static inline void status_of(struct stage *stage, int pid, int peak_kilobytes)
{
    char text[256];
    snprintf(text, sizeof text,
        "Name:\tx\nPid:\t%d\nPPid:\t1\nVmHWM:\t%8d kB\nVmRSS:\t1 kB\nThreads:\t1\n", pid,
        peak_kilobytes);
    fake_write(&stage->fake, text, "%d/status", pid);
}

static inline void scan_after(struct stage *stage, int64_t ns)
{
    stage->now_ns += ns;
    assert_int_equal(process_tree_scan(&stage->tree, false, stage->now_ns), GPUT_OK);
    process_log_scan(&stage->log, stage->now_ns);
}

static inline void scan(struct stage *stage)
{
    scan_after(stage, SECOND);
}

static inline void set_up_main(struct stage *stage, struct process_log_options options,
    struct fake_process main, bool main_is_old)
{
    if (!stage->fake.root[0])
        fake_procfs_init(&stage->fake);
    fake_put(&stage->fake, main);
    options.tree = &stage->tree;
    options.procfs_root = stage->fake.root;
    options.ns_per_tick = 10000000;
    process_log_init(&stage->log, &options);
    struct process_tree_options tree = {.procfs_root = stage->fake.root,
        .main = main.pid,
        .main_is_old = main_is_old,
        .removed = process_log_remove,
        .user = &stage->log};
    assert_int_equal(process_tree_init(&stage->tree, &tree, NULL), GPUT_OK);
    process_log_scan(&stage->log, 0);
}

/* Main has pid 10 and 100 pages. */
static inline void set_up_with(
    struct stage *stage, struct process_log_options options, bool main_is_old)
{
    set_up_main(stage, options,
        (struct fake_process){.pid = 10, .parent = 1, .resident_pages = 100}, main_is_old);
}

static inline void set_up(struct stage *stage, struct process_log_options options)
{
    *stage = (struct stage){0};
    set_up_with(stage, options, false);
}

static inline void tear_down(struct stage *stage)
{
    process_tree_finish(&stage->tree);
    process_log_finish(&stage->log);
    fake_procfs_finish(&stage->fake);
}

static const struct process_log_options everything = {
    .has_events = true, .has_taskstats = true, .keeps_ended = true, .max_ended = 100};

static const struct process_log_options announced = {
    .has_events = true, .keeps_ended = true, .max_ended = 100};

static inline void forked(struct stage *stage, pid_t parent, pid_t child)
{
    process_log_event(&stage->log, &(struct process_event){.kind = PROCESS_EVENT_FORK,
                                       .pid = child,
                                       .parent = parent,
                                       .time_ns = ++stage->now_ns});
}

static inline void exited(struct stage *stage, pid_t pid, int status)
{
    process_log_event(&stage->log,
        &(struct process_event){
            .kind = PROCESS_EVENT_EXIT, .pid = pid, .status = status, .time_ns = ++stage->now_ns});
}

static inline void execed(struct stage *stage, pid_t pid)
{
    process_log_event(
        &stage->log, &(struct process_event){
                         .kind = PROCESS_EVENT_EXEC, .pid = pid, .time_ns = ++stage->now_ns});
}

static inline void add_exit_record(
    struct stage *stage, pid_t pid, int64_t cpu_ns, uint64_t peak_bytes)
{
    process_log_exit(&stage->log, &(struct taskstats_exit){.thread = pid,
                                      .process = pid,
                                      .name = "from-record",
                                      .is_leader = true,
                                      .is_last = true,
                                      .cpu_ns = (uint64_t)cpu_ns,
                                      .counts.minor_faults = 1000,
                                      .peak_rss_bytes = peak_bytes});
}

static inline const struct process *find(struct process **list, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i]->pid == pid)
            return list[i];
    }
    return NULL;
}

static inline const struct process *only_child(const struct stage *stage, pid_t pid)
{
    size_t count;
    struct process **list = process_log_list(&stage->log, &count);
    const struct process *process = find(list, count, pid);
    assert_int_equal(count, 2);
    assert_int_equal(stage->log.seen, 2);
    free(list);
    return process;
}

static inline uint64_t ticks_since_boot(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 100;
}
