#include "machine/process/process_states.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "machine/os/cpu_clock.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"
#include "machine/process/wait_cause.h"

#include <stdio.h>
#include <string.h>

/* Reads wchan of a thread, which never waits. Its descriptor is kept while that is allowed. */
static int read_channel(const struct process *process, struct thread *thread,
    struct process_view *view, char text[static 256])
{
    char name[64];
    snprintf(name, sizeof name, "task/%d/wchan", (int)thread->id);
    if (thread->wchan_fd < 0 && view->free_files == 0)
        return procfs_read(view->procfs_root, process->pid, name, text, 256, NULL, NULL);
    if (thread->wchan_fd < 0) {
        TRY(procfs_open(view->procfs_root, process->pid, name, &thread->wchan_fd, NULL));
        view->free_files--;
    }
    return procfs_reread(thread->wchan_fd, text, 256, NULL);
}

/* Reads stat or syscall of a thread, which make their reader wait during an execve(). */
static int read_bounded(const struct process *process, const struct thread *thread,
    const char *file, struct process_view *view, struct str *text)
{
    char name[64];
    snprintf(name, sizeof name, "task/%d/%s", (int)thread->id, file);
    return procfs_read_bounded(view->calls, view->procfs_root, process->pid, name, text, NULL);
}

/* Where the function that it sleeps in is not shown, its state still is. */
static enum wall_cause cause_by_state(
    const struct process *process, const struct thread *thread, struct process_view *view)
{
    CLEANUP_STR struct str text = {0};
    struct proc_stat stat;
    if (read_bounded(process, thread, "stat", view, &text) != GPUT_OK ||
        proc_stat_parse(str_text(&text), &stat) != GPUT_OK)
        return WALL_UNKNOWN;
    enum wall_cause cause = wait_cause_of_state(stat.state);
    return cause == WALL_OTHER ? WALL_UNKNOWN : cause;
}

enum wall_cause process_state_read(
    struct process *process, struct thread *thread, struct process_view *view)
{
    CLEANUP_STR struct str call = {0};
    char channel[256];
    struct process_threads *list = process->threads;
    if (list->states == PROCESS_STATES_REFUSED)
        return cause_by_state(process, thread, view);
    if (read_channel(process, thread, view, channel) != GPUT_OK)
        return WALL_UNKNOWN;
    enum wall_cause cause = wait_cause_of_channel(channel);
    if (cause != WALL_COMPUTING)
        list->states = PROCESS_STATES_KNOWN;
    if (cause == WALL_COMPUTING && list->states == PROCESS_STATES_NEW) {
        /* "0" is also what those read who may not know. */
        int code = read_bounded(process, thread, "syscall", view, &call);
        list->states =
            code == GPUT_ERROR_PERMISSION ? PROCESS_STATES_REFUSED : PROCESS_STATES_KNOWN;
        return code == GPUT_OK ? cause : cause_by_state(process, thread, view);
    }
    if (cause != WALL_CAUSE_COUNT)
        return cause;
    if (read_bounded(process, thread, "syscall", view, &call) != GPUT_OK)
        return WALL_OTHER;
    return wait_cause_of_call(channel, str_text(&call));
}

/* Only those that sleep divide what is not counted. */
static void add_sample(struct thread *thread, enum wall_cause cause, int64_t weight_ns)
{
    if (cause == WALL_UNKNOWN)
        return;
    if (cause == WALL_CAUSE_COUNT)
        thread->samples.pages_ns += weight_ns;
    else
        thread->samples.ns[cause] += weight_ns;
    thread->samples.count += cause != WALL_COMPUTING;
}

/* It sleeps as it did at the moment before. */
static bool sleeps_on(
    const struct process *process, const struct process_view *view, int64_t *cpu_ns)
{
    const struct process_threads *list = process->threads;
    *cpu_ns = -1;
    if (!view->has_cpu_clocks || cpu_clock_read(process->pid, cpu_ns) != GPUT_OK)
        return false;
    return list->has_causes && !list->any_ran && *cpu_ns == list->state_cpu_ns;
}

void process_states_sample(struct process *process, struct process_view *view, int64_t weight_ns)
{
    struct process_threads *list = process->threads;
    int64_t cpu_ns;
    if (!list || process_is_zombie(process))
        return;
    bool is_same = sleeps_on(process, view, &cpu_ns);
    list->any_ran = list->any_ran && is_same;
    for (size_t i = 0; i < list->count; i++) {
        struct thread *thread = &list->threads[i];
        if (!thread->is_listed || thread->has_record)
            continue;
        if (!is_same)
            thread->cause = (unsigned char)process_state_read(process, thread, view);
        list->any_ran |= thread->cause == WALL_COMPUTING;
        add_sample(thread, (enum wall_cause)thread->cause, weight_ns);
    }
    list->state_cpu_ns = cpu_ns;
    list->has_causes = true;
}
