/*
 * The totals of a session: what the kernel counted for its processes, compared with samples.
 */
#include "session/ledger/ledger.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>

/* Compared figures were read at most this far apart. */
#define READ_APART_SECONDS 0.001
/* Unit of ru_inblock and ru_oublock. */
#define BLOCK_BYTES 512

static bool is_uncollected_descendant(const struct process *process)
{
    return !process->is_main && !process->polled->is_reaped;
}

/* ---- what the processes of the tree have used, as of the last scan ---- */

struct tree_sums {
    int64_t unreported_ns;      /* by those that run: what is not in their exit records */
    int64_t user_ns, system_ns; /* by descendants that had not ended, with what they collected */
    int64_t cut_ns;             /* may be missing in that: cutime and cstime are in clock ticks */
    int64_t baseline_cut_ns;    /* samples may be higher by so much: what a process had collected
                                   before tracking began is in clock ticks, too */
    int64_t least_ns;           /* what the living have used and collected, less all that is cut */
};

/* Adds the CPU time of one process to the sums of the tree. */
static void add_process(
    struct tree_sums *sums, const struct process *process, const struct process_view *view)
{
    int64_t own_ns = process_cpu_ns(process), reported_ns = process->cpu_ns;
    int64_t used_ns = own_ns + process_children_ns(process, view);
    bool is_running = process_is_running(process), is_zombie = process_is_zombie(process);
    if (reported_ns < 0)
        reported_ns = 0;
    if (is_running && own_ns > reported_ns)
        sums->unreported_ns += own_ns - reported_ns;
    if (is_uncollected_descendant(process) && !is_zombie) {
        /* The parts are as those of stat, which come in clock ticks: below one tick all is user
         * time. */
        const struct proc_stat *stat = &process->polled->stat;
        double system_ticks = (double)(stat->stime_ticks + stat->cstime_ticks);
        double ticks = system_ticks + (double)(stat->utime_ticks + stat->cutime_ticks);
        int64_t of_system_ns = ticks > 0 ? (int64_t)((double)used_ns * system_ticks / ticks) : 0;
        sums->user_ns += used_ns - of_system_ns;
        sums->system_ns += of_system_ns;
        if (process_has_collected(process))
            sums->cut_ns += 2 * view->ns_per_tick;
    }
    /* Once it has ended, its parent may have collected it. */
    sums->least_ns += is_running && !is_zombie ? used_ns : -process_before_ns(process, view);
    if (process_baseline(process)->children_ticks > 0)
        sums->baseline_cut_ns += 2 * view->ns_per_tick;
}

static struct tree_sums sum_up(const struct process_tree *tree)
{
    struct tree_sums sums = {.least_ns = -tree->removed.before_ns};
    for (size_t i = 0; i < tree->count; i++)
        add_process(&sums, tree->processes[i], &tree->view);
    sums.least_ns -= sums.baseline_cut_ns;
    return sums;
}

/* ---- at each sample ---- */

/* CPU time of exit records, and of living processes as of the last scan. */
static int64_t ends_cpu_ns(const struct ledger *ledger)
{
    int64_t ns;
    if (!process_log_cpu_ns(&ledger->log, &ns))
        return 0;
    return ns + sum_up(ledger->snapshot->tree).unreported_ns - ledger->snapshot->own_cpu_ns;
}

int64_t ledger_kernel_cpu_ns(const struct ledger *ledger)
{
    struct cgroup_usage group;
    int64_t ends_ns = ends_cpu_ns(ledger);
    own_cgroup_usage(ledger->cgroup, &group);
    int64_t group_ns =
        isnan(group.cpu_seconds) ? 0 : llround(group.cpu_seconds * (double)NS_PER_SECOND);
    return ends_ns > group_ns ? ends_ns : group_ns;
}

int64_t ledger_auto_reaped_cpu_ns(const void *user)
{
    const struct ledger *ledger = user;
    return process_log_has_auto_reaped(&ledger->log) ? ledger_kernel_cpu_ns(ledger) : 0;
}

/* ---- the end ---- */

void ledger_close(struct ledger *ledger)
{
    struct session_counts *counts = &ledger->collected.counts;
    if (ledger->settings->mode != SESSION_LAUNCHED && ledger->settings->mode != SESSION_SELF)
        return;
    if (ledger->settings->mode == SESSION_SELF) {
        task_counts_subtract(&counts->tasks, &ledger->log.totals.collected_before);
        counts->children_faults -= task_counts_faults(&ledger->log.totals.collected_before);
    }
    /* Faults and bytes of descendants still running, with what they collected; parents come first.
     * With exit records the log has that, and more. */
    const struct process_tree *tree = ledger->snapshot->tree;
    for (size_t i = 0; i < tree->count; i++) {
        const struct process *process = tree->processes[i];
        if (!is_uncollected_descendant(process))
            continue;
        if (ledger->events->has_exit_records)
            ledger->collected.counts.living++;
        else
            session_counts_add_living(&ledger->collected.counts, ledger->settings->calls,
                ledger->settings->options.procfs_root, process->pid,
                process->polled->stat.start_time_ticks, &process_baseline(process)->counts);
    }
}

/* ---- CPU time ---- */

/*
 * CPU time of samples and of exit records: lower bounds of the whole, including auto-reaped
 * processes. `own_ns` is in the process log, but must not count.
 */
static double sampled_or_exit_records(const struct ledger *ledger, const struct tree_sums *sums,
    int64_t own_ns, double sampled_seconds)
{
    int64_t reported_ns;
    double highest = sampled_seconds;
    if (process_log_cpu_ns(&ledger->log, &reported_ns))
        highest = fmax(highest, clock_seconds_of_ns(reported_ns - own_ns));
    return highest - clock_seconds_of_ns(sums->baseline_cut_ns);
}

/* A part of all CPU time that says how the rest is divided. */
#define ENOUGH_TO_DIVIDE 0.9

/* True where the mean process used enough CPU time, or those that did used nearly all of it. */
static bool processes_are_divisible(const struct ledger *ledger, double cpu_seconds)
{
    const struct process_log *log = &ledger->log;
    uint64_t unknown = process_log_has_all(log) ? 0 : ledger_unknown_starts(ledger);
    uint64_t tree_seen = ledger->snapshot->tree->seen;
    double count = (double)(log->seen > tree_seen ? log->seen : tree_seen) + (double)unknown;
    return cpu_seconds / fmax(count, 1) >= clock_seconds_of_ns(cpu_divisible_ns()) ||
           clock_seconds_of_ns(process_log_divisible_ns(log)) >= ENOUGH_TO_DIVIDE * cpu_seconds;
}

/* Divides CPU time into user and system time as its control group does, which has the clock ticks
 * of all processes; else as each process does. */
static enum cpu_split divide_cpu(
    const struct ledger *ledger, bool has_group, struct gput_accounting *accounting)
{
    const struct cgroup_usage *group = &ledger->collected.cgroup_usage;
    double whole = accounting->kernel_cpu_seconds;
    enum cpu_split split = CPU_SPLIT_OF_PROCESSES;
    if (has_group && group->cpu_seconds >= ENOUGH_TO_DIVIDE * whole) {
        accounting->kernel_user_cpu_seconds = group->cpu_user_seconds;
        accounting->kernel_system_cpu_seconds = group->cpu_system_seconds;
        split = whole >= clock_seconds_of_ns(cpu_divisible_ns()) ? CPU_SPLIT_OF_GROUP
                                                                 : CPU_SPLIT_TOO_SHORT;
    } else if (!processes_are_divisible(ledger, whole)) {
        split = CPU_SPLIT_TOO_SHORT;
    }
    if (split == CPU_SPLIT_TOO_SHORT)
        accounting->kernel_user_cpu_seconds = accounting->kernel_system_cpu_seconds = NAN;
    session_accounting_fit_parts(accounting);
    return split;
}

/*
 * The highest of: CPU time collected from a launched command or from ourselves, that of its control
 * group, that of samples or exit records. Of the last, the parts of user and system are not known.
 */
static void fill_collected_cpu(const struct ledger *ledger, const struct tree_sums *sums,
    struct exactness *exactness, struct gput_accounting *accounting)
{
    const struct session_counts *counts = &ledger->collected.counts;
    const struct cgroup_usage *group = &ledger->collected.cgroup_usage;
    bool is_self = ledger->settings->mode == SESSION_SELF;
    bool has_group = !is_self && !isnan(group->cpu_seconds);
    int64_t own_ns = is_self ? tracker_cost_threads_ns(&ledger->cost) : 0;
    int64_t user_ns = counts->user_ns + sums->user_ns;
    int64_t system_ns = counts->system_ns + sums->system_ns;
    accounting->kernel_user_cpu_seconds = clock_seconds_of_ns(user_ns);
    accounting->kernel_system_cpu_seconds = clock_seconds_of_ns(system_ns);
    accounting->kernel_cpu_seconds =
        clock_seconds_of_ns(user_ns + system_ns - ledger->snapshot->tree->removed.before_ns);
    if (has_group && group->cpu_seconds > accounting->kernel_cpu_seconds)
        accounting->kernel_cpu_seconds = group->cpu_seconds;
    /*
     * wait4() and getrusage() truncate times to whole microseconds; CPU clocks do not. As far as
     * that explains the difference, samples equal what the kernel counted.
     */
    double more = accounting->sampled_cpu_seconds - accounting->kernel_cpu_seconds;
    if (more > 0 && more <= counts->times_truncated * 1e-6)
        accounting->kernel_cpu_seconds = accounting->sampled_cpu_seconds;
    double counted = accounting->kernel_cpu_seconds;
    double highest = sampled_or_exit_records(ledger, sums, own_ns, accounting->sampled_cpu_seconds);
    exactness->collected_ns = has_group ? 0 : sums->cut_ns;
    double apart = READ_APART_SECONDS + clock_seconds_of_ns(exactness->collected_ns);
    accounting->kernel_cpu_seconds = fmax(highest, counted);
    bool is_short = highest - counted > apart;
    /* Processes can leave the group, and may then not be waited for: it proves nothing. */
    bool group_has_most =
        has_group && group->cpu_seconds + READ_APART_SECONDS >= accounting->kernel_cpu_seconds;
    exactness->cpu = exactness->all_collected && !is_short;
    if (is_short || (exactness->has_auto_reaped && !group_has_most)) {
        accounting->kernel_user_cpu_seconds = accounting->kernel_system_cpu_seconds = NAN;
        exactness->split = CPU_SPLIT_INCOMPLETE;
    } else {
        exactness->split = divide_cpu(ledger, has_group, accounting);
    }
}

bool ledger_begin_comparison(struct ledger *ledger)
{
    bool is_needed = ledger->settings->mode == SESSION_ATTACHED && ledger->events->has_exit_records;
    if (!is_needed || ledger->log.ended_total == ledger->ends_compared)
        return false;
    ledger->ends_compared = ledger->log.ended_total;
    return true;
}

void ledger_compare_exit_records(struct ledger *ledger)
{
    struct process_log *log = &ledger->log;
    int64_t reported_ns;
    process_log_refresh(log);
    if (!process_log_cpu_ns(log, &reported_ns))
        return;
    int64_t missing_ns =
        sum_up(ledger->snapshot->tree).least_ns - (reported_ns - log->totals.cpu_outside_ns);
    if (missing_ns > ledger->missing_in_exit_records_ns)
        ledger->missing_in_exit_records_ns = missing_ns;
}

/* ---- page faults, context switches, bytes ---- */

/* "At least 0" says nothing. */
static void clear_zero(double *bytes)
{
    if (*bytes == 0)
        *bytes = NAN;
}

/*
 * Collected counts, and those of the living. With exit records, the log's counts include all other
 * processes.
 */
static void fill_collected_counts(const struct ledger *ledger, const struct exactness *exactness,
    struct gput_accounting *accounting)
{
    const struct session_counts *counts = &ledger->collected.counts;
    struct task_counts sum = counts->tasks;
    uint64_t stored = task_counts_stored_bytes(&sum);
    if (counts->without_io) {
        struct task_counts blocks = {.read_bytes = counts->blocks_read * BLOCK_BYTES,
            .write_bytes = counts->blocks_written * BLOCK_BYTES};
        task_counts_raise(&sum, &blocks);
    }
    if (!exactness->counts && ledger->events->has_exit_records) {
        struct task_counts seen = process_log_counts(&ledger->log);
        task_counts_raise(&sum, &seen);
        if (task_counts_stored_bytes(&seen) > stored)
            stored = task_counts_stored_bytes(&seen);
    }
    sum.lacks_io = false;
    session_accounting_set_counts(accounting, &sum);
    if (!counts->without_io)
        return;
    /* wait4() does not count what was dropped before it was written. */
    accounting->storage_write_bytes = (double)stored;
    clear_zero(&accounting->read_bytes);
    clear_zero(&accounting->write_bytes);
    if (accounting->storage_dirtied_bytes > 0)
        clear_zero(&accounting->storage_write_bytes);
    if (counts->living == 0)
        return; /* wait4() gives storage, too */
    clear_zero(&accounting->storage_read_bytes);
    clear_zero(&accounting->storage_write_bytes);
    clear_zero(&accounting->storage_dirtied_bytes);
}

/* ---- processes ---- */

/* `has_auto_reaped`: some may not have been waited for. */
static void fill_processes(
    const struct ledger *ledger, bool has_auto_reaped, struct gput_accounting *accounting)
{
    const struct process_log *log = &ledger->log;
    char *reason = accounting->processes_missed_reason;
    size_t size = sizeof accounting->processes_missed_reason;
    uint64_t seen = ledger->snapshot->tree->seen;

    accounting->processes_seen = log->seen > seen ? log->seen : seen;
    if (ledger->has_ended && ledger->main_ended_ns != 0)
        accounting->left_running = (double)process_log_descendants(log).living;
    if (process_log_has_all(log)) {
        accounting->processes_missed = 0;
        text_fit(reason, size, "the kernel announced each one (process connector)%s",
            has_auto_reaped ? "; some were not waited for: what is missing is in `sources`" : "");
        return;
    }
    if (ledger->events->has_events) {
        text_fit(reason, size, "the kernel announced more processes than were read in time");
        return;
    }
    uint64_t unknown = ledger_unknown_starts(ledger);
    if (unknown == UINT64_MAX)
        text_fit(reason, size, "%s", ledger->events->why_no_events);
    else if (unknown == 0) {
        accounting->processes_missed = 0;
        text_fit(reason, size, "nothing else was started: the kernel gave out no other pid");
    } else
        text_fit(reason, size, "at most %llu, threads too; %s", (unsigned long long)unknown,
            ledger->events->why_no_events);
}

/* Fills how long threads waited for a CPU, where the kernel counts that. */
static void fill_run_queue(const struct ledger *ledger, struct gput_accounting *accounting)
{
    struct run_queue_times times = process_log_run_queue(&ledger->log);
    if (ledger->settings->mode == SESSION_SELF || times.threads == 0)
        return;
    accounting->run_queue_run_seconds = clock_seconds_of_ns(times.run_ns);
    accounting->run_queue_wait_seconds = clock_seconds_of_ns(times.wait_ns);
}

/* ---- all of it ---- */

/* Totals of the kernel after the end. */
static struct exactness fill_end(
    const struct ledger *ledger, const struct tree_sums *sums, struct gput_accounting *accounting)
{
    struct exactness exactness = ledger_exactness(ledger);
    if (ledger->settings->mode == SESSION_ATTACHED) {
        /*
         * Exit records lack the exit itself, and what a process used since its last clock tick;
         * parents' totals lack orphans collected elsewhere, and all since the last scan. So: exit
         * records, plus by how much the totals were higher when both were compared.
         */
        int64_t reported_ns;
        if (process_log_cpu_ns(&ledger->log, &reported_ns))
            accounting->kernel_cpu_seconds =
                fmax(clock_seconds_of_ns(reported_ns + ledger->missing_in_exit_records_ns),
                    accounting->sampled_cpu_seconds - clock_seconds_of_ns(sums->baseline_cut_ns));
        /* Only the parent gets the final counts, but living threads can be read. */
        struct task_counts counts = process_log_counts(&ledger->log);
        session_accounting_set_counts(accounting, &counts);
        if (!ledger->events->has_exit_records)
            accounting->voluntary_context_switches = accounting->involuntary_context_switches = NAN;
    } else if (ledger->settings->mode == SESSION_SELF || ledger->collected.has_main_usage) {
        fill_collected_counts(ledger, &exactness, accounting);
        fill_collected_cpu(ledger, sums, &exactness, accounting);
    }
    return exactness;
}

struct exactness ledger_fill_accounting(
    const struct ledger *ledger, struct gput_accounting *accounting)
{
    struct exactness exactness = {0};
    session_accounting_clear(accounting);
    if (ledger->settings->mode == SESSION_MACHINE)
        return exactness;
    accounting->sampled_cpu_seconds = clock_seconds_of_ns(
        ledger->snapshot->totals.main_ns + ledger->snapshot->totals.descendants_ns);
    const struct tree_sums sums = sum_up(ledger->snapshot->tree);
    if (ledger->has_ended)
        exactness = fill_end(ledger, &sums, accounting);
    fill_processes(ledger,
        ledger->has_ended ? exactness.has_auto_reaped : process_log_has_auto_reaped(&ledger->log),
        accounting);
    /* The higher of two figures: what exit records gave, and what the kernel counted beyond the
     * other processes. Exit records lack most of a process that is shorter than a scheduler tick.
     */
    if (ledger->events->has_exit_records) {
        int64_t others_ns;
        const struct process_totals *totals = &ledger->log.totals;
        accounting->short_lived_processes = (double)totals->short_lived;
        accounting->short_lived_cpu_seconds = clock_seconds_of_ns(totals->short_lived_cpu_ns);
        if (totals->short_lived > 0 && process_log_has_all(&ledger->log) &&
            process_log_others_at_most_ns(&ledger->log, &others_ns))
            accounting->short_lived_cpu_seconds = fmax(accounting->short_lived_cpu_seconds,
                accounting->kernel_cpu_seconds - clock_seconds_of_ns(others_ns));
    }
    fill_run_queue(ledger, accounting);
    oom_kills_fill(&ledger->oom_kills, accounting);
    /* Where that explains the difference, samples equal what the kernel counted. */
    double truncated = clock_seconds_of_ns(sums.baseline_cut_ns);
    double more = accounting->sampled_cpu_seconds - accounting->kernel_cpu_seconds;
    if (truncated > 0 && more > 0 && more <= truncated + READ_APART_SECONDS)
        accounting->sampled_cpu_seconds = accounting->kernel_cpu_seconds;
    if (accounting->kernel_cpu_seconds > 0 && exactness.cpu)
        accounting->captured_percent =
            accounting->sampled_cpu_seconds / accounting->kernel_cpu_seconds * 100;
    return exactness;
}

bool ledger_has_bytes_so_far(const struct ledger *ledger)
{
    const struct process *main = ledger->log.main;
    return ledger->log.options.has_live_counts && !ledger->has_ended && main && main->has_io;
}

/* ---- figures of the results ---- */

void session_accounting_set_counts(
    struct gput_accounting *accounting, const struct task_counts *counts)
{
    accounting->minor_page_faults = (double)counts->minor_faults;
    accounting->major_page_faults = (double)counts->major_faults;
    accounting->voluntary_context_switches = (double)counts->voluntary_switches;
    accounting->involuntary_context_switches = (double)counts->involuntary_switches;
    if (!counts->lacks_io)
        session_accounting_set_bytes(accounting, counts);
}

void session_accounting_set_bytes(
    struct gput_accounting *accounting, const struct task_counts *counts)
{
    accounting->read_bytes = (double)counts->read_call_bytes;
    accounting->write_bytes = (double)counts->write_call_bytes;
    accounting->storage_read_bytes = (double)counts->read_bytes;
    accounting->storage_write_bytes = (double)task_counts_stored_bytes(counts);
    accounting->storage_dirtied_bytes = (double)counts->write_bytes;
}

void session_accounting_fit_parts(struct gput_accounting *accounting)
{
    double user = fmax(accounting->kernel_user_cpu_seconds, 0);
    double system = fmax(accounting->kernel_system_cpu_seconds, 0);
    double whole = accounting->kernel_cpu_seconds;
    if (isnan(accounting->kernel_user_cpu_seconds))
        return;
    /* The share first: rounding must not make a part more than the whole. */
    double share = user + system > 0 ? user / (user + system) : 1;
    accounting->kernel_user_cpu_seconds = whole * share;
    accounting->kernel_system_cpu_seconds = whole - accounting->kernel_user_cpu_seconds;
}

void session_accounting_clear(struct gput_accounting *accounting)
{
    *accounting = (struct gput_accounting){.kernel_cpu_seconds = NAN,
        .kernel_user_cpu_seconds = NAN,
        .kernel_system_cpu_seconds = NAN,
        .sampled_cpu_seconds = NAN,
        .captured_percent = NAN,
        .short_lived_cpu_seconds = NAN,
        .processes_missed = NAN,
        .short_lived_processes = NAN,
        .left_running = NAN,
        .oom_killed = NAN,
        .run_queue_run_seconds = NAN,
        .run_queue_wait_seconds = NAN,
        .minor_page_faults = NAN,
        .major_page_faults = NAN,
        .voluntary_context_switches = NAN,
        .involuntary_context_switches = NAN,
        .read_bytes = NAN,
        .write_bytes = NAN,
        .storage_read_bytes = NAN,
        .storage_write_bytes = NAN,
        .storage_dirtied_bytes = NAN,
        .system_network_received_bytes = NAN,
        .system_network_sent_bytes = NAN};
}
