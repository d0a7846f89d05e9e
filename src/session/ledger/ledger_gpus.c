/*
 * Figures of each GPU in the results, and their sources.
 */
#include "session/ledger/ledger.h"

#include "base/clock.h"
#include "base/text.h"
#include "machine/gpu/set.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns a figure, or NaN for a lower bound of 0, which says nothing. */
static double unless_lacking(double figure, bool lacks_some)
{
    return lacks_some && figure == 0 ? NAN : figure;
}

/* Zeros of samples that may lack the tracked processes. */
static void drop_unknown_zeros(const struct ledger *ledger, size_t device, struct gput_gpu *gpu)
{
    bool lacks_ram = snapshot_lacks_gpu_figure(ledger->snapshot, device, GPU_PROCESS_RAM);
    bool lacks_use = snapshot_lacks_gpu_figure(ledger->snapshot, device, GPU_PROCESS_UTILIZATION);
    double *const ram[] = {
        &gpu->max_main_ram_bytes, &gpu->max_descendants_ram_bytes, &gpu->max_combined_ram_bytes};
    double *const use[] = {&gpu->max_main_sm_percent, &gpu->mean_main_sm_percent,
        &gpu->max_descendants_sm_percent, &gpu->mean_descendants_sm_percent};
    for (size_t i = 0; i < sizeof ram / sizeof *ram; i++)
        *ram[i] = unless_lacking(*ram[i], lacks_ram);
    for (size_t i = 0; i < sizeof use / sizeof *use; i++)
        *use[i] = unless_lacking(*use[i], lacks_use);
}

/* NaN: nothing was read. */
static double seconds_after_start(const struct ledger *ledger, int64_t read_ns)
{
    return read_ns ? clock_seconds_of_ns(read_ns - ledger->settings->start_ns) : NAN;
}

/* Returns the figures of one GPU by its usage. */
static struct gput_gpu figures_of(
    const struct ledger *ledger, const struct gpu_device *device, size_t i)
{
    const struct gpu_usage *usage = &ledger->gpu_usage;
    return (struct gput_gpu){
        .selected = device->selected,
        .ram_capacity_bytes = device->ram_capacity_bytes,
        .max_ram_bytes = gpu_usage_max(usage, i, GPU_USAGE_RAM),
        .max_main_ram_bytes = gpu_usage_max(usage, i, GPU_USAGE_MAIN_RAM),
        .max_descendants_ram_bytes = gpu_usage_max(usage, i, GPU_USAGE_DESCENDANTS_RAM),
        .max_combined_ram_bytes = gpu_usage_max(usage, i, GPU_USAGE_COMBINED_RAM),
        .max_combined_ram_at_most_bytes = gpu_usage_combined_ram_at_most(usage, i),
        .max_utilization_percent = gpu_usage_max(usage, i, GPU_USAGE_UTILIZATION),
        .mean_utilization_percent = gpu_usage_mean(usage, i, GPU_USAGE_UTILIZATION),
        .max_main_sm_percent = gpu_usage_max(usage, i, GPU_USAGE_MAIN_SM),
        .mean_main_sm_percent = gpu_usage_mean(usage, i, GPU_USAGE_MAIN_SM),
        .max_descendants_sm_percent = gpu_usage_max(usage, i, GPU_USAGE_DESCENDANTS_SM),
        .mean_descendants_sm_percent = gpu_usage_mean(usage, i, GPU_USAGE_DESCENDANTS_SM),
        .max_power_watts = gpu_usage_max(usage, i, GPU_USAGE_POWER),
        .mean_power_watts = gpu_usage_mean(usage, i, GPU_USAGE_POWER),
        .now = {.ram_bytes = gpu_usage_last(usage, i, GPU_USAGE_RAM),
            .combined_ram_bytes = gpu_usage_last(usage, i, GPU_USAGE_COMBINED_RAM),
            .utilization_percent = gpu_usage_last(usage, i, GPU_USAGE_UTILIZATION),
            .power_watts = gpu_usage_last(usage, i, GPU_USAGE_POWER),
            .joules = device->mig ? NAN : ledger->snapshot->energy->gpus[i].joules},
    };
}

/* Adds the figures of the card itself, unless no sample has any. */
static void fill_card(const struct ledger *ledger, size_t i, struct gput_gpu *gpu)
{
    static const struct card_usage nothing;
    const struct card_usage *card = gpu_usage_card(&ledger->gpu_usage, i);
    if (!card)
        card = &nothing;
#define SET(member, FIGURE, how, unit, meaning) gpu->member = card_usage_##how(card, CARD_##FIGURE);
#define SET_NOW(member, FIGURE, unit, meaning)                                                     \
    gpu->now.member = card_usage_last(card, CARD_##FIGURE);
    CARD_RESULTS(SET)
    CARD_RESULTS_NOW(SET_NOW)
#undef SET
#undef SET_NOW
    double means[CARD_FIGURE_COUNT];
    for (int figure = 0; figure < CARD_FIGURE_COUNT; figure++)
        means[figure] = card_usage_mean(card, (enum card_figure)figure);
    card_describe_parts(means, gpu->mean_utilization_percent, gpu->parts, sizeof gpu->parts);
    card_usage_describe_slowdowns(card, gpu->slowed_by, sizeof gpu->slowed_by);
    card_usage_describe_health(card, gpu->health, sizeof gpu->health);
}

void ledger_fill_gpus(const struct ledger *ledger, struct gput_results *results)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(ledger->settings->gpus, &count);
    session_settings_fill_gpus(ledger->settings, &results->static_data);
    if (results_reserve_gpus(results, count) != GPUT_OK) {
        results_add_source(results, "gpus", GPUT_SOURCE_UNAVAILABLE,
            "out of memory: figures of single GPUs are missing");
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        struct gput_gpu *gpu = &results->gpus[results->n_gpus++];
        *gpu = figures_of(ledger, &devices[i], i);
        memcpy(gpu->uuid, devices[i].uuid, sizeof gpu->uuid);
        memcpy(gpu->name, devices[i].name, sizeof gpu->name);
        memcpy(gpu->pci_address, devices[i].pci_address, sizeof gpu->pci_address);
        snprintf(gpu->vendor, sizeof gpu->vendor, "%s", gpu_vendor_name(devices[i].vendor));
        gpu_device_explain(&devices[i], GPU_ENERGY, gpu->missing, sizeof gpu->missing);
        const struct gpu_usage *usage = &ledger->gpu_usage;
        bool is_sampled = i < usage->n_devices;
        gpu->first_reading_seconds =
            seconds_after_start(ledger, is_sampled ? usage->devices[i].first_read_ns : 0);
        gpu->last_reading_seconds =
            seconds_after_start(ledger, is_sampled ? usage->devices[i].last_read_ns : 0);
        fill_card(ledger, i, gpu);
        drop_unknown_zeros(ledger, i, gpu);
        /* All had at least what this one had, also between two samples. */
        if (gpu->max_ram_bytes > results->max[GPUT_SYSTEM_GPU_RAM])
            results->max[GPUT_SYSTEM_GPU_RAM] = gpu->max_ram_bytes;
    }
    for (int i = GPUT_MAIN_GPU_RAM; i <= GPUT_COMBINED_GPU_RAM; i++) {
        results->max[i] = snapshot_gpu_bytes(ledger->snapshot, results->max[i]);
        results->mean[i] = snapshot_gpu_bytes(ledger->snapshot, results->mean[i]);
    }
}

/* ---- peaks ---- */

/* NaN without a list. */
static double list_age_seconds(const struct ledger *ledger)
{
    int64_t listed_ns = ledger->snapshot->gpu.listed_ns,
            age_ns = ledger->snapshot->taken_ns - listed_ns;
    if (!listed_ns)
        return NAN;
    return age_ns > 0 ? clock_seconds_of_ns(age_ns) : 0;
}

/* Over all GPUs; NaN when it is not bounded on one of them. */
static double combined_at_most(const struct ledger *ledger)
{
    double sum = 0;
    for (size_t i = 0; i < ledger->gpu_usage.n_devices; i++)
        sum += gpu_usage_combined_ram_at_most(&ledger->gpu_usage, i);
    return ledger->gpu_usage.n_devices ? sum : NAN;
}

static void set_gpu_peak(
    struct gput_peak *peak, double bytes, double at_most_bytes, const char *source)
{
    *peak = (struct gput_peak){.bytes = bytes, .at_most_bytes = at_most_bytes};
    text_fit(peak->source, sizeof peak->source, "%s", source);
}

/* Says what the peaks of GPU RAM rest on. */
static const char *source_of_gpu_peaks(const double *max, double at_most)
{
    if (isnan(max[GPUT_COMBINED_GPU_RAM]))
        return isnan(at_most)
                   ? "no driver has reported which processes hold GPU RAM"
                   : "no driver has reported which processes hold GPU RAM; at most: the rise of "
                     "the memory in use on the GPUs, at the moments when it was read";
    return isnan(at_most) ? "at least: processes as drivers list them; no upper bound: other "
                            "processes used a GPU, or may have"
                          : "at least: processes as drivers list them; at most: the rise of the "
                            "memory in use on the GPUs; both at the moments when they were read";
}

void ledger_fill_gpu_peaks(const struct ledger *ledger, struct gput_results *results)
{
    struct gput_peak *main = &results->gpu_peaks.main, *all = &results->gpu_peaks.combined,
                     *descendants = &results->gpu_peaks.descendants;
    const double *max = results->max;
    if (ledger->settings->mode == SESSION_MACHINE || ledger->gpu_usage.n_devices == 0) {
        set_gpu_peak(main, NAN, NAN,
            ledger->settings->mode == SESSION_MACHINE ? "no process is tracked"
                                                      : "no GPU was found, or none can be read");
        *descendants = *all = *main;
        results->gpu_peaks.list_age_seconds = results->gpu_peaks.late_list_seconds = NAN;
        return;
    }
    results->gpu_peaks.list_age_seconds = list_age_seconds(ledger);
    results->gpu_peaks.late_list_seconds = ledger->gpu_usage.late_list_seconds;
    double at_most = combined_at_most(ledger);
    const char *source = source_of_gpu_peaks(max, at_most);
    set_gpu_peak(main, max[GPUT_MAIN_GPU_RAM], at_most, source);
    set_gpu_peak(descendants, max[GPUT_DESCENDANTS_GPU_RAM], at_most, source);
    set_gpu_peak(all, max[GPUT_COMBINED_GPU_RAM], at_most, source);
    if (process_log_descendants(&ledger->log).has_all && ledger->log.seen <= 1)
        set_gpu_peak(descendants, 0, 0, "there were none");
}

/* ---- sources ---- */

/* Says how lists of processes were read, and how old they were. */
static void add_list_source(const struct ledger *ledger, struct gput_results *results)
{
    char age[64] = "", late[128] = "";
    double seconds = results->gpu_peaks.list_age_seconds,
           late_seconds = results->gpu_peaks.late_list_seconds;
    if (isnan(results->gpu_peaks.combined.bytes))
        return;
    if (seconds > 0 && ledger->has_ended)
        text_fit(age, sizeof age, "; the last answer came %.2f s before the end", seconds);
    if (late_seconds > 0)
        text_fit(late, sizeof late,
            "; the driver is slow: samples have figures up to %.2f s old, while the memory in use "
            "has changed",
            late_seconds);
    results_add_source(results, "gpu_ram", GPUT_SOURCE_SAMPLED,
        "processes as drivers list them: at the start, at the end, when the memory in use on a GPU "
        "has changed at a tick, and else ten times a second at most%s%s",
        late, age);
}

/* NULL: there is a GPU. */
static const char *why_no_gpu(const struct ledger *ledger)
{
    const char *missing = gpu_set_missing(ledger->settings->gpus);
    return missing && !gpu_set_has_hidden_gpus(ledger->settings->gpus)
               ? "no GPU was found (why: gpu-tracker doctor)"
               : missing;
}

static bool hides_processes(const struct ledger *ledger)
{
    size_t count;
    gpu_set_devices(ledger->settings->gpus, &count);
    for (size_t i = 0; i < count; i++)
        if (gpu_set_hides_processes(ledger->settings->gpus, i))
            return true;
    return false;
}

/* Adds the source of GPU RAM of processes, or why it is missing. */
static void add_gpu_ram_source(const struct ledger *ledger, struct gput_results *results)
{
    bool some;
    const char *none = why_no_gpu(ledger);
    const char *why = gpu_set_process_ram_missing(ledger->settings->gpus, &some);
    bool lacks_some = snapshot_lacks_gpu_processes(ledger->snapshot);
    double max = results->max[GPUT_COMBINED_GPU_RAM];
    bool is_missing = !none && isnan(max) && why;
    if (ledger->settings->mode == SESSION_MACHINE ||
        (!ledger->settings->options.processes && !lacks_some && !is_missing))
        return;
    double first_in_use = ledger->usage.first[GPUT_SYSTEM_GPU_RAM];
    bool has_use = !isnan(first_in_use) && !isnan(results->max[GPUT_SYSTEM_GPU_RAM]);
    if (is_missing && has_use && hides_processes(ledger))
        results_add_source(results, "process_gpu_ram", GPUT_SOURCE_UNAVAILABLE,
            "%s; by any process, %.0f MB were in use on the GPUs at first and %.0f MB at most", why,
            first_in_use * 1e-6, results->max[GPUT_SYSTEM_GPU_RAM] * 1e-6);
    else if (is_missing || (!some && !(max > 0)))
        results_add_source(
            results, "process_gpu_ram", GPUT_SOURCE_UNAVAILABLE, "%s", none ? none : why);
    else
        results_add_source(results, "process_gpu_ram", GPUT_SOURCE_SAMPLED,
            "%sGPU RAM of each process, as drivers list it (gpu_ram says when)%s%s",
            lacks_some ? "at least: " : "", why ? "; not of every GPU: " : "", why ? why : "");
}

static const char *state_word(enum gpu_source_state state)
{
    static const char *const words[] = {[GPU_SOURCE_AVAILABLE] = "available",
        [GPU_SOURCE_PARTIAL] = "partly",
        [GPU_SOURCE_SUSPENDED] = "asleep",
        [GPU_SOURCE_ABSENT] = "absent",
        [GPU_SOURCE_FAILED] = "failed",
        [GPU_SOURCE_SKIPPED] = "skipped",
        [GPU_SOURCE_OPENING] = "not open"};
    return words[state];
}

/* Says of each driver what it gives. */
static void add_driver_sources(const struct ledger *ledger, struct gput_results *results)
{
    size_t count;
    const struct gpu_source_status *sources = gpu_set_sources(ledger->settings->gpus, &count);
    const char *missing = why_no_gpu(ledger);
    if (missing) {
        results_add_source(results, "gpu", GPUT_SOURCE_UNAVAILABLE, "%s", missing);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        bool has =
            sources[i].state == GPU_SOURCE_AVAILABLE || sources[i].state == GPU_SOURCE_PARTIAL;
        if (!has && sources[i].state == GPU_SOURCE_ABSENT)
            continue;
        char name[32];
        snprintf(name, sizeof name, "gpu_%s", sources[i].name);
        results_add_source(results, name, has ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_UNAVAILABLE,
            "%s: %s", state_word(sources[i].state), sources[i].detail);
    }
}

/* Adds the source of the time for which cards were slowed. It is exact where the driver counted
 * the time itself from the start on (amdgpu counts its controller's ticks). */
static void add_slowdown_source(const struct ledger *ledger, struct gput_results *results)
{
    bool is_counted = false, has_reasons = false, was_late = false, is_made_of_ticks = false,
         is_contradicted = false;
    for (size_t i = 0; i < ledger->gpu_usage.n_devices && i < results->n_gpus; i++) {
        const struct card_usage *card = &ledger->gpu_usage.devices[i].card;
        bool counts = !isnan(card_usage_counted(card, CARD_POWER_CAP_SECONDS)) ||
                      !isnan(card_usage_counted(card, CARD_THERMAL_SECONDS));
        is_counted |= counts;
        has_reasons |= card->n_with_reasons > 0;
        is_made_of_ticks |= counts && strcmp(results->gpus[i].vendor, "nvidia") != 0;
        is_contradicted |= card_usage_is_contradicted(card);
        was_late |= counts &&
                    (!(results->gpus[i].first_reading_seconds <= 0) || card_usage_is_partial(card));
    }
    if (is_counted && was_late)
        results_add_source(results, "gpu_slowdowns", GPUT_SOURCE_SAMPLED,
            "at least: counted by the driver from its first reading on (first_reading_seconds), "
            "and from a reset on");
    else if (is_counted && is_contradicted)
        results_add_source(results, "gpu_slowdowns", GPUT_SOURCE_SAMPLED,
            "at least: a counter of the driver stood still while it gave that reason (slowed_by)");
    else if (is_made_of_ticks)
        results_add_source(results, "gpu_slowdowns", GPUT_SOURCE_SAMPLED,
            "the driver counts ticks of the card's controller by reason: shares of the time "
            "between two readings; of several parts that were too hot, the one that was so "
            "longest");
    else if (is_counted)
        results_add_source(results, "gpu_slowdowns", GPUT_SOURCE_EXACT,
            "counted by the driver in nanoseconds, by reason");
    else if (has_reasons)
        results_add_source(results, "gpu_slowdowns", GPUT_SOURCE_SAMPLED,
            "the reasons that the driver gave when it was read; it does not count the time");
}

/* Adds why parts of the chip are missing on all GPUs, if the session asks for them. */
static void add_parts_source(const struct ledger *ledger, struct gput_results *results)
{
    const char *missing = "no GPU was read";
    bool is_there = false;
    if (!ledger->settings->options.gpu_parts)
        return;
    for (uint32_t i = 0; i < results->n_gpus; i++) {
        const char *why = gpu_set_card(ledger->settings->gpus, i)->missing[CARD_SM_ACTIVE];
        is_there |= results->gpus[i].parts[0] != '\0';
        missing = why ? why : missing;
    }
    results_add_source(results, "gpu_parts",
        is_there ? GPUT_SOURCE_SAMPLED : GPUT_SOURCE_UNAVAILABLE, "%s",
        is_there ? "counters of the NVIDIA driver (GPM): means of the times between two readings; "
                   "other readers, as DCGM, may have missed values"
                 : missing);
}

void ledger_add_gpu_sources(const struct ledger *ledger, struct gput_results *results)
{
    add_driver_sources(ledger, results);
    add_list_source(ledger, results);
    add_slowdown_source(ledger, results);
    add_parts_source(ledger, results);
    add_gpu_ram_source(ledger, results);
}
