#include "session/session_state.h"

#include "base/clock.h"
#include "base/error.h"
#include "os/cpu_count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The shortest useful interval: below it a sample costs most of the interval. */
#define MIN_SLEEP_SECONDS 0.001
/* A year: more is a typing error. */
#define MAX_SLEEP_SECONDS 31536000.0

struct gput_options gput_options_default(void)
{
    return (struct gput_options){
        .sleep_time_seconds = 1.0,
        .ram_unit = GPUT_GIGABYTES,
        .gpu_ram_unit = GPUT_GIGABYTES,
        .time_unit = GPUT_HOURS,
        .carbon_intensity = NAN,
        .energy_period_seconds = 2,
    };
}

static int check_options(const struct gput_options *options, struct gput_error *error)
{
    double sleep = options->sleep_time_seconds;
    if (!(sleep >= MIN_SLEEP_SECONDS && sleep <= MAX_SLEEP_SECONDS))
        return error_set(error, GPUT_ERROR_INVALID,
            "The sleep time must be between 0.001 and 31536000 seconds, not %g.", sleep);
    if (!(options->energy_period_seconds > 0))
        return error_set(error, GPUT_ERROR_INVALID,
            "The measurement period of energy must be above 0 seconds, not %g.",
            options->energy_period_seconds);
    bool is_limited = false;
    for (int i = 0; i < GPUT_LIMIT_KINDS; i++)
        is_limited |= options->limits.values[i] > 0;
    if (options->limits.enforce && !is_limited)
        return error_set(error, GPUT_ERROR_INVALID,
            "There is no limit to enforce. Give one, for example ram=8GB.");
    const struct gput_carbon_intensity *intensity;
    if (options->carbon_intensity < 0 || isinf(options->carbon_intensity))
        return error_set(error, GPUT_ERROR_INVALID,
            "The carbon intensity must be 0 grams or more for a kWh, not %g.",
            options->carbon_intensity);
    if (options->carbon_country)
        TRY(gput_carbon_intensity_find(options->carbon_country, &intensity, error));
    return options->tracking_file ? tracking_file_check_name(options->tracking_file, error)
                                  : GPUT_OK;
}

/* Copies the options, so that the caller's strings need not stay. */
static int copy_options(struct gput_session *session, const struct gput_options *options)
{
    session->options = *options;
    session->procfs_is_named = options->procfs_root != NULL;
    if (!session->options.procfs_root)
        session->options.procfs_root = "/proc";
    if (!session->options.sysfs_root)
        session->options.sysfs_root = "/sys";

    const char **texts[] = {&session->options.gpu_uuids, &session->options.gpu_brand,
        &session->options.tracking_file, &session->options.resource_usage_file,
        &session->options.procfs_root, &session->options.sysfs_root, &session->options.nvml_path,
        &session->options.energy_folder, &session->options.listen,
        &session->options.carbon_country};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!*texts[i])
            continue;
        session->strings[i] = strdup(*texts[i]);
        if (!session->strings[i])
            return GPUT_ERROR_MEMORY;
        *texts[i] = session->strings[i];
    }
    session->interval_ns = (int64_t)llround(options->sleep_time_seconds * (double)NS_PER_SECOND);
    return GPUT_OK;
}

static void warn_of_gpus(void *user, const char *message)
{
    session_warn(user, "%s", message);
}

static int open_gpus(struct gput_session *session, struct gput_error *error)
{
    struct gpu_options options = {.procfs_root = session->options.procfs_root,
        .sysfs_root = session->options.sysfs_root,
        .nvml_path = session->options.nvml_path,
        .brand = session->options.gpu_brand,
        .uuids = session->options.gpu_uuids,
        .interval_seconds = session->options.sleep_time_seconds,
        .each_process = session->options.processes || session->options.snapshots,
        .warn = warn_of_gpus,
        .user = session};
    return gpu_set_open(&options, &session->gpus, error);
}

static int read_static_data(struct gput_session *session, struct gput_error *error)
{
    struct gput_static_data *data = &session->static_data;
    const struct gput_options *options = &session->options;
    *data = (struct gput_static_data){.ram_unit = options->ram_unit,
        .gpu_ram_unit = options->gpu_ram_unit,
        .time_unit = options->time_unit,
        .allowed_ram_bytes = NAN,
        .allowed_cores = NAN};
    session_gpus_fill_static(session, data);
    TRY(cpu_count_online(
        options->procfs_root, options->sysfs_root, &data->system_core_count, error));
    data->n_expected_cores =
        options->n_expected_cores ? options->n_expected_cores : data->system_core_count;

    system_meter_init(
        &session->system, options->procfs_root, data->system_core_count, clock_monotonic_ns());
    session->has_system = true;
    data->ram_system_capacity_bytes = session->system.ram_capacity_bytes;
    return GPUT_OK;
}

static int prepare(struct gput_session *session, struct gput_error *error)
{
    const struct gput_options *options = &session->options;
    TRY(open_gpus(session, error));
    TRY(read_static_data(session, error));
    TRY(session_open_serving(session, error));
    TRY(session_open_recording(session, error));
    if (!options->tracking_file)
        return GPUT_OK;
    TRY(tracking_file_create(options->tracking_file, &session->static_data, options->overwrite,
        &session->tracking_file, error));
    return session_gpus_open_table(session, error);
}

static int init_lock(struct gput_session *session)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&session->lock, NULL);
    latest_init(&session->latest);
    int failure = pthread_cond_init(&session->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return failure ? GPUT_ERROR_MEMORY : GPUT_OK;
}

int gput_session_create(
    const struct gput_options *options, struct gput_session **session, struct gput_error *error)
{
    *session = NULL;
    TRY(check_options(options, error));
    struct gput_session *created = calloc(1, sizeof *created);
    if (!created)
        return error_memory(error);
    created->owner = getpid();
    created->pid_fd = -1;
    created->io_fd = -1;
    created->own_statm_fd = -1;
    session_events_init(&created->events);
    system_counters_init(&created->system_counters);
    usage_init(&created->usage);
    session_between_init(&created->between);
    created->at_least_bytes = NAN;

    int code = init_lock(created);
    if (code == GPUT_OK)
        code = copy_options(created, options);
    if (code == GPUT_ERROR_MEMORY)
        error_memory(error);
    if (code == GPUT_OK)
        code = prepare(created, error);
    if (code != GPUT_OK) {
        gput_session_destroy(created);
        return code;
    }
    *session = created;
    return GPUT_OK;
}

/* Ends a session that was not stopped, as when an error ends the program: only the resource usage
 * file has its figures, and stays. */
static void stop_and_leave_results(struct gput_session *session)
{
    struct results_file *file = session->results_file;
    struct gput_results results;
    session->results_file = NULL;
    gput_session_stop(session, NULL);
    if (gput_session_results(session, &results, NULL) == GPUT_OK)
        results_file_update(file, &results);
    results_file_close(file);
}

/* Releases what only the process that created the session may touch. */
static void release_shared(struct gput_session *session)
{
    if (session->phase == SESSION_TRACKING)
        stop_and_leave_results(session);
    /* A session that never began leaves no tracking file that would block the next try. */
    bool unused = session->tracking_file && session->phase == SESSION_CREATED;
    session_end_serving(session);
    tracking_file_finish(session->tracking_file, NULL, NULL);
    session_close_recording(session);
    if (unused)
        unlink(session->options.tracking_file);
    /* Left over from a failed start. */
    results_file_remove(session->results_file);
    own_cgroup_remove(&session->cgroup);
    pthread_cond_destroy(&session->wake);
    pthread_mutex_destroy(&session->lock);
    latest_finish(&session->latest);
}

void gput_session_destroy(struct gput_session *session)
{
    /*
     * The parent's threads may have been changing the session at the fork, so the copy in the child
     * may be inconsistent. It is not freed, and ends with the child or its execve().
     */
    if (!session || session->owner != getpid())
        return;
    release_shared(session);
    session_events_finish(&session->events);
    system_counters_finish(&session->system_counters);
    cgroup_finish(&session->launch_cgroup);
    if (session->has_sampler)
        sampler_finish(&session->sampler);
    process_log_finish(&session->log);
    if (session->has_system)
        system_meter_finish(&session->system);
    gpu_set_close(session->gpus);
    gpu_usage_finish(&session->gpu_usage);
    pid_vector_finish(&session->foreign);
    if (session->pid_fd >= 0)
        close(session->pid_fd);
    if (session->io_fd >= 0)
        close(session->io_fd);
    if (session->own_statm_fd >= 0)
        close(session->own_statm_fd);
    for (size_t i = 0; i < sizeof session->strings / sizeof session->strings[0]; i++)
        free(session->strings[i]);
    free(session);
}
