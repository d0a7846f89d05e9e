/*
 * Figures of each GPU in the results.
 */
#include "session/ledger.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* That it was at least 0 is no information. */
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

void ledger_fill_gpus(const struct ledger *ledger, struct gput_results *results)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(ledger->settings->gpus, &count);
    const struct gpu_usage *usage = &ledger->gpu_usage;
    session_settings_fill_gpus(ledger->settings, &results->static_data);
    if (results_reserve_gpus(results, count) != GPUT_OK) {
        ledger_add_source(results, "gpus", GPUT_SOURCE_UNAVAILABLE,
            "out of memory: figures of single GPUs are missing");
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        struct gput_gpu *gpu = &results->gpus[results->n_gpus++];
        *gpu = (struct gput_gpu){
            .selected = devices[i].selected,
            .ram_capacity_bytes = devices[i].ram_capacity_bytes,
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
                .joules = devices[i].mig ? NAN : ledger->snapshot->energy->gpus[i].joules},
        };
        memcpy(gpu->uuid, devices[i].uuid, sizeof gpu->uuid);
        memcpy(gpu->name, devices[i].name, sizeof gpu->name);
        memcpy(gpu->pci_address, devices[i].pci_address, sizeof gpu->pci_address);
        snprintf(gpu->vendor, sizeof gpu->vendor, "%s", gpu_vendor_name(devices[i].vendor));
        gpu_device_explain(&devices[i], GPU_ENERGY, gpu->missing, sizeof gpu->missing);
        drop_unknown_zeros(ledger, i, gpu);
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

static const char *source_of_gpu_peaks(const double *max, double at_most)
{
    if (isnan(max[GPUT_COMBINED_GPU_RAM]))
        return isnan(at_most) ? "no driver has said who holds GPU RAM"
                              : "no driver has said who holds GPU RAM; at most: the rise of the "
                                "memory in use on the GPUs, at the moments at which it was read";
    return isnan(at_most)
               ? "at least: processes as drivers list them; nothing bounds it: others used a GPU, "
                 "or it is not known whether"
               : "at least: processes as drivers list them; at most: the rise of the memory in use "
                 "on the GPUs; both of the moments at which something was read";
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
        results->gpu_peaks.list_age_seconds = NAN;
        return;
    }
    results->gpu_peaks.list_age_seconds = list_age_seconds(ledger);
    double at_most = combined_at_most(ledger);
    const char *source = source_of_gpu_peaks(max, at_most);
    set_gpu_peak(main, max[GPUT_MAIN_GPU_RAM], at_most, source);
    set_gpu_peak(descendants, max[GPUT_DESCENDANTS_GPU_RAM], at_most, source);
    set_gpu_peak(all, max[GPUT_COMBINED_GPU_RAM], at_most, source);
    if (process_log_descendants(&ledger->log).has_all && ledger->log.seen <= 1)
        set_gpu_peak(descendants, 0, 0, "there were none");
}

void ledger_add_gpu_list_source(const struct ledger *ledger, struct gput_results *results)
{
    char age[64] = "";
    double seconds = results->gpu_peaks.list_age_seconds;
    if (isnan(results->gpu_peaks.combined.bytes))
        return;
    if (seconds > 0 && ledger->has_ended)
        snprintf(age, sizeof age, "; the last answer came %.2f s before the end", seconds);
    ledger_add_source(results, "gpu_ram", GPUT_SOURCE_SAMPLED,
        "processes as drivers list them: at the start, at the end, when the memory in use on a GPU "
        "has changed at a tick, and else ten times a second at most%s",
        age);
}
