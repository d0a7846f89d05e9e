#include "views/output/results_advice.h"

#include "base/human.h"
#include "base/text.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>

/* Below this nothing is said about what was not used: starting up takes most of such a run. */
#define MIN_SECONDS 10.0
/* The same of a GPU that was asked for: a program that is to use one has it by then. */
#define MIN_GPU_SECONDS 1.0
/* What counts as left unused. */
#define UNUSED_RAM 0.2
#define UNUSED_RAM_MIN_BYTES 4e9
#define IDLE_PERCENT 1.0
#define LOW_GPU_PERCENT 25.0
#define MIN_SHORT_LIVED_SECONDS 1 /* a command that is short itself is not waste */
#define NOTABLE_PERCENT 20.0
#define LATE_PERCENT 5.0
#define BUSY 0.9 /* of the cores: no others were to be had */

struct advice {
    const struct gput_results *results;
    char (*texts)[ADVICE_SIZE];
    size_t count;
};

__attribute__((format(printf, 2, 3))) static void add(
    struct advice *advice, const char *format, ...)
{
    va_list arguments;
    if (advice->count == MAX_ADVICE)
        return;
    va_start(arguments, format);
    text_fit_list(advice->texts[advice->count++], ADVICE_SIZE, format, arguments);
    va_end(arguments);
}

/* Whether something else than gpu-tracker killed the command, or what a shell ran for it. */
static bool was_killed(const struct gput_results *results)
{
    const struct gput_identity *identity = &results->identity;
    return !results->limit.enforced &&
           (identity->signal == SIGKILL || identity->exit_status == 128 + SIGKILL);
}

/* Also what the command started, and lived without. */
static void add_oom_kills(struct advice *advice)
{
    const struct gput_accounting *accounting = &advice->results->accounting;
    if (accounting->oom_killed > 0)
        add(advice, "%.0f process%s killed: out of memory (%.110s).", accounting->oom_killed,
            accounting->oom_killed == 1 ? " was" : "es were", accounting->oom_killed_reason);
}

/* That memory was the reason where no control group counted it, the kernel's log alone says; and
 * daemons that end programs before the kernel has to are not counted. */
static void add_ram_near_limit(struct advice *advice)
{
    bool is_unexplained =
        was_killed(advice->results) && !(advice->results->accounting.oom_killed > 0);
    const char *end = is_unexplained ? ", and it was killed: out of memory, most likely" : "";
    char limit_text[HUMAN_SIZE];
    double limit = advice->results->static_data.allowed_ram_bytes;
    double peak = results_ram_of_limit(advice->results, advice->results->max[GPUT_COMBINED_RAM]);
    if (peak >= NEAR_LIMIT * limit)
        add(advice, "RAM peaked at %.0f %% of its limit of %s%s.", 100 * peak / limit,
            human_bytes(limit, limit_text), end);
}

static void add_full_machine(struct advice *advice)
{
    double capacity = advice->results->static_data.ram_system_capacity_bytes;
    double used = advice->results->max[GPUT_SYSTEM_RAM];
    if (isnan(advice->results->static_data.allowed_ram_bytes) && used >= 0.95 * capacity)
        add(advice, "The machine's RAM was %.0f %% in use.", 100 * used / capacity);
}

static void add_unused_ram(struct advice *advice)
{
    char limit_text[HUMAN_SIZE];
    double limit = advice->results->static_data.allowed_ram_bytes;
    double peak = results_ram_of_limit(advice->results, advice->results->max[GPUT_COMBINED_RAM]);
    if (limit >= UNUSED_RAM_MIN_BYTES && peak <= UNUSED_RAM * limit)
        add(advice, "RAM peaked at %.0f %% of the %s that were allowed.", 100 * peak / limit,
            human_bytes(limit, limit_text));
}

static void add_gpu_ram_near_limit(struct advice *advice)
{
    for (uint32_t i = 0; i < advice->results->n_gpus; i++) {
        const struct gput_gpu *gpu = &advice->results->gpus[i];
        if (gpu->selected && gpu->max_ram_bytes >= NEAR_LIMIT * gpu->ram_capacity_bytes)
            add(advice, "The RAM of GPU %u was %.0f %% in use.", (unsigned)i,
                100 * gpu->max_ram_bytes / gpu->ram_capacity_bytes);
    }
}

/* The environment or --gpu-uuids names some GPUs, or the command used one of those it sees. */
static bool wanted_gpus(const struct gput_results *results)
{
    bool is_wanted = !isnan(results->allowed.gpus) || results->allowed.named_gpus > 0;
    for (uint32_t i = 0; i < results->n_gpus; i++) {
        const struct gput_gpu *gpu = &results->gpus[i];
        is_wanted |= !gpu->selected || gpu->max_combined_ram_bytes > 0;
    }
    return is_wanted;
}

/* Several GPUs of a machine are not the business of a command that asked for none and used none. */
static bool are_gpus_compared(const struct gput_results *results)
{
    if (wanted_gpus(results))
        return results->elapsed_seconds >= MIN_GPU_SECONDS;
    return results->n_gpus == 1 && results->elapsed_seconds >= MIN_SECONDS;
}

static void add_idle_gpus(struct advice *advice)
{
    bool is_long = advice->results->elapsed_seconds >= MIN_SECONDS;
    bool are_lists_late = advice->results->gpu_peaks.late_list_seconds > 0;
    if (!are_gpus_compared(advice->results))
        return;
    for (uint32_t i = 0; i < advice->results->n_gpus; i++) {
        const struct gput_gpu *gpu = &advice->results->gpus[i];
        if (!gpu->selected)
            continue;
        if (gpu->max_combined_ram_bytes == 0 && !are_lists_late)
            add(advice, "GPU %u was not used by the command.", (unsigned)i);
        else if (!is_long)
            continue;
        else if (gpu->max_utilization_percent < IDLE_PERCENT)
            add(advice, "GPU %u was idle all the time.", (unsigned)i);
        else if (gpu->mean_utilization_percent < LOW_GPU_PERCENT)
            add(advice, "GPU %u was busy %.0f %% of the time.", (unsigned)i,
                gpu->mean_utilization_percent);
    }
}

/* Of the allowed cores those that others kept busy: what they used beyond the cores that are not
 * allowed. */
static double cores_of_others(const struct gput_results *results, double used, double allowed)
{
    double others = results->mean[GPUT_CPU_SYSTEM_SUM] / 100 - used;
    return fmax(others - (results->static_data.system_core_count - allowed), 0);
}

static void add_unused_cores(struct advice *advice)
{
    const struct gput_results *results = advice->results;
    char text[HUMAN_SIZE], text_of_others[HUMAN_SIZE];
    double allowed = results->static_data.allowed_cores;
    if (isnan(allowed))
        allowed = results->static_data.n_expected_cores;
    double used = results->accounting.kernel_cpu_seconds / results->elapsed_seconds;
    if (!(allowed >= 2 && used < allowed / 2 && allowed - used >= 1))
        return;
    double others = cores_of_others(results, used, allowed);
    human_cores(used, text);
    if (used + others > BUSY * allowed)
        add(advice, "%s of %g cores used: others kept %s of them busy.", text, allowed,
            human_cores(others, text_of_others));
    else
        add(advice, "%s of %g cores used.", text, allowed);
}

static void add_short_processes(struct advice *advice)
{
    const struct gput_accounting *accounting = &advice->results->accounting;
    double percent = 100 * accounting->short_lived_cpu_seconds / accounting->kernel_cpu_seconds;
    if (percent >= NOTABLE_PERCENT &&
        accounting->short_lived_cpu_seconds >= MIN_SHORT_LIVED_SECONDS)
        add(advice, "At least %.0f %% of CPU time in %.0f or more processes under 50 ms.", percent,
            accounting->short_lived_processes);
}

static void add_missed_by_samples(struct advice *advice)
{
    double percent = advice->results->accounting.captured_percent;
    if (percent <= 100 - NOTABLE_PERCENT)
        add(advice, "Samples saw %.0f %% of the CPU time. Sample more often (--st).", percent);
}

static void add_lost_rows(struct advice *advice)
{
    if (advice->results->tracker.rows_lost)
        add(advice, "%llu sample%s could not be written to the tracking file.",
            (unsigned long long)advice->results->tracker.rows_lost,
            advice->results->tracker.rows_lost == 1 ? "" : "s");
}

static void add_late_samples(struct advice *advice)
{
    uint64_t ticks = advice->results->tracker.ticks;
    uint64_t late = advice->results->tracker.late_ticks + advice->results->tracker.missed_ticks;
    if (ticks >= 20 && (double)late * 100 >= LATE_PERCENT * (double)ticks)
        add(advice, "%.0f %% of the samples were late: the machine was overloaded.",
            100 * fmin((double)late / (double)ticks, 1));
}

size_t results_advice(const struct gput_results *results, char texts[MAX_ADVICE][ADVICE_SIZE])
{
    struct advice advice = {results, texts, 0};
    add_oom_kills(&advice);
    add_ram_near_limit(&advice);
    add_gpu_ram_near_limit(&advice);
    add_full_machine(&advice);
    add_lost_rows(&advice);
    add_short_processes(&advice);
    add_idle_gpus(&advice);
    if (results->elapsed_seconds >= MIN_SECONDS) {
        add_unused_cores(&advice);
        add_unused_ram(&advice);
        add_missed_by_samples(&advice);
        add_late_samples(&advice);
    }
    return advice.count;
}
