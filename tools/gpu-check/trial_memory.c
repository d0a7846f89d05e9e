/* Memory: what processes hold, peaks of every duration, and what ends without giving back. */
#include "check_run.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HELD_MIB 1024
#define HOLD_MS 1500 /* several samples, also on a machine that is busy */

/* Runs a program; a process figure of it is compared with the truth (NaN: with the driver's). */
static void compare_program(struct check *check, const char *figure, const char *steps,
    unsigned contexts, double held_bytes, double truth)
{
    char used[128];
    struct check_result result;
    if (!check_track(check, "--st 0.1", steps, &result))
        return;
    check_compare_process(check, result.report, "gpu_peaks.main",
        (struct check_figure){.figure = figure,
            .unit = "bytes",
            .truth = truth,
            .reference = result.watch.max_process_bytes,
            .tolerance = contexts * PIECE_BYTES});
    snprintf(used, sizeof used, "%s: in use on the GPU", figure);
    if (!isnan(truth))
        check_compare_used(check, &result, used, contexts, held_bytes);
    check_result_release(&result);
}

static void compare_held(struct check *check, unsigned held_mib)
{
    char steps[128], figure[64];
    double held = (double)(held_mib * MIB);
    snprintf(steps, sizeof steps, "hold %" PRIu64 " wait %u", held_mib * MIB, HOLD_MS);
    snprintf(figure, sizeof figure, "process that holds %u MiB", held_mib);
    compare_program(check, figure, steps, 1, held, check->context_bytes + held);
}

static void compare_many(struct check *check)
{
    char steps[160];
    struct check_result result;
    snprintf(steps, sizeof steps,
        "children 9 hold %" PRIu64 " wait %u end hold %" PRIu64 " wait %u join", 64 * MIB,
        2 * HOLD_MS, 64 * MIB, 2 * HOLD_MS);
    if (!check_track(check, "--st 0.1", steps, &result))
        return;
    double each = check->context_bytes + 64.0 * MIB;
    check_compare_process(check, result.report, "gpu_peaks.descendants",
        (struct check_figure){.figure = "nine children",
            .unit = "bytes",
            .truth = 9 * each,
            .reference = NAN,
            .tolerance = 9 * PIECE_BYTES});
    check_compare_process(check, result.report, "gpu_peaks.combined",
        (struct check_figure){.figure = "ten processes together",
            .unit = "bytes",
            .truth = 10 * each,
            .reference = result.watch.max_process_bytes,
            .tolerance = 10 * PIECE_BYTES});
    check_compare_used(check, &result, "ten processes: in use on the GPU", 10, 10 * 64.0 * MIB);
    check_result_release(&result);
}

static void compare_contexts(struct check *check)
{
    char steps[64];
    if (nvml_reference_compute_mode(&check->nvml) == NVML_COMPUTE_ONE_PROCESS) {
        check_table_skip(&check->table, "several contexts, and several processes",
            "the compute mode allows one alone");
        return;
    }
    snprintf(steps, sizeof steps, "context context context wait %u", HOLD_MS);
    compare_program(check, "three contexts in one process", steps, 3, 0, NAN);
    compare_many(check);
}

static void compare_other_memory(struct check *check)
{
    char steps[128];
    snprintf(steps, sizeof steps, "pinned %" PRIu64 " wait %u", 64 * MIB, HOLD_MS);
    compare_program(check, "64 MiB pinned in the machine's memory", steps, 1, 0, NAN);
    snprintf(steps, sizeof steps, "managed %" PRIu64 " wait %u", 64 * MIB, HOLD_MS);
    compare_program(check, "64 MiB managed", steps, 1, 0, NAN);
}

static void compare_crash(struct check *check)
{
    char steps[128];
    struct check_result result;
    snprintf(steps, sizeof steps, "hold %" PRIu64 " wait %u crash", 256 * MIB, HOLD_MS);
    if (!check_track(check, "--st 0.1", steps, &result))
        return;
    check_table_state(&check->table, "exit status of a program that crashed",
        result.status == 128 + SIGSEGV, NULL);
    check_compare_process(check, result.report, "gpu_peaks.main",
        (struct check_figure){.figure = "peak of a program that crashed",
            .unit = "bytes",
            .truth = check->context_bytes + 256.0 * MIB,
            .reference = result.watch.max_process_bytes,
            .tolerance = PIECE_BYTES});
    check_result_release(&result);
    check_await_rest(check);
    if (!check_track(check, "--st 0.1", "wait 500", &result))
        return;
    check_compare_process(check, result.report, "gpu_peaks.main",
        (struct check_figure){.figure = "a program without a GPU, started after it",
            .unit = "bytes",
            .truth = 0,
            .reference = NAN});
    check_result_release(&result);
}

/* The same as another user: the driver lists it, and it is ours to track as root. */
static void compare_other_user(struct check *check)
{
    static const char figure[] = "a program of another user";
    struct check_path path = check_path(check, "report.json");
    char bytes[32], wait[16];
    if (geteuid() != 0) {
        check_table_skip(&check->table, figure, "needs root");
        return;
    }
    snprintf(bytes, sizeof bytes, "%" PRIu64, 256 * MIB);
    snprintf(wait, sizeof wait, "%u", HOLD_MS);
    const char *command[] = {check->tracker, "run", "--no-config", "-f", "json", "-o", path.text,
        "--overwrite", "--gru", "bytes", "--st", "0.1", "--", "setpriv", "--reuid", "65534",
        "--regid", "65534", "--clear-groups", check->load, "hold", bytes, "wait", wait, NULL};
    unlink(path.text);
    struct nvml_watch watch;
    bool is_watched = nvml_watch_start(&watch, &check->nvml);
    int status = check_execute(check, command, HOLD_MS / 1e3 + 5 * check->context_s);
    if (is_watched)
        nvml_watch_stop(&watch);
    nvml_watch_finish(&watch);
    json_t *report = status == 0 ? json_load_file(path.text, 0, NULL) : NULL;
    if (report)
        check_compare_process(check, report, "gpu_peaks.main",
            (struct check_figure){.figure = figure,
                .unit = "bytes",
                .truth = check->context_bytes + 256.0 * MIB,
                .reference = watch.max_process_bytes,
                .tolerance = PIECE_BYTES});
    else if (status == PROGRAM_ENDED_LATE)
        check_table_state(&check->table, figure, false, check_failure(status));
    else
        check_table_skip(&check->table, figure, "it may not use the GPU: see log.txt");
    json_decref(report);
}

void trial_memory(struct check *check)
{
    char steps[32];
    check_table_begin(&check->table, "Memory of processes");
    snprintf(steps, sizeof steps, "context wait %u", HOLD_MS);
    compare_program(check, "a context alone", steps, 1, 0, check->context_bytes);
    compare_held(check, 64);
    compare_held(check, HELD_MIB);
    compare_contexts(check);
    compare_other_memory(check);
    compare_crash(check);
    compare_other_user(check);
}

struct peak {
    unsigned ms;
    const char *interval;
    double truth_bytes; /* of the process */
};

/*
 * A driver keeps no peak: bounds are those of the moments at which it was read
 * (docs/memory.md). So they have to hold where samples are closer than the peak is long.
 * Of rarer samples only what they saw is shown; and on a machine that is busy a reading can come
 * too late for its sample.
 */
static bool may_miss(
    const struct check_result *result, const struct peak *peak, char *reason, size_t size)
{
    struct check_busy busy = check_machine_busy();
    double gap_ms = result->longest_gap_s * 1e3;
    if (gap_ms * 2 > peak->ms)
        snprintf(reason, size, "samples were up to %.3g ms apart: it may lie between two", gap_ms);
    else
        snprintf(reason, size, "%s", busy.why);
    return gap_ms * 2 > peak->ms || busy.is_busy;
}

static void compare_bounds(
    struct check *check, const struct check_result *result, const struct peak *peak)
{
    char figure[96], reason[128];
    double at_least = check_number(check, result->report, "gpu_peaks.main");
    double at_most = check_number(check, result->report, "gpu_peaks.main_at_most");
    snprintf(figure, sizeof figure, "peak of %u ms, sampled each %s s", peak->ms, peak->interval);
    if (isnan(at_least))
        check_compare_process(check, result->report, "gpu_peaks.main",
            (struct check_figure){
                .figure = figure, .truth = peak->truth_bytes, .unit = "bytes", .is_timed = true});
    else if (at_most < peak->truth_bytes - PIECE_BYTES &&
             may_miss(result, peak, reason, sizeof reason))
        check_table_skip(&check->table, figure, reason);
    else
        check_table_bounds(&check->table,
            (struct check_figure){.figure = figure,
                .unit = "bytes",
                .truth = peak->truth_bytes,
                .reference = result->watch.max_process_bytes,
                .tolerance = PIECE_BYTES},
            at_least, at_most);
}

static void compare_used_peak(
    struct check *check, const struct check_result *result, const struct peak *peak, double held)
{
    char figure[96], reason[128];
    double seen = check_number(check, result->report, "gpu.max_ram");
    snprintf(figure, sizeof figure, "peak of %u ms, sampled each %s s: in use on the GPU", peak->ms,
        peak->interval);
    if (seen < check->nvml.used_before + check->context_used_bytes + held - PIECE_BYTES &&
        may_miss(result, peak, reason, sizeof reason))
        check_table_skip(&check->table, figure, reason);
    else
        check_compare_used(check, result, figure, 1, held);
}

static void compare_peak(struct check *check, unsigned peak_ms, const char *interval)
{
    char steps[160], options[32], figure[128];
    struct check_result result;
    double held = (64 + HELD_MIB) * (double)MIB;
    struct peak peak = {peak_ms, interval, check->context_bytes + held};
    snprintf(options, sizeof options, "--st %s", interval);
    snprintf(steps, sizeof steps,
        "hold %" PRIu64 " wait %u hold %" PRIu64 " wait %u release wait %u", 64 * MIB,
        check_ms(check, 1200), HELD_MIB * MIB, peak_ms, check_ms(check, 700));
    if (!check_track(check, options, steps, &result))
        return;
    compare_bounds(check, &result, &peak);
    compare_used_peak(check, &result, &peak, held);
    snprintf(figure, sizeof figure, "share seen of a peak of %u ms, sampled each %s s", peak_ms,
        interval);
    double seen = check_number(check, result.report, "gpu_peaks.main");
    check_table_note(&check->table, figure, "percent", seen / peak.truth_bytes * 100);
    check_result_release(&result);
}

void trial_peaks(struct check *check)
{
    static const unsigned peaks_ms[] = {5, 20, 50, 500};
    check_table_begin(&check->table, "Peaks of memory");
    for (size_t i = 0; i < sizeof peaks_ms / sizeof *peaks_ms; i++) {
        compare_peak(check, peaks_ms[i], "0.001");
        compare_peak(check, peaks_ms[i], "0.01");
        compare_peak(check, peaks_ms[i], "1");
    }
}
