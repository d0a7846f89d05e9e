#include "views/output/results_advice.h"

#include "analysis/why/why_rules.h"
#include "base/human.h"
#include "base/text.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

/* Below this nothing is said about what was not used: starting up takes most of such a run. */
#define MIN_SECONDS 10.0
/* The same of a GPU that was asked for: a program that is to use one has it by then. */
#define MIN_GPU_SECONDS 1.0
/* The same of cores that others kept busy: such a run took longer than it would have alone. */
#define MIN_SHARED_SECONDS 1.0
/* What counts as left unused. */
#define UNUSED_RAM 0.2
#define UNUSED_RAM_MIN_BYTES 4e9
#define IDLE_PERCENT 1.0
#define LOW_GPU_PERCENT 25.0
#define MIN_SHORT_LIVED_SECONDS 1 /* a command that is short itself is not waste */
#define NOTABLE_PERCENT 20.0
#define LATE_PERCENT 5.0
#define MAX_TIME_ADVICE 2 /* of where its time went; gpu-tracker why has more */
#define NOTABLE_WAIT 0.05 /* of the wall time, for a CPU */
#define BUSY 0.9          /* of the cores: no others were to be had */

struct advice {
    const struct gput_results *results;
    char (*texts)[ADVICE_SIZE];
    size_t count;
};

/* Adds a sentence, unless there are too many already. */
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

/* Adds where memory ran out or nearly did: of the command, of a GPU, of the machine. */
static void add_full_memory(struct advice *advice)
{
    const struct gput_results *results = advice->results;
    const struct gput_accounting *accounting = &results->accounting;
    const struct gput_identity *identity = &results->identity;

    /* It also counts processes of the command when the command itself was not killed. */
    if (accounting->oom_killed > 0)
        add(advice, "%.0f process%s killed: out of memory (%.*s).", accounting->oom_killed,
            accounting->oom_killed == 1 ? " was" : "es were",
            (int)strcspn(accounting->oom_killed_reason, ";"), accounting->oom_killed_reason);

    /* Without a control group that counts them, only the kernel's log knows of a kill for memory,
     * and daemons that kill before the kernel has to are counted nowhere. So a kill by somebody
     * else than gpu-tracker, of the command or of what a shell ran for it, is explained by the
     * peak. */
    bool was_killed = !results->limit.enforced &&
                      (identity->signal == SIGKILL || identity->exit_status == 128 + SIGKILL);
    bool is_unexplained = was_killed && !(accounting->oom_killed > 0);
    char limit_text[HUMAN_SIZE];
    double limit = results->static_data.allowed_ram_bytes;
    double peak = results_ram_of_limit(results, results->max[GPUT_COMBINED_RAM]);
    if (peak >= NEAR_LIMIT * limit)
        add(advice, "RAM peaked at %.0f %% of its limit of %s%s.", 100 * peak / limit,
            human_bytes(limit, limit_text),
            is_unexplained ? ", and it was killed: out of memory, most likely" : "");

    for (uint32_t i = 0; i < results->n_gpus; i++) {
        const struct gput_gpu *gpu = &results->gpus[i];
        if (gpu->selected && gpu->max_ram_bytes >= NEAR_LIMIT * gpu->ram_capacity_bytes)
            add(advice, "The RAM of GPU %u was %.0f %% in use.", (unsigned)i,
                100 * gpu->max_ram_bytes / gpu->ram_capacity_bytes);
    }

    double capacity = results->static_data.ram_system_capacity_bytes;
    double used = results->max[GPUT_SYSTEM_RAM];
    if (isnan(limit) && used >= 0.95 * capacity)
        add(advice, "The machine's RAM was %.0f %% in use.", 100 * used / capacity);
}

/* Adds the GPUs that were idle. A command that neither named GPUs nor used one is not told about
 * the several GPUs of its machine. */
static void add_idle_gpus(struct advice *advice)
{
    const struct gput_results *results = advice->results;
    bool is_long = results->elapsed_seconds >= MIN_SECONDS;
    bool is_wanted = !isnan(results->allowed.gpus) || results->allowed.named_gpus > 0;
    for (uint32_t i = 0; i < results->n_gpus; i++)
        is_wanted |= !results->gpus[i].selected || results->gpus[i].max_combined_ram_bytes > 0;
    if (is_wanted ? results->elapsed_seconds < MIN_GPU_SECONDS : results->n_gpus != 1 || !is_long)
        return;

    bool are_lists_late = results->gpu_peaks.late_list_seconds > 0;
    for (uint32_t i = 0; i < results->n_gpus; i++) {
        const struct gput_gpu *gpu = &results->gpus[i];
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

/* Adds that less than half of the cores was used, and how many of the others were busy. Those do
 * not concern a command that did not wait for a CPU. */
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

    /* Others kept as many of the allowed cores busy as they used beyond the cores that are not. */
    double others = results->mean[GPUT_CPU_SYSTEM_SUM] / 100 - used;
    others = fmax(others - (results->static_data.system_core_count - allowed), 0);
    human_cores(used, text);
    bool has_waited =
        !(results->accounting.run_queue_wait_seconds < NOTABLE_WAIT * results->elapsed_seconds);
    if (has_waited && used + others > BUSY * allowed)
        add(advice, "%s of %g cores used: others kept %s of them busy.", text, allowed,
            human_cores(others, text_of_others));
    else if (results->elapsed_seconds >= MIN_SECONDS)
        add(advice, "%s of %g cores used.", text, allowed);
}

/* Adds what a command that ran for a while could do better: ask for less, be sampled better. */
static void add_waste(struct advice *advice)
{
    const struct gput_results *results = advice->results;
    char limit_text[HUMAN_SIZE];
    double limit = results->static_data.allowed_ram_bytes;
    double peak = results_ram_of_limit(results, results->max[GPUT_COMBINED_RAM]);
    if (limit >= UNUSED_RAM_MIN_BYTES && peak <= UNUSED_RAM * limit)
        add(advice, "RAM peaked at %.0f %% of the %s that were allowed.", 100 * peak / limit,
            human_bytes(limit, limit_text));

    double captured = results->accounting.captured_percent;
    if (captured <= 100 - NOTABLE_PERCENT)
        add(advice, "Samples saw %.0f %% of the CPU time. Sample more often (--st).", captured);

    uint64_t ticks = results->tracker.ticks;
    uint64_t late = results->tracker.late_ticks + results->tracker.missed_ticks;
    if (ticks >= 20 && (double)late * 100 >= LATE_PERCENT * (double)ticks)
        add(advice, "%.0f %% of the samples were late: the machine was overloaded.",
            100 * fmin((double)late / (double)ticks, 1));
}

size_t results_advice(const struct gput_results *results, char texts[MAX_ADVICE][ADVICE_SIZE])
{
    const struct gput_accounting *accounting = &results->accounting;
    struct advice advice = {results, texts, 0};
    add_full_memory(&advice);
    if (results->tracker.rows_lost)
        add(&advice, "%llu sample%s could not be written to the tracking file.",
            (unsigned long long)results->tracker.rows_lost,
            results->tracker.rows_lost == 1 ? "" : "s");
    double short_lived = accounting->short_lived_cpu_seconds;
    double percent = 100 * short_lived / accounting->kernel_cpu_seconds;
    if (percent >= NOTABLE_PERCENT && short_lived >= MIN_SHORT_LIVED_SECONDS)
        add(&advice, "At least %.0f %% of CPU time in %.0f or more processes under 50 ms.", percent,
            accounting->short_lived_processes);
    add_idle_gpus(&advice);
    if (results->elapsed_seconds >= MIN_SHARED_SECONDS)
        add_unused_cores(&advice);
    if (results->elapsed_seconds >= MIN_SECONDS)
        add_waste(&advice);
    if (results->elapsed_seconds >= MIN_SECONDS) {
        /* Add what it waited for. */
        char waits[WHY_MAX_ADVICE][WHY_TEXT_SIZE];
        size_t count = why_advice(results, waits);
        for (size_t i = 0; i < count && i < MAX_TIME_ADVICE; i++)
            add(&advice, "%s", waits[i]);
    }
    return advice.count;
}
