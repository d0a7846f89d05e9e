#include "session/ledger/limits.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define DEFAULT_GRACE_SECONDS 5.0
/* How often a tree that is being ended is scanned. */
#define ENDING_SCAN_NS (NS_PER_SECOND / 10)
/* Time to try to stop a tree that keeps forking, before everything that was found is killed. */
#define STOPPING_NS (NS_PER_SECOND / 2)
/* Time after the grace to wait for processes that survive SIGKILL: in uninterruptible sleep, or
 * not ours to signal. */
#define KILLING_NS (2 * NS_PER_SECOND)

/* A process is listed some time after it has opened the driver: until then nothing is wrong. */
#define UNKNOWN_NS (2 * NS_PER_SECOND)

/* The highest of the known sums: auto-reaped children are in no parent's totals. */
static double cpu_seconds(const struct limits *limits)
{
    const struct cpu_totals *totals = &limits->ledger->snapshot->totals;
    int64_t sampled_ns_total = totals->main_ns + totals->descendants_ns;
    int64_t reported_ns = ledger_kernel_cpu_ns(limits->ledger);
    return clock_seconds_of_ns(reported_ns > sampled_ns_total ? reported_ns : sampled_ns_total);
}

/* Returns how much is used of what is limited; NaN: it is not known. */
static double used(const struct limits *limits, enum gput_limit_kind kind, int64_t now_ns)
{
    const double *values = limits->ledger->snapshot->sample.values;
    switch (kind) {
    case GPUT_LIMIT_RAM:
        return values[GPUT_COMBINED_RAM];
    case GPUT_LIMIT_GPU_RAM:
        return values[GPUT_COMBINED_GPU_RAM];
    case GPUT_LIMIT_SECONDS:
        return clock_seconds_of_ns(now_ns - limits->settings->start_ns);
    case GPUT_LIMIT_CPU_SECONDS:
        return cpu_seconds(limits);
    case GPUT_LIMIT_KIND_COUNT:
        break;
    }
    return NAN;
}

/* Sends a signal to every process of the tree as of the last scan, never to ourselves; 0 sends
 * nothing. Returns how many processes there were. */
static size_t signal_tree(struct limits *limits, int signal_number)
{
    struct process_tree *tree = limits->tree;
    size_t count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (process->pid == getpid() || process_is_zombie(process))
            continue;
        count++;
        if (signal_number)
            process_signal(process, &tree->view, signal_number);
    }
    return count;
}

/* Returns how many processes of the tree are alive; 1 where it is only known that some are. */
static size_t count_living(struct limits *limits)
{
    size_t count = signal_tree(limits, 0);
    return count > 0 ? count : own_cgroup_has_living(limits->cgroup);
}

static bool may_not_signal_all(struct limits *limits)
{
    struct process_tree *tree = limits->tree;
    for (size_t i = 0; i < tree->count; i++) {
        if (process_signal(tree->processes[i], &tree->view, 0) == EPERM)
            return true;
    }
    return false;
}

/* Reports that a limit is passed, and ends the tree where limits are enforced. */
static void pass_limit(struct limits *limits, enum gput_limit_kind kind, int64_t now_ns)
{
    const struct gput_limits *options = &limits->settings->limits;
    char amount[48];
    size_t size = sizeof amount;
    if (kind == GPUT_LIMIT_RAM || kind == GPUT_LIMIT_GPU_RAM)
        text_fit(amount, size, "%.6g MB", options->values[kind] * 1e-6);
    else
        text_fit(amount, size, "%.6g s", options->values[kind]);
    double at_seconds = clock_seconds_of_ns(now_ns - limits->settings->start_ns);
    limits->is_passed |= 1u << kind;
    struct gput_limit_passed *passed = &limits->passed[limits->n_passed++];
    snprintf(passed->kind_name, sizeof passed->kind_name, "%s", gput_limit_kind_name(kind));
    passed->value = options->values[kind];
    passed->at_seconds = at_seconds;
    passed->enforced = options->enforce;
    session_warn(limits->settings, "The %s limit of %s was exceeded after %.3f s%s.",
        gput_limit_kind_name(kind), amount, at_seconds,
        options->enforce ? "; terminating the tracked processes" : "");
    if (options->enforce && limits->terminated_ns == 0) {
        limits->terminated_ns = now_ns;
        signal_tree(limits, SIGTERM);
        /* A stopped process handles SIGTERM only when it continues. */
        signal_tree(limits, SIGCONT);
    }
}

static int64_t kill_time_ns(const struct limits *limits)
{
    double grace = limits->settings->limits.grace_seconds;
    if (!(grace > 0))
        grace = DEFAULT_GRACE_SECONDS;
    return limits->terminated_ns + clock_ns_of_seconds(grace);
}

void limits_begin(struct limits *limits)
{
    bool has_gpu = limits->settings->static_data.system_gpu_count > 0;
    if (limits->settings->limits.values[GPUT_LIMIT_GPU_RAM] > 0 && !has_gpu)
        session_warn(limits->settings, "The gpu_ram limit cannot be watched: no GPU was found "
                                       "(why: gpu-tracker doctor).");
}

/* Why what is tracked may hold GPU RAM that no driver reports, and on which GPU; NULL: it does not.
 */
static const char *why_gpu_ram_is_unknown(const struct limits *limits, size_t *device)
{
    size_t count;
    const char *reason = NULL;
    gpu_set_devices(limits->settings->gpus, &count);
    for (size_t i = 0; !reason && i < count; i++) {
        reason = gpu_set_past_missing(limits->settings->gpus, i, GPU_PROCESS_RAM);
        *device = i;
    }
    return reason;
}

/* Warns once. `is_end`: not to be known any more. */
static void warn_of_unknown_gpu_ram(struct limits *limits, int64_t now_ns, bool is_end)
{
    size_t device = 0, count;
    bool is_limited = limits->settings->limits.values[GPUT_LIMIT_GPU_RAM] > 0 &&
                      !(limits->is_passed & 1u << GPUT_LIMIT_GPU_RAM);
    const char *reason = is_limited ? why_gpu_ram_is_unknown(limits, &device) : NULL;
    if (!reason || limits->gpu_ram_unknown_ns == 0)
        limits->gpu_ram_unknown_ns = reason ? now_ns : 0;
    bool is_due = is_end || now_ns - limits->gpu_ram_unknown_ns >= UNKNOWN_NS;
    if (!reason || limits->warned_of_gpu_ram || !is_due)
        return;
    bool knows_some = limits->ledger->snapshot->sample.values[GPUT_COMBINED_GPU_RAM] > 0;
    const struct gpu_device *devices = gpu_set_devices(limits->settings->gpus, &count);
    limits->warned_of_gpu_ram = true;
    session_warn(limits->settings, "The gpu_ram limit cannot be watched%s: of GPU %zu (%s), %s.",
        knows_some ? " in full" : "", device, devices[device].uuid, reason);
}

/*
 * Sends SIGSTOP to all that was not stopped before; returns how many there were. Main is killed
 * instead: a stop of main is for us, too, who stop with it on a terminal.
 */
static size_t stop_new(struct limits *limits)
{
    struct process_tree *tree = limits->tree;
    size_t count = 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = tree->processes[i];
        if (process->pid == getpid() || process->polled->is_stopped || process_is_zombie(process))
            continue;
        process->polled->is_stopped = true;
        process_signal(process, &tree->view, process->is_main ? SIGKILL : SIGSTOP);
        count++;
    }
    return count;
}

/*
 * Stops the tree, scan by scan without a pause, until nothing new is found: what forks faster than
 * it is killed would otherwise outrun the kills for minutes. Two scans must find nothing, for a
 * process may have forked and ended while its children were read.
 */
static void stop_tree(struct limits *limits)
{
    int64_t until_ns = clock_monotonic_ns() + STOPPING_NS;
    for (int quiet = 0; quiet < 2 && clock_monotonic_ns() < until_ns;) {
        quiet = stop_new(limits) > 0 ? 0 : quiet + 1;
        limits->scan(limits->user);
    }
}

size_t limits_kill_tree(struct limits *limits)
{
    if (!own_cgroup_kill(limits->cgroup)) /* also those that are too short-lived for a scan */
        stop_tree(limits);
    return signal_tree(limits, SIGKILL);
}

/* Continues what pass_limit() has begun. */
static void end_tree(struct limits *limits, int64_t now_ns)
{
    if (now_ns < kill_time_ns(limits))
        return;
    /* All that are alive after the grace, at each scan, including new processes. */
    limits_kill_tree(limits);
    size_t left = count_living(limits);
    if (left == 0 || now_ns < kill_time_ns(limits) + KILLING_NS)
        return;
    limits->gave_up_ending = true;
    session_warn(limits->settings, "%zu of the processes to be ended for the limit could not be%s.",
        left, may_not_signal_all(limits) ? ": they belong to another user" : "");
}

void limits_check(struct limits *limits)
{
    int64_t now_ns = clock_monotonic_ns();
    if (limits->terminated_ns && !limits->gave_up_ending)
        end_tree(limits, now_ns);
    for (int i = 0; i < GPUT_LIMIT_KIND_COUNT; i++) {
        enum gput_limit_kind kind = (enum gput_limit_kind)i;
        double limit = limits->settings->limits.values[kind];
        if (limit > 0 && !(limits->is_passed & 1u << kind) && used(limits, kind, now_ns) >= limit)
            pass_limit(limits, kind, now_ns);
    }
    warn_of_unknown_gpu_ram(limits, now_ns, false);
}

int64_t limits_due_ns(const struct limits *limits)
{
    double seconds = limits->settings->limits.values[GPUT_LIMIT_SECONDS];
    if (limits->terminated_ns && !limits->gave_up_ending)
        return limits->ledger->snapshot->taken_ns + ENDING_SCAN_NS;
    if (seconds > 0 && !(limits->is_passed & 1u << GPUT_LIMIT_SECONDS))
        return limits->settings->start_ns + clock_ns_of_seconds(seconds);
    return INT64_MAX;
}

bool limits_are_ending_tree(struct limits *limits, int64_t since_ns)
{
    if (limits->terminated_ns == 0 || limits->gave_up_ending)
        return false;
    /* The newest processes are only found by a later scan. */
    return limits->ledger->snapshot->taken_ns <= since_ns || count_living(limits) > 0;
}

void limits_end(struct limits *limits)
{
    warn_of_unknown_gpu_ram(limits, clock_monotonic_ns(), true);
}

bool limits_gave_up(const struct limits *limits)
{
    return limits->gave_up_ending;
}

void limits_fill(const struct limits *limits, struct gput_results *results)
{
    results->limit = limits->passed[0];
    results->n_later_limits = limits->n_passed > 0 ? limits->n_passed - 1 : 0;
    for (uint32_t i = 0; i < results->n_later_limits; i++)
        results->later_limits[i] = limits->passed[i + 1];
}
