#include "session/ledger/session_settings.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "files/tracking/tracking_file.h"
#include "model/session_options.h"
#include "views/output/labels.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Checks the text of an option, which the session may do without. */
static int check_text(struct gput_session_options *options, size_t offset,
    int (*check)(const char *text, struct gput_error *error), struct gput_error *error)
{
    struct gput_error reason;
    const char *text = *(const char **)((char *)options + offset);
    if (!text || check(text, &reason) == GPUT_OK ||
        session_options_do_without(options, offset, &reason))
        return GPUT_OK;
    return error_copy(error, &reason);
}

static int check_labels(const char *text, struct gput_error *error)
{
    struct labels labels = {0};
    int code = labels_add_list(&labels, text, LABELS_OF_PROMETHEUS, error);
    labels_finish(&labels);
    return code;
}

/* Refuses options that are out of range or malformed, and enforcing where there is no limit. */
static int check_options(struct gput_session_options *options, struct gput_error *error)
{
    TRY(session_options_check(options, error));
    bool is_limited = false;
    for (int i = 0; i < GPUT_LIMIT_KIND_COUNT; i++)
        is_limited |= options->limits->values[i] > 0;
    if (options->limits->enforce && !is_limited)
        return error_set(error, GPUT_ERROR_INVALID,
            "There is no limit to enforce. Give one, for example ram=8GB.");
    TRY(check_text(options, offsetof(struct gput_session_options, labels), check_labels, error));
    const struct gput_carbon_intensity *intensity;
    if (options->carbon_country)
        TRY(gput_carbon_intensity_find(options->carbon_country, &intensity, error));
    return check_text(options, offsetof(struct gput_session_options, tracking_file),
        tracking_file_check_name, error);
}

/* Copies the options, so that the caller's strings need not stay; those that sinks name are copied
 * by these. */
static int copy_options(
    struct session_settings *settings, const struct gput_session_options *options)
{
    settings->options = *options;
    settings->procfs_is_named = options->procfs_root != NULL;
    if (!settings->options.procfs_root)
        settings->options.procfs_root = "/proc";
    if (!settings->options.sysfs_root)
        settings->options.sysfs_root = "/sys";

    const char **texts[] = {&settings->options.gpu_uuids, &settings->options.gpu_brand,
        &settings->options.procfs_root, &settings->options.sysfs_root, &settings->options.nvml_path,
        &settings->options.carbon_country, &settings->options.labels};
    static_assert(sizeof texts / sizeof texts[0] == sizeof settings->strings / sizeof(char *),
        "each has a place");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!*texts[i])
            continue;
        settings->strings[i] = strdup(*texts[i]);
        if (!settings->strings[i])
            return GPUT_ERROR_MEMORY;
        *texts[i] = settings->strings[i];
    }
    settings->interval_ns = clock_ns_of_seconds(options->sleep_time_seconds);
    return GPUT_OK;
}

static void warn_of_gpus(void *user, const char *message)
{
    session_warn(user, "%s", message);
}

/* A tracking file begins with the GPUs of the machine, and cannot be changed later in a pipe.
 * Limits that are enforced are watched from the start on. */
static bool needs_gpus_first(const struct session_settings *settings)
{
    return settings->options.tracking_file || settings->options.energy_folder ||
           settings->limits.values[GPUT_LIMIT_GPU_RAM] > 0 || settings->limits.enforce;
}

int session_settings_open_gpus(struct session_settings *settings, struct gput_error *error)
{
    struct gpu_options options = {.procfs_root = settings->options.procfs_root,
        .sysfs_root = settings->options.sysfs_root,
        .nvml_path = settings->options.nvml_path,
        .brand = settings->options.gpu_brand,
        .uuids = settings->options.gpu_uuids,
        .interval_seconds = settings->options.sleep_time_seconds,
        .parts = settings->options.gpu_parts,
        .each_process =
            settings->options.processes || settings->options.snapshots || settings->options.owners,
        .starts_later = !needs_gpus_first(settings),
        .warn = warn_of_gpus,
        .user = settings};
    TRY(gpu_set_open(&options, &settings->gpus, error));
    size_t count;
    const struct gpu_source_status *sources = gpu_set_sources(settings->gpus, &count);
    for (size_t i = 0; i < count && options.parts; i++) {
        bool may_have = sources[i].state == GPU_SOURCE_AVAILABLE ||
                        sources[i].state == GPU_SOURCE_PARTIAL ||
                        sources[i].state == GPU_SOURCE_OPENING;
        if (may_have && strcmp(sources[i].name, "nvml") == 0)
            session_warn(settings, "Parts of the chip are measured by counters that DCGM reads, "
                                   "too: it may miss values meanwhile.");
    }
    return GPUT_OK;
}

int session_settings_init(struct session_settings *settings,
    const struct gput_session_options *given, struct gput_error *error)
{
    struct gput_session_options options;
    TRY(session_options_read(given, &options, &settings->limits, error));
    TRY(check_options(&options, error));
    settings->calls = bounded_calls_create();
    return settings->calls && copy_options(settings, &options) == GPUT_OK ? GPUT_OK
                                                                          : error_memory(error);
}

void session_settings_fill_gpus(
    const struct session_settings *settings, struct gput_static_data *data)
{
    size_t count;
    gpu_set_devices(settings->gpus, &count);
    data->gpu_ram_system_capacity_bytes = gpu_set_capacity_bytes(settings->gpus);
    bool is_unknown = count == 0 && isnan(data->gpu_ram_system_capacity_bytes);
    data->system_gpu_count = is_unknown ? NAN : (double)count;
    data->n_expected_gpus = is_unknown ? NAN : (double)gpu_set_selected_count(settings->gpus);
}

void session_settings_warn_of_gpus(const struct session_settings *settings, bool lacks_cpu_energy)
{
    const char *missing = gpu_set_missing(settings->gpus);
    bool is_empty = gpu_set_is_empty(settings->gpus);
    if (is_empty && settings->options.energy_folder && lacks_cpu_energy)
        return;
    if (is_empty && settings->options.gpu_optional)
        return;
    if (is_empty)
        session_warn(settings,
            "No GPU was found, so GPU figures are reported as 0 (why: gpu-tracker doctor).");
    else if (missing)
        session_warn(settings, "%s (more: gpu-tracker doctor)", missing);
}

void session_settings_finish(struct session_settings *settings)
{
    gpu_set_close(settings->gpus);
    bounded_calls_destroy(settings->calls);
    for (size_t i = 0; i < sizeof settings->strings / sizeof settings->strings[0]; i++)
        free(settings->strings[i]);
}

void session_warn(const struct session_settings *settings, const char *format, ...)
{
    if (!settings->options.warn)
        return;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(message, sizeof message, format, arguments);
    va_end(arguments);
    settings->options.warn(settings->options.user, message);
}
