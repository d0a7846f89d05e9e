#include "session/session_state.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/wall_clock.h"
#include "machine/os/cpu_count.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Reads what the report says of the machine, and RAM for the first time. */
static int read_static_data(struct gput_session *session, struct gput_error *error)
{
    struct gput_static_data *data = &session->settings.static_data;
    const struct gput_session_options *options = &session->settings.options;
    *data = (struct gput_static_data){.ram_unit = options->ram_unit,
        .gpu_ram_unit = options->gpu_ram_unit,
        .time_unit = options->time_unit};
    session_allowed_forget(&session->settings);
    TRY(cpu_count_online(
        options->procfs_root, options->sysfs_root, &data->system_core_count, error));
    session_allowed_expect(&session->settings); /* until it is known what is tracked */

    system_meter_init(
        &session->system, options->procfs_root, data->system_core_count, clock_monotonic_ns());
    session->has_system = true;
    data->ram_system_capacity_bytes = session->system.ram_capacity_bytes;
    return GPUT_OK;
}

/* Does what can fail: reads the options and the machine, and opens the outputs. */
static int prepare(struct gput_session *session, const struct gput_session_options *options,
    struct gput_error *error)
{
    if (schedule_init(&session->schedule) != GPUT_OK)
        return error_memory(error);
    TRY(session_settings_init(&session->settings, options, error));
    if (session->shared && session->shared->gpus)
        session->settings.gpus = STEAL(session->shared->gpus);
    else
        TRY(session_settings_open_gpus(&session->settings, error));
    TRY(read_static_data(session, error));
    return sinks_open(&session->sinks, &session->settings, &session->latest, error);
}

int session_create(const struct gput_session_options *options, struct session_shared *shared,
    struct gput_session **session, struct gput_error *error)
{
    *session = NULL;
    struct gput_session *created = calloc(1, sizeof *created);
    if (!created)
        return error_memory(error);
    created->owner = getpid();
    created->shared = shared;
    wall_clock_begin_session();
    created->has_wall_clock = true;
    struct sigaction action;
    created->ignores_sigchld =
        sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
    /* Initialize the parts, and tell each what it reads of others. From then on the session can be
     * destroyed. */
    struct ledger *ledger = &created->ledger;
    created->target.pid_fd = created->target.io_fd = -1;
    session_events_init(&created->events);
    ledger_init(ledger);
    node_reader_init(&created->node);
    latest_init(&created->latest);
    ledger->settings = &created->settings;
    ledger->snapshot = &created->sampler.snapshot;
    ledger->events = &created->events;
    ledger->cgroup = &created->target.cgroup;
    ledger->node = &created->node;
    created->limits.settings = &created->settings;
    created->limits.ledger = ledger;
    created->limits.tree = &created->sampler.tree;
    created->limits.cgroup = &created->target.cgroup;
    int code = prepare(created, options, error);
    if (code != GPUT_OK) {
        gput_session_destroy(created);
        return code;
    }
    *session = created;
    return GPUT_OK;
}

int gput_session_create(const struct gput_session_options *options, struct gput_session **session,
    struct gput_error *error)
{
    return session_create(options, NULL, session, error);
}

/* Keeps for the next session what it can use. */
static void give_back(struct gput_session *session)
{
    struct session_shared *shared = session->shared;
    if (!shared)
        return;
    if (session->events.has_events && !session_events_has_thread(&session->events)) {
        session_events_rest(&session->events);
        shared->events = session->events;
        shared->has_events = true;
        session_events_init(&session->events);
    }
    if (session->settings.gpus && gpu_set_is_absent(session->settings.gpus))
        shared->gpus = STEAL(session->settings.gpus);
}

void session_shared_finish(struct session_shared *shared)
{
    if (shared->has_events)
        session_events_finish(&shared->events);
    gpu_set_close(shared->gpus);
    cgroup_texts_finish(&shared->texts);
    *shared = (struct session_shared){0};
}

/* Releases what only the process that created the session may touch. False: a thread is stuck, and
 * all of the session stays. */
static bool release_shared(struct gput_session *session)
{
    bool was_tracking = session->phase == SESSION_TRACKING;
    if (was_tracking)
        session_end(session, true);
    if (session->schedule.is_stuck)
        return false;
    if (!was_tracking && session->phase == SESSION_STOPPED &&
        session->settings.options.keep_resource_usage_file)
        sinks_remove_left(&session->sinks);
    struct sink_end end = {.is_unused = true}; /* unless they are closed already */
    sinks_close(&session->sinks, &end);
    sinks_finish(&session->sinks);
    node_reader_finish(&session->node);
    own_cgroup_remove(&session->target.cgroup);
    schedule_finish(&session->schedule);
    latest_finish(&session->latest);
    return true;
}

void gput_session_destroy(struct gput_session *session)
{
    /*
     * The parent's threads may have been changing the session at the fork, so the copy in the child
     * may be inconsistent. It is not freed, and ends with the child or its execve().
     */
    if (!session || session->owner != getpid())
        return;
    /* Nor is what a thread of ours uses that is stuck in the kernel. */
    if (!release_shared(session))
        return;
    session_leave_wall_clock(session);
    give_back(session);
    session_events_finish(&session->events);
    ledger_finish(&session->ledger);
    cgroup_finish(&session->target.launch_cgroup);
    if (session->has_sampler)
        sampler_finish(&session->sampler);
    if (session->has_system)
        system_meter_finish(&session->system);
    session_settings_finish(&session->settings);
    pid_vector_finish(&session->target.earlier_children);
    file_close_fd(&session->target.pid_fd);
    file_close_fd(&session->target.io_fd);
    free(session);
}
