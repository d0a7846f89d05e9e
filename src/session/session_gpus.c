/*
 * Figures of each GPU in the results.
 */
#include "session/session_state.h"

#include "base/clock.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void session_gpus_warn(const struct gput_session *session)
{
    const char *missing = gpu_set_missing(session->settings.gpus);
    bool is_empty = gpu_set_is_empty(session->settings.gpus);
    if (is_empty && session->settings.options.energy_folder &&
        energy_meter_lacks_cpu(&session->sampler.energy))
        return; /* the recording says both at once */
    if (is_empty && session->settings.options.needs_no_gpu)
        return;
    if (is_empty)
        session_warn(&session->settings,
            "No GPU was found, so GPU figures stay 0 (why: gpu-tracker doctor).");
    else if (missing)
        session_warn(&session->settings, "%s (more: gpu-tracker doctor)", missing);
}

void session_gpus_add_sample(struct gput_session *session, double seconds)
{
    gpu_usage_add(&session->gpu_usage, &session->sampler.snapshot.gpu, seconds);
}

void session_gpus_fill_static(const struct gput_session *session, struct gput_static_data *data)
{
    size_t count;
    gpu_set_devices(session->settings.gpus, &count);
    data->gpu_ram_system_capacity_bytes = gpu_set_capacity_bytes(session->settings.gpus);
    data->system_gpu_count = (uint32_t)count;
    data->n_expected_gpus = (uint32_t)gpu_set_selected_count(session->settings.gpus);
}

/* That it was at least 0 is no information. */
static double unless_lacking(double figure, bool lacks_some)
{
    return lacks_some && figure == 0 ? NAN : figure;
}

/* Zeros of samples that may lack the tracked processes. */
static void drop_unknown_zeros(
    const struct gput_session *session, size_t device, struct gput_gpu *gpu)
{
    bool lacks_ram = snapshot_lacks_gpu_figure(&session->sampler.snapshot, device, GPU_PROCESS_RAM);
    bool lacks_use =
        snapshot_lacks_gpu_figure(&session->sampler.snapshot, device, GPU_PROCESS_UTILIZATION);
    double *const ram[] = {
        &gpu->max_main_ram_bytes, &gpu->max_descendants_ram_bytes, &gpu->max_combined_ram_bytes};
    double *const use[] = {&gpu->max_main_sm_percent, &gpu->mean_main_sm_percent,
        &gpu->max_descendants_sm_percent, &gpu->mean_descendants_sm_percent};
    for (size_t i = 0; i < sizeof ram / sizeof *ram; i++)
        *ram[i] = unless_lacking(*ram[i], lacks_ram);
    for (size_t i = 0; i < sizeof use / sizeof *use; i++)
        *use[i] = unless_lacking(*use[i], lacks_use);
}

void session_gpus_fill_results(const struct gput_session *session, struct gput_results *results)
{
    size_t count;
    const struct gpu_device *devices = gpu_set_devices(session->settings.gpus, &count);
    const struct gpu_usage *usage = &session->gpu_usage;
    session_gpus_fill_static(session, &results->static_data);
    if (results_reserve_gpus(results, count) != GPUT_OK) {
        session_add_source(results, "gpus", GPUT_SOURCE_UNAVAILABLE,
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
                .joules = devices[i].mig ? NAN : session->sampler.energy.gpus[i].joules},
        };
        memcpy(gpu->uuid, devices[i].uuid, sizeof gpu->uuid);
        memcpy(gpu->name, devices[i].name, sizeof gpu->name);
        memcpy(gpu->pci_address, devices[i].pci_address, sizeof gpu->pci_address);
        snprintf(gpu->vendor, sizeof gpu->vendor, "%s", gpu_vendor_name(devices[i].vendor));
        gpu_device_explain(&devices[i], GPU_ENERGY, gpu->missing, sizeof gpu->missing);
        drop_unknown_zeros(session, i, gpu);
    }
    for (int i = GPUT_MAIN_GPU_RAM; i <= GPUT_COMBINED_GPU_RAM; i++) {
        results->max[i] = snapshot_gpu_bytes(&session->sampler.snapshot, results->max[i]);
        results->mean[i] = snapshot_gpu_bytes(&session->sampler.snapshot, results->mean[i]);
    }
}

/* ---- peaks ---- */

/* NaN without a list. */
static double list_age_seconds(const struct gput_session *session)
{
    int64_t listed_ns = session->sampler.snapshot.gpu.listed_ns,
            age_ns = session->last_sample_ns - listed_ns;
    if (!listed_ns)
        return NAN;
    return age_ns > 0 ? clock_seconds_of_ns(age_ns) : 0;
}

/* Over all GPUs; NaN when it is not bounded on one of them. */
static double combined_at_most(const struct gput_session *session)
{
    double sum = 0;
    for (size_t i = 0; i < session->gpu_usage.n_devices; i++)
        sum += gpu_usage_combined_ram_at_most(&session->gpu_usage, i);
    return session->gpu_usage.n_devices ? sum : NAN;
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

void session_fill_gpu_peaks(const struct gput_session *session, struct gput_results *results)
{
    struct gput_peak *main = &results->gpu_peaks.main, *all = &results->gpu_peaks.combined,
                     *descendants = &results->gpu_peaks.descendants;
    const double *max = results->max;
    if (session->settings.mode == SESSION_MACHINE || session->gpu_usage.n_devices == 0) {
        set_gpu_peak(main, NAN, NAN,
            session->settings.mode == SESSION_MACHINE ? "no process is tracked"
                                                      : "no GPU was found, or none can be read");
        *descendants = *all = *main;
        results->gpu_peaks.list_age_seconds = NAN;
        return;
    }
    results->gpu_peaks.list_age_seconds = list_age_seconds(session);
    double at_most = combined_at_most(session);
    const char *source = source_of_gpu_peaks(max, at_most);
    set_gpu_peak(main, max[GPUT_MAIN_GPU_RAM], at_most, source);
    set_gpu_peak(descendants, max[GPUT_DESCENDANTS_GPU_RAM], at_most, source);
    set_gpu_peak(all, max[GPUT_COMBINED_GPU_RAM], at_most, source);
    if (process_log_descendants(&session->log).has_all && session->log.seen <= 1)
        set_gpu_peak(descendants, 0, 0, "there were none");
}

void session_gpus_add_list_source(const struct gput_session *session, struct gput_results *results)
{
    char age[64] = "";
    double seconds = results->gpu_peaks.list_age_seconds;
    if (isnan(results->gpu_peaks.combined.bytes))
        return;
    if (seconds > 0 && session->has_ended)
        snprintf(age, sizeof age, "; the last answer came %.2f s before the end", seconds);
    session_add_source(results, "gpu_ram", GPUT_SOURCE_SAMPLED,
        "processes as drivers list them: at the start, at the end, when the memory in use on a GPU "
        "has changed at a tick, and else ten times a second at most%s",
        age);
}
