/*
 * Which figures are exact. Every label, and every bound that rests on collected figures, derives
 * from here. A control group proves nothing: who may can move processes out of it.
 *
 * wait4() and getrusage() give what a process used, and all that were waited for below it.
 * Auto-reaped processes (the parent ignores SIGCHLD or sets SA_NOCLDWAIT, the pid namespace ends)
 * are in neither, and no interface reports that. So they are of the whole tree only where that is
 * proven, in one of two ways:
 *
 * - Nothing but main was ever there: the kernel announces every start, or its counters say that
 *   nothing else was started.
 * - The kernel announced every process and sent an exit record of each of its threads, and the page
 *   faults in these records add up to those that were collected. Both are counted in the same
 * place: they agree to the last one. A process that was not waited for is in the former alone,
 * whatever the reason. Only of one without any fault (a vfork child) this shows nothing.
 *
 * Neither is a parent that still had its child when that ended: of several threads the first may
 * end before the others, and a parent may leave its child to one who ignores it.
 */
#include "machine/process/process_figures.h"
#include "session/ledger/ledger.h"

uint64_t ledger_unknown_starts(const struct ledger *ledger)
{
    /* Processes and threads that this session starts after the first reading: main, and its own
     * threads. */
    uint64_t own = (ledger->settings->mode == SESSION_LAUNCHED) + ledger->own_threads;
    const struct process_tree *tree = ledger->snapshot->tree;
    struct found_pids found = {tree->lowest_new_pid, tree->highest_new_pid};
    uint64_t max =
        session_starts_between(&ledger->starts_before, &ledger->starts_after, found, own);
    /* All processes of a launched command started since then. */
    uint64_t seen =
        ledger->settings->mode == SESSION_LAUNCHED ? ledger->snapshot->tree->seen - 1 : 0;
    return max == UINT64_MAX ? max : max - own > seen ? max - own - seen : 0;
}

bool ledger_is_alone(const struct ledger *ledger)
{
    const struct process_log *log = &ledger->log;
    bool was_one = log->seen <= 1 && ledger->snapshot->tree->seen <= 1 && !log->ran_out;
    bool has_others =
        ledger->events->has_events ? !process_log_has_all(log) : ledger_unknown_starts(ledger) > 0;
    return was_one && !has_others;
}

/* Descendants that had ended when last polled, and had not been collected. */
static bool has_zombies(const struct process_tree *tree)
{
    bool has_some = false;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        has_some |= !process->is_main && !process->polled->is_reaped && process_is_zombie(process);
    }
    return has_some;
}

/* Returns the page faults of all exit records. Our own faults continue while they are read, so
 * only those of our children count. */
static uint64_t exit_record_faults(const struct ledger *ledger)
{
    const struct process_log *log = &ledger->log;
    struct task_counts counts = process_log_counts(log);
    if (ledger->settings->mode == SESSION_SELF && log->main) {
        struct task_counts own = process_counts(log->main);
        task_counts_subtract(&counts, &own);
    }
    return task_counts_faults(&counts);
}

static uint64_t faults_collected(const struct ledger *ledger)
{
    const struct session_counts *counts = &ledger->collected.counts;
    return ledger->settings->mode == SESSION_SELF ? counts->children_faults
                                                  : task_counts_faults(&counts->tasks);
}

/* Every process must have faults, or it could be missing without a difference. */
static bool faults_are_those_collected(const struct ledger *ledger)
{
    return process_log_descendants(&ledger->log).without_faults == 0 &&
           exit_record_faults(ledger) == faults_collected(ledger);
}

/* The kernel announced every process and sent its last exit record. */
static bool has_all_ends(const struct ledger *ledger)
{
    struct process_peaks descendants = process_log_descendants(&ledger->log);
    return descendants.has_all && descendants.living == 0;
}

/* NULL: it is proven. */
static const char *why_not_all(const struct ledger *ledger, const char *signs)
{
    const struct process_log *log = &ledger->log;
    const struct session_events *events = ledger->events;
    if (ledger_is_alone(ledger))
        return NULL;
    if (has_all_ends(ledger) && faults_are_those_collected(ledger))
        return NULL;
    if (signs)
        return signs;
    if (!events->has_events)
        return events->why_no_events;
    if (!process_log_has_all(log))
        return "the kernel announced more processes than were read in time";
    if (!events->has_exit_records)
        return events->why_no_exit_records;
    struct process_peaks descendants = process_log_descendants(log);
    if (descendants.living > 0)
        return "some processes are still running";
    return descendants.without_faults > 0
               ? "some had no page fault: nothing shows whether they were waited for"
               : "what the kernel reported when they ended (taskstats) differs from what was "
                 "collected";
}

/* The exit record of every thread has arrived, and has that figure. */
static bool has_all_run_queue_times(const struct ledger *ledger)
{
    struct run_queue_times times = process_log_run_queue(&ledger->log);
    return ledger->events->has_exit_records && has_all_ends(ledger) &&
           process_log_without_exit_record(&ledger->log) == 0 && times.uncertain == 0 &&
           times.uncounted == 0;
}

struct exactness ledger_exactness(const struct ledger *ledger)
{
    /* Each may concern a process that was waited for after all. NULL: there is none. */
    bool has_signs =
        process_log_has_auto_reaped(&ledger->log) || ledger->collected.counts.lacks_some ||
        has_zombies(ledger->snapshot->tree) ||
        (has_all_ends(ledger) && exit_record_faults(ledger) > faults_collected(ledger));
    const char *signs = has_signs ? "some processes were not waited for" : NULL;
    const char *why_not = why_not_all(ledger, signs);
    bool all_collected = !why_not && ledger->settings->mode != SESSION_ATTACHED;
    return (struct exactness){.all_collected = all_collected,
        .has_auto_reaped = why_not && signs,
        .counts = all_collected && !ledger->collected.counts.without_io,
        .run_queue = all_collected && has_all_run_queue_times(ledger),
        .why_not = why_not};
}
