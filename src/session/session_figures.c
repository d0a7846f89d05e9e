/*
 * What a session gives to its caller, while it runs and after.
 */
#include "session/session_state.h"

#include "base/error.h"
#include "model/results_columns.h"
#include "model/session_options.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

void session_make_results(struct gput_session *session, struct gput_results *results)
{
    ledger_update(&session->ledger);
    tracker_cost_update(
        &session->ledger.cost, session_own_threads_cpu_ns(session), &session->schedule);
    ledger_results(&session->ledger, results);
    limits_fill(&session->limits, results);
    sinks_add_sources(&session->sinks, results);
}

/* Before anything is given. */
static int check(const struct gput_session *session, struct gput_error *error)
{
    if (session->phase == SESSION_CREATED)
        return error_set(error, GPUT_ERROR_STATE, "Tracking has not started.");
    return session_check_owner(session, error);
}

int gput_session_results(
    struct gput_session *session, struct gput_results **results, struct gput_error *error)
{
    *results = NULL;
    TRY(check(session, error));
    if (!schedule_lock(&session->schedule))
        return gput_session_results_so_far(session, results, error);
    struct gput_results *made = calloc(1, sizeof *made);
    if (made)
        session_make_results(session, made);
    schedule_unlock(&session->schedule);
    *results = made;
    return made ? GPUT_OK : error_memory(error);
}

int gput_session_processes(
    struct gput_session *session, struct gput_processes **processes, struct gput_error *error)
{
    *processes = NULL;
    if (!session->settings.options.processes)
        return error_set(error, GPUT_ERROR_STATE,
            "This session does not list its processes: set the option `processes`.");
    TRY(check(session, error));
    if (!schedule_lock(&session->schedule))
        return error_set(error, GPUT_ERROR_STATE,
            "The processes cannot be listed: the sampling thread waits in the kernel.");
    int code = ledger_list_processes(&session->ledger, processes);
    schedule_unlock(&session->schedule);
    return code == GPUT_OK ? code : error_memory(error);
}

int gput_session_results_so_far(
    struct gput_session *session, struct gput_results **results, struct gput_error *error)
{
    *results = NULL;
    TRY(session_check_owner(session, error));
    if (!latest_has_results(&session->latest))
        return error_set(error, GPUT_ERROR_STATE, "Tracking has not started.");
    struct gput_results *copy = calloc(1, sizeof *copy);
    if (!copy || latest_results(&session->latest, 0, copy) == 0) {
        gput_results_destroy(copy);
        return error_memory(error);
    }
    *results = copy;
    return GPUT_OK;
}

int gput_session_latest_snapshot(
    struct gput_session *session, struct gput_snapshot **snapshot, struct gput_error *error)
{
    *snapshot = NULL;
    TRY(session_check_owner(session, error));
    if (!session->settings.options.snapshots)
        return error_set(error, GPUT_ERROR_STATE,
            "This session keeps no snapshots: set the option `snapshots`.");
    *snapshot = latest_snapshot(&session->latest);
    return *snapshot ? GPUT_OK : error_set(error, GPUT_ERROR_STATE, "Tracking has not started.");
}

const char *gput_session_address(const struct gput_session *session)
{
    return sinks_address(&session->sinks);
}

/* Of these nothing is known but the machine. */
int gput_session_empty_results(const struct gput_session_options *given,
    struct gput_results **results, struct gput_error *error)
{
    struct gput_session_options options;
    struct gput_limits limits;
    *results = NULL;
    TRY(session_options_read(given, &options, &limits, error));
    struct gput_results *made = *results = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    results_forget(made);
    uint32_t cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    made->static_data = (struct gput_static_data){.ram_unit = options.ram_unit,
        .gpu_ram_unit = options.gpu_ram_unit,
        .time_unit = options.time_unit,
        .ram_system_capacity_bytes =
            (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE),
        .system_core_count = cores,
        .n_expected_cores = options.n_expected_cores ? options.n_expected_cores : cores,
        .allowed_ram_bytes = NAN,
        .allowed_cores = NAN};
    return GPUT_OK;
}
