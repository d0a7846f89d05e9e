/*
 * Checks a session's limits and ends its tree where they are enforced.
 */
#include "session/session_state.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define DEFAULT_GRACE_SECONDS 5.0
/* How often a tree that is being ended is scanned. */
#define ENDING_SCAN_NS (NS_PER_SECOND / 10)
/* How long after the grace to wait for processes that survive SIGKILL: in uninterruptible sleep, or
 * ones that we may not signal. */
#define KILLING_NS (2 * NS_PER_SECOND)

/* A process is listed some time after it has opened the driver: until then nothing is wrong. */
#define UNKNOWN_NS (2 * NS_PER_SECOND)

/* The highest of the known sums: auto-reaped children are in no parent's totals. */
static double cpu_seconds(const struct gput_session *session)
{
    const struct cpu_totals *totals = &session->sampler.snapshot.totals;
    int64_t sampled_ns_total = totals->main_ns + totals->descendants_ns;
    int64_t reported_ns = session_kernel_cpu_ns(session);
    return clock_seconds_of_ns(reported_ns > sampled_ns_total ? reported_ns : sampled_ns_total);
}

static double used(const struct gput_session *session, enum gput_limit_kind kind, int64_t now_ns)
{
    const double *values = session->sampler.snapshot.sample.values;
    switch (kind) {
    case GPUT_LIMIT_RAM:
        return values[GPUT_COMBINED_RAM];
    case GPUT_LIMIT_GPU_RAM:
        return values[GPUT_COMBINED_GPU_RAM];
    case GPUT_LIMIT_SECONDS:
        return clock_seconds_of_ns(now_ns - session->settings.start_ns);
    case GPUT_LIMIT_CPU_SECONDS:
        return cpu_seconds(session);
    case GPUT_LIMIT_KINDS:
        break;
    }
    return NAN;
}

/* Sends a signal to every process of the tree as of the last scan, never to ourselves; 0 sends
 * nothing. Returns how many processes there were. */
static size_t signal_tree(struct gput_session *session, int signal_number)
{
    struct process_tree *tree = &session->sampler.tree;
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

/* How many processes of the tree are alive; 1 where only that some are is known. */
static size_t count_living(struct gput_session *session)
{
    size_t count = signal_tree(session, 0);
    return count > 0 ? count : own_cgroup_has_living(&session->cgroup);
}

static bool may_not_signal_all(struct gput_session *session)
{
    struct process_tree *tree = &session->sampler.tree;
    for (size_t i = 0; i < tree->count; i++) {
        if (process_signal(tree->processes[i], &tree->view, 0) == EPERM)
            return true;
    }
    return false;
}

static void describe(enum gput_limit_kind kind, double limit, char *text, size_t size)
{
    if (kind == GPUT_LIMIT_RAM || kind == GPUT_LIMIT_GPU_RAM)
        snprintf(text, size, "%.6g MB", limit * 1e-6);
    else
        snprintf(text, size, "%.6g s", limit);
}

static void pass_limit(struct gput_session *session, enum gput_limit_kind kind, int64_t now_ns)
{
    const struct gput_limits *limits = &session->settings.options.limits;
    char amount[48];
    describe(kind, limits->values[kind], amount, sizeof amount);
    double at_seconds = clock_seconds_of_ns(now_ns - session->settings.start_ns);
    session->limits_passed |= 1u << kind;
    struct gput_limit_passed *passed = &session->passed[session->n_passed++];
    snprintf(passed->kind_name, sizeof passed->kind_name, "%s", gput_limit_kind_name(kind));
    passed->value = limits->values[kind];
    passed->at_seconds = at_seconds;
    passed->enforced = limits->enforce;
    session_warn(&session->settings, "The %s limit of %s was passed after %.3f s%s.",
        gput_limit_kind_name(kind), amount, at_seconds,
        limits->enforce ? "; what is tracked is being ended" : "");
    if (limits->enforce && session->terminated_ns == 0) {
        session->terminated_ns = now_ns;
        signal_tree(session, SIGTERM);
        /* A stopped process handles SIGTERM only when it continues. */
        signal_tree(session, SIGCONT);
    }
}

static int64_t kill_time_ns(const struct gput_session *session)
{
    double grace = session->settings.options.limits.grace_seconds;
    if (!(grace > 0))
        grace = DEFAULT_GRACE_SECONDS;
    return session->terminated_ns + (int64_t)(grace * (double)NS_PER_SECOND);
}

void session_warn_of_unwatched_limits(struct gput_session *session)
{
    bool has_gpu = session->settings.static_data.system_gpu_count > 0;
    if (session->settings.options.limits.values[GPUT_LIMIT_GPU_RAM] > 0 && !has_gpu)
        session_warn(&session->settings, "The gpu_ram limit cannot be watched: no GPU was found "
                                         "(why: gpu-tracker doctor).");
}

/* Why what is tracked may hold GPU RAM that no driver reports, and on which GPU; NULL: it does not.
 */
static const char *why_gpu_ram_is_unknown(const struct gput_session *session, size_t *device)
{
    size_t count;
    const char *reason = NULL;
    gpu_set_devices(session->settings.gpus, &count);
    for (size_t i = 0; !reason && i < count; i++) {
        reason = gpu_set_past_missing(session->settings.gpus, i, GPU_PROCESS_RAM);
        *device = i;
    }
    return reason;
}

void session_warn_of_unknown_gpu_ram(struct gput_session *session, int64_t now_ns, bool is_end)
{
    size_t device = 0, count;
    bool is_limited = session->settings.options.limits.values[GPUT_LIMIT_GPU_RAM] > 0 &&
                      !(session->limits_passed & 1u << GPUT_LIMIT_GPU_RAM);
    const char *reason = is_limited ? why_gpu_ram_is_unknown(session, &device) : NULL;
    if (!reason || session->gpu_ram_unknown_ns == 0)
        session->gpu_ram_unknown_ns = reason ? now_ns : 0;
    bool is_due = is_end || now_ns - session->gpu_ram_unknown_ns >= UNKNOWN_NS;
    if (!reason || session->warned_of_gpu_limit || !is_due)
        return;
    bool knows_some = session->sampler.snapshot.sample.values[GPUT_COMBINED_GPU_RAM] > 0;
    const struct gpu_device *devices = gpu_set_devices(session->settings.gpus, &count);
    session->warned_of_gpu_limit = true;
    session_warn(&session->settings, "The gpu_ram limit cannot be watched%s: of GPU %zu (%s), %s.",
        knows_some ? " in full" : "", device, devices[device].uuid, reason);
}

/* Continues what pass_limit() has begun. */
static void end_tree(struct gput_session *session, int64_t now_ns)
{
    if (now_ns < kill_time_ns(session))
        return;
    /* All that are alive after the grace, at each scan, including new processes. */
    own_cgroup_kill(&session->cgroup); /* those that are too short-lived for a scan */
    signal_tree(session, SIGKILL);
    size_t left = count_living(session);
    if (left == 0 || now_ns < kill_time_ns(session) + KILLING_NS)
        return;
    session->gave_up_ending = true;
    session_warn(&session->settings,
        "%zu of the processes to be ended for the limit could not be%s.", left,
        may_not_signal_all(session) ? ": they belong to another user" : "");
}

void session_check_limits(struct gput_session *session)
{
    int64_t now_ns = clock_monotonic_ns();
    if (session->terminated_ns && !session->gave_up_ending)
        end_tree(session, now_ns);
    for (int i = 0; i < GPUT_LIMIT_KINDS; i++) {
        enum gput_limit_kind kind = (enum gput_limit_kind)i;
        double limit = session->settings.options.limits.values[kind];
        if (limit > 0 && !(session->limits_passed & 1u << kind) &&
            used(session, kind, now_ns) >= limit)
            pass_limit(session, kind, now_ns);
    }
    session_warn_of_unknown_gpu_ram(session, now_ns, false);
}

int64_t session_next_limit_ns(const struct gput_session *session)
{
    double seconds = session->settings.options.limits.values[GPUT_LIMIT_SECONDS];
    if (session->terminated_ns && !session->gave_up_ending)
        return session->last_sample_ns + ENDING_SCAN_NS;
    if (seconds > 0 && !(session->limits_passed & 1u << GPUT_LIMIT_SECONDS))
        return session->settings.start_ns + (int64_t)(seconds * (double)NS_PER_SECOND);
    return INT64_MAX;
}

bool session_is_ending_tree(struct gput_session *session, int64_t since_ns)
{
    if (session->terminated_ns == 0 || !session->schedule.has_thread || session->gave_up_ending)
        return false;
    /* The newest processes are only found by a later scan. */
    return session->last_sample_ns <= since_ns || count_living(session) > 0;
}
