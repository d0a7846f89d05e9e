/* How the driver itself behaves: how often it renews each figure, and what each call costs. No
 * verdicts: our intervals are chosen by these figures. */
#include "check_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_CALLS = 4000 };

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* NaN: there are none. Sorts them. */
static double quantile(double *values, size_t count, double q)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count ? values[(size_t)((double)(count - 1) * q)] : NAN;
}

/* The median time between two changes of a figure, in ms, read as often as a millisecond allows. */
static double change_ms(struct check *check, enum nvml_call call, uint64_t duration_ns)
{
    static double intervals_ms[MAX_CALLS];
    size_t count = 0;
    uint64_t end_ns = monotonic_now_ns() + duration_ns, changed_ns = 0;
    double before = nvml_reference_read(&check->nvml, call);
    for (uint64_t now_ns = monotonic_now_ns(); now_ns < end_ns && count < MAX_CALLS;
         now_ns = monotonic_now_ns()) {
        double value = nvml_reference_read(&check->nvml, call);
        check_progress(check);
        if (value != before && !(isnan(value) && isnan(before))) {
            if (changed_ns)
                intervals_ms[count++] = (double)(now_ns - changed_ns) / 1e6;
            changed_ns = now_ns;
            before = value;
        }
        monotonic_sleep_until(now_ns + NS_PER_MS);
    }
    return quantile(intervals_ms, count, 0.5);
}

/* The median time between the samples that the driver has kept, by its own timestamps. */
static double stamp_ms(struct check *check, enum nvml_samples type)
{
    static uint64_t times_us[MAX_CALLS];
    static double intervals_ms[MAX_CALLS];
    size_t count = nvml_reference_sample_times(&check->nvml, type, times_us, MAX_CALLS);
    size_t intervals = 0;
    for (size_t i = 1; i < count; i++)
        if (times_us[i] > times_us[i - 1])
            intervals_ms[intervals++] = (double)(times_us[i] - times_us[i - 1]) / 1e3;
    return quantile(intervals_ms, intervals, 0.5);
}

/* The same of samples of processes, of which it keeps the newest of each alone. */
static double process_stamp_ms(struct check *check, uint64_t duration_ns)
{
    static double intervals_ms[MAX_CALLS];
    size_t count = 0;
    uint64_t end_ns = monotonic_now_ns() + duration_ns;
    uint64_t before_us = nvml_reference_process_sample_us(&check->nvml), first_us = before_us;
    while (monotonic_now_ns() < end_ns && count < MAX_CALLS) {
        uint64_t time_us = nvml_reference_process_sample_us(&check->nvml);
        check_progress(check);
        if (time_us > before_us && before_us != first_us)
            intervals_ms[count++] = (double)(time_us - before_us) / 1e3;
        before_us = time_us > before_us ? time_us : before_us;
        monotonic_sleep_until(monotonic_now_ns() + 5 * NS_PER_MS);
    }
    return quantile(intervals_ms, count, 0.5);
}

static void note_cost(struct check *check, enum nvml_call call, const char *when)
{
    static double costs_us[MAX_CALLS];
    char figure[128];
    size_t count = 0;
    uint64_t end_ns = monotonic_now_ns() + NS_PER_S / 2;
    while (count < MAX_CALLS / 4 && monotonic_now_ns() < end_ns) {
        uint64_t start_ns = monotonic_now_ns();
        nvml_reference_read(&check->nvml, call);
        costs_us[count++] = (double)(monotonic_now_ns() - start_ns) / 1e3;
        check_progress(check);
        monotonic_sleep_until(monotonic_now_ns() + NS_PER_MS / 5);
    }
    snprintf(figure, sizeof figure, "%s, %s: median", nvml_call_name(call), when);
    check_table_note(&check->table, figure, "us", quantile(costs_us, count, 0.5));
    snprintf(figure, sizeof figure, "%s, %s: 99 of 100 below", nvml_call_name(call), when);
    check_table_note(&check->table, figure, "us", quantile(costs_us, count, 0.99));
}

/* Timestamps are the driver's own; where it has none, changes of a figure are all that is seen. */
static void note_renewals(struct check *check)
{
    /* Irregular on purpose: a figure that stays the same cannot be seen to be renewed. */
    static const char steps[] = "context busy 37 600000";
    static const enum nvml_call calls[] = {NVML_UTILIZATION, NVML_POWER, NVML_ENERGY};
    uint64_t duration_ns = check_ms(check, 8000) * NS_PER_MS;
    pid_t load = check_start_load(check, steps);
    if (check_await_steps(check, load, "context", 1)) {
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
            check_table_note(&check->table, nvml_call_name(calls[i]), "ms between changes",
                change_ms(check, calls[i], duration_ns));
        check_table_note(&check->table, "utilization of processes", "ms between timestamps",
            process_stamp_ms(check, duration_ns));
        check_table_note(&check->table, "utilization", "ms between timestamps",
            stamp_ms(check, NVML_UTILIZATION_SAMPLES));
        check_table_note(
            &check->table, "power", "ms between timestamps", stamp_ms(check, NVML_POWER_SAMPLES));
        for (int call = 0; call < NVML_CALLS; call++)
            note_cost(check, call, "while a process is busy");
    } else {
        check_table_state(&check->table, "renewals", false, "gpu-load did not start: see log.txt");
    }
    programs_end(&check->programs, load);
    check_await_rest(check);
}

/*
 * Memory has no timestamps: how long after an allocation is done it is in each figure. Less than 0
 * where it is there before the program has written to all of it.
 */
static void note_delays(struct check *check)
{
    static const enum nvml_call calls[] = {NVML_MEMORY, NVML_PROCESSES};
    static const char steps[] = "context hold 67108864 wait 600000";
    enum { KINDS = sizeof calls / sizeof *calls };
    double before[KINDS] = {check->nvml.used_before + check->context_used_bytes,
        check->nvml.bytes_before + check->context_bytes};
    uint64_t seen_ns[KINDS] = {0}, done_ns = 0;
    pid_t load = check_start_load(check, steps);
    uint64_t end_ns = monotonic_now_ns() + (uint64_t)((check->patience_s / 2) * 1e9);
    while ((!seen_ns[0] || !seen_ns[1] || !done_ns) && monotonic_now_ns() < end_ns) {
        for (int i = 0; i < KINDS; i++)
            if (!seen_ns[i] &&
                nvml_reference_read(&check->nvml, calls[i]) >= before[i] + 64.0 * MIB - PIECE_BYTES)
                seen_ns[i] = monotonic_now_ns();
        if (!done_ns && check_steps_done(check, "hold") > 0) {
            done_ns = monotonic_now_ns();
            end_ns = done_ns + 5 * NS_PER_S;
        }
        check_progress(check);
        monotonic_sleep_until(monotonic_now_ns() + NS_PER_MS / 2);
    }
    programs_end(&check->programs, load);
    check_await_rest(check);
    for (int i = 0; i < KINDS; i++) {
        bool is_known = seen_ns[i] && done_ns;
        double delay_ms = is_known ? ((double)seen_ns[i] - (double)done_ns) / 1e6 : NAN;
        check_table_note(
            &check->table, nvml_call_name(calls[i]), "ms after an allocation", delay_ms);
    }
}

/* NULL: so many contexts can be made. */
static const char *why_not(struct check *check, int count)
{
    enum nvml_compute_mode mode = nvml_reference_compute_mode(&check->nvml);
    if (count > 1 && mode != NVML_COMPUTE_SHARED)
        return "the compute mode allows one process alone";
    double needed = count * check->context_used_bytes;
    if (needed > nvml_reference_free_bytes(&check->nvml))
        return "the GPU has not the memory for so many contexts";
    return NULL;
}

static void note_list_costs(struct check *check)
{
    static const int counts[] = {1, 10, 50};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char steps[64], when[64];
        const char *reason = why_not(check, counts[i]);
        snprintf(when, sizeof when, "list of processes, %d contexts", counts[i]);
        if (reason) {
            check_table_skip(&check->table, when, reason);
            continue;
        }
        snprintf(steps, sizeof steps, "children %d context wait 600000 end join", counts[i]);
        pid_t load = check_start_load(check, steps);
        bool is_there = check_await_steps(check, load, "context", counts[i]);
        if (is_there) {
            snprintf(when, sizeof when, "%d contexts, %d processes listed", counts[i],
                nvml_reference_process_count(&check->nvml));
            note_cost(check, NVML_PROCESSES, when);
        }
        programs_end(&check->programs, load);
        if (!is_there)
            check_table_skip(
                &check->table, when, "not all contexts could be made in time: see log.txt");
        check_await_rest(check);
    }
}

/* What our readings cost a program that uses the GPU: the same work alone and tracked. */
static void note_slowdown(struct check *check)
{
    static const char steps[] = "busy 100 1000";
    struct check_result result;
    uint64_t start_ns = monotonic_now_ns();
    int status = programs_wait(
        &check->programs, check_start_load(check, steps), 1 + check->context_s + check->patience_s);
    double alone_s = (double)(monotonic_now_ns() - start_ns) / 1e9;
    if (status == 0)
        check_table_note(&check->table, "wall time of a busy program, alone", "s", alone_s);
    else
        check_table_state(
            &check->table, "a busy program, not tracked", false, check_failure(status));
    if (!check_track(check, "--st 0.1", steps, &result))
        return;
    check_table_note(&check->table, "tracked at 10 Hz", "s",
        check_number(check, result.report, "compute_time.time"));
    check_table_note(&check->table, "CPU time of the tracker", "s",
        check_number(check, result.report, "tracker.cpu_seconds"));
    check_result_release(&result);
}

void trial_driver(struct check *check)
{
    check_table_begin(
        &check->table, "The driver: how often it renews figures, and what calls cost");
    for (int call = 0; call < NVML_CALLS; call++)
        note_cost(check, call, "GPU at rest");
    if (!check->has_context) {
        check_table_skip(&check->table, "next to a busy process", "no program can use the GPU");
        return;
    }
    note_renewals(check);
    note_delays(check);
    note_list_costs(check);
    note_slowdown(check);
}
