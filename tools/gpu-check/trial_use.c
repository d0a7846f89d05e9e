/* Processors, power and energy: against programs that keep the GPU busy for a known share of the
 * time. */
#include "check_run.h"

#include <math.h>
#include <stdio.h>

/* A driver's figure of use is about a span that has passed: so that all that was busy is in some
 * sample, the load rests before and after. */
#define REST_MS 1500
#define INTERVAL_S 0.1
/* The driver cuts percents to whole ones, and starts and ends of kernels have some microseconds. */
#define ROUNDING_PERCENT 1.5

/* Seconds between samples of use that the driver takes; a second where it does not say. */
static double sample_span_s(struct check *check)
{
    static uint64_t times_us[4096];
    size_t count = nvml_reference_sample_times(
        &check->nvml, NVML_UTILIZATION_SAMPLES, times_us, sizeof times_us / sizeof *times_us);
    double span_s = count > 1 ? (double)(times_us[count - 1] - times_us[0]) / 1e6 : NAN;
    return count > 1 ? span_s / (double)(count - 1) : 1;
}

static bool says_utilization(struct check *check)
{
    return !isnan(nvml_reference_read(&check->nvml, NVML_UTILIZATION));
}

/* Whether the driver said what each process uses of the processors. */
static bool says_shares(const struct check *check, const struct check_result *result)
{
    return check->listing == LISTS_PROCESS && !isnan(result->watch.max_process_percent);
}

/*
 * The truth is what the kernels of gpu-load ran, in the time in which samples were taken. At each
 * edge, between rest and busy, a sample of the driver and one of ours each hold for too long or too
 * short.
 */
static void compare_busy(struct check *check, unsigned percent)
{
    char steps[96], figure[96];
    struct check_result result;
    snprintf(steps, sizeof steps, "context wait %u busy %u %u wait %u", REST_MS, percent,
        check_ms(check, 10000), REST_MS);
    if (!check_track(check, "--st 0.1", steps, &result))
        return;
    double seconds = result.last_s - result.first_s;
    double truth = check_busy_s(check, false) / seconds * 100;
    double edge_s = sample_span_s(check) + fmax(result.longest_gap_s, INTERVAL_S);
    double tolerance = ROUNDING_PERCENT + percent * 2 * edge_s / seconds;
    snprintf(figure, sizeof figure, "mean utilization, %u %% busy and rests around it", percent);
    check_compare(check, result.report, "gpu.mean_utilization_percent", says_utilization(check),
        (struct check_figure){.figure = figure,
            .unit = "percent",
            .truth = check->is_shared ? NAN : truth,
            .reference = nvml_watch_mean_utilization(&result.watch, result.first_s, result.last_s),
            .tolerance = tolerance,
            .is_timed = true});
    snprintf(
        figure, sizeof figure, "mean use by the process, %u %% busy and rests around it", percent);
    check_compare(check, result.report, "gpu.mean_main_sm_percent", says_shares(check, &result),
        (struct check_figure){.figure = figure,
            .unit = "percent",
            .truth = truth,
            .reference = nvml_watch_mean_process(&result.watch, result.first_s, result.last_s),
            .tolerance = tolerance,
            .is_timed = true});
    check_result_release(&result);
}

static void compare_long_kernel(struct check *check)
{
    char steps[64];
    struct check_result result;
    unsigned milliseconds = check_ms(check, 10000);
    snprintf(steps, sizeof steps, "kernel %u", milliseconds < 2500 ? 2500 : milliseconds);
    if (!check_track(check, "--st 0.1", steps, &result))
        return;
    check_compare(check, result.report, "gpu.max_utilization_percent", says_utilization(check),
        (struct check_figure){.figure = "highest utilization in one long kernel",
            .unit = "percent",
            .truth = 100,
            .reference = result.watch.max_percent,
            .tolerance = 2,
            .is_timed = true});
    check_result_release(&result);
}

/* What the watching thread saw between the first and the last sample, and how far ours may be off.
 */
struct consumption {
    double seconds, joules, joules_tolerance, watts, watts_tolerance;
    double gap_s;     /* the longest time without a reading of the driver */
    bool has_counter; /* else joules are power, integrated */
};

/* For how long, at both ends, gpu-tracker takes power on, because the driver's answer was early or
 * late: on a machine that is busy some tens of milliseconds. */
static double unread_s(const struct check *check, const struct check_result *result)
{
    double first_s = check_number(check, result->report, "gpu.first_reading_seconds");
    double last_s = check_number(check, result->report, "gpu.last_reading_seconds");
    return fabs(first_s) + fabs(result->last_s - result->first_s - last_s);
}

/*
 * The counter stands still between two renewals, and both read it at moments of their own: at each
 * end that is as much energy as the GPU can take in that time. Its power is a mean, of the last
 * second on many GPUs: in a short run that is less.
 */
static double energy_tolerance(
    const struct check *check, const struct check_result *result, double joules)
{
    const struct nvml_watch *watch = &result->watch;
    double renewal_s = nvml_watch_renewal_s(watch);
    double most_watts = fmax(watch->max_watts, joules / (result->last_s - result->first_s));
    return most_watts *
           (2 * (isnan(renewal_s) ? 1 : renewal_s) + nvml_watch_gap_s(watch, result->first_s) +
               nvml_watch_gap_s(watch, result->last_s) + unread_s(check, result));
}

/* Power is sampled by both: at each change one sample holds for too long. */
static struct consumption watched_consumption(
    const struct check *check, const struct check_result *result)
{
    const struct nvml_watch *watch = &result->watch;
    struct consumption seen = {.seconds = result->last_s - result->first_s};
    seen.gap_s = nvml_watch_longest_gap_s(watch, result->first_s, result->last_s);
    double gap_s = fmax(result->longest_gap_s, INTERVAL_S) + seen.gap_s;
    seen.watts = nvml_watch_mean_watts(watch, result->first_s, result->last_s);
    double change_watts = fmax(watch->max_watts - seen.watts, seen.watts - watch->min_watts);
    seen.watts_tolerance = seen.watts * 0.02 + change_watts * 2 * gap_s / seen.seconds;
    seen.joules = nvml_watch_joules(watch, result->first_s, result->last_s);
    seen.has_counter = !isnan(seen.joules);
    seen.joules_tolerance = seen.has_counter ? energy_tolerance(check, result, seen.joules)
                                             : seen.watts_tolerance * seen.seconds;
    if (!seen.has_counter)
        seen.joules = seen.watts * seen.seconds;
    return seen;
}

static void note_counter(struct check *check, const struct check_result *result,
    const struct consumption *seen, const char *when)
{
    char figure[96];
    snprintf(figure, sizeof figure, "power integrated, of the counter's energy, %s", when);
    check_table_note(
        &check->table, figure, "percent", seen->watts * seen->seconds / seen->joules * 100);
    snprintf(figure, sizeof figure, "energy counter renewed, %s", when);
    check_table_note(&check->table, figure, "s", nvml_watch_renewal_s(&result->watch));
}

static void compare_energy(struct check *check, const char *load, unsigned seconds)
{
    char steps[64], when[32], figure[96];
    struct check_result result;
    unsigned milliseconds = check_ms(check, seconds * 1000);
    snprintf(steps, sizeof steps, load, milliseconds);
    snprintf(
        when, sizeof when, "%s, %.1f s", load[0] == 'w' ? "at rest" : "busy", milliseconds / 1e3);
    /* Power is a mean of the last second on many GPUs: what ran before is not to be in it. */
    monotonic_sleep_until(monotonic_now_ns() + REST_MS * NS_PER_MS);
    if (!check_track(check, "--st 0.1", steps, &result))
        return;
    struct consumption seen = watched_consumption(check, &result);
    snprintf(
        figure, sizeof figure, "energy%s, %s", seen.has_counter ? "" : " without a counter", when);
    check_table_compare(
        &check->table, (struct check_figure){.figure = figure,
                           .unit = "joules",
                           .truth = NAN,
                           .ours = check_number(check, result.report, "energy.machine.gpu"),
                           .reference = seen.joules,
                           .tolerance = seen.joules_tolerance});
    snprintf(figure, sizeof figure, "mean power, %s", when);
    check_compare(check, result.report, "gpu.mean_power_watts", !isnan(seen.watts),
        (struct check_figure){.figure = figure,
            .unit = "watts",
            .truth = NAN,
            .reference = seen.watts,
            .tolerance = seen.watts_tolerance,
            .is_timed = true});
    if (seen.has_counter)
        note_counter(check, &result, &seen, when);
    check_result_release(&result);
}

/* Adds a percentage of two figures to the report, as another figure. */
static void add_share(struct check *check, json_t *report, const char *of, const char *other)
{
    double part = check_number(check, report, of), rest = check_number(check, report, other);
    double share = part / (part + rest) * 100;
    json_object_set_new(report, "share", isnan(share) ? json_null() : json_real(share));
}

/* Two processes take turns; the share of each is what its kernels ran. */
static void compare_shares(struct check *check)
{
    char steps[128];
    struct check_result result;
    unsigned milliseconds = check_ms(check, 20000);
    if (milliseconds < 6000)
        milliseconds = 6000; /* some turns */
    snprintf(steps, sizeof steps, "children 1 slot 791 1130 %u end slot 0 791 %u wait %u join",
        milliseconds, milliseconds, REST_MS);
    if (!check_track(check, "--st 0.1", steps, &result))
        return;
    double main_s = check_busy_s(check, false), child_s = check_busy_s(check, true);
    double edge_s = (sample_span_s(check) + fmax(result.longest_gap_s, INTERVAL_S)) / 2;
    struct check_figure figure = {.figure = "share of use of the process that is busy 70:30",
        .unit = "percent",
        .truth = main_s / (main_s + child_s) * 100,
        .reference = NAN,
        /* Each turn ends within a sample, sooner or later in it: errors of turns partly cancel. */
        .tolerance = 150 * edge_s / sqrt(result.last_s - result.first_s),
        .is_timed = true};
    bool is_said = says_shares(check, &result);
    add_share(check, result.report, "gpu.mean_main_sm_percent", "gpu.mean_descendants_sm_percent");
    check_compare(check, result.report, "share", is_said, figure);
    figure.figure = "share of energy of the process that is busy 70:30";
    add_share(check, result.report, "energy.main", "energy.descendants");
    if (is_said)
        check_compare(check, result.report, "share", true, figure);
    else
        check_table_skip(
            &check->table, figure.figure, "the driver does not say which process is busy");
    double shared = check_number(check, result.report, "energy.main") +
                    check_number(check, result.report, "energy.descendants");
    if (!isnan(shared))
        check_table_state(&check->table, "shares of energy do not exceed the GPU's",
            shared <= check_number(check, result.report, "energy.machine.gpu") * 1.001, NULL);
    check_result_release(&result);
}

void trial_use(struct check *check)
{
    static const unsigned seconds[] = {1, 10, 60};
    check_table_begin(&check->table, "Use of processors");
    compare_busy(check, 25);
    compare_busy(check, 50);
    compare_busy(check, 100);
    compare_long_kernel(check);
    check_table_begin(&check->table, "Power and energy");
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        compare_energy(check, "wait %u", seconds[i]);
        compare_energy(check, "busy 100 %u", seconds[i]);
    }
    compare_shares(check);
}
