/*
 * RAM between two samples: memory of processes that start and end there is in no sample.
 *
 * Read when the kernel announces starts and ends in the tree, and several times after that, as
 * memory grows after a start. A control group gives what its processes have mapped in one small
 * file, each page once and of one moment; a scan of all processes costs far more. Each is repeated
 * only after a pause of 200 times its cost: 0.5 % of one core at most.
 */
#include "session/session_state.h"

#include "base/clock.h"

#include <math.h>

#define REST 200

void session_between_init(struct session_between *between)
{
    *between = (struct session_between){
        .group_bytes = NAN, .main_bytes = NAN, .descendants_bytes = NAN, .combined_bytes = NAN};
}

static void raise_to(double *highest, double bytes)
{
    if (isnan(*highest) || bytes > *highest)
        *highest = bytes;
}

void session_read_group(struct gput_session *session)
{
    struct session_between *between = &session->between;
    int64_t now_ns = clock_monotonic_ns();
    if (session->settings.mode != SESSION_LAUNCHED || now_ns < between->group_not_before_ns)
        return;
    int64_t begin_ns = clock_thread_cpu_ns();
    double bytes = own_cgroup_mapped_bytes(&session->cgroup);
    between->group_not_before_ns = now_ns + (clock_thread_cpu_ns() - begin_ns) * REST;
    /* A control group without it will never have it. */
    if (isnan(bytes))
        between->group_not_before_ns = INT64_MAX;
    else
        raise_to(&between->group_bytes, bytes);
}

static void look_at_processes(struct gput_session *session)
{
    struct session_between *between = &session->between;
    struct sampler *sampler = &session->sampler;
    int64_t now_ns = clock_monotonic_ns();
    if (now_ns < between->scan_not_before_ns)
        return;
    int64_t begin_ns = clock_thread_cpu_ns();
    sampler_scan_between(
        sampler, session_events_any_started(&session->events) ? 0 : SAMPLER_NONE_STARTED);
    if (session->settings.mode == SESSION_LAUNCHED)
        session_open_orphans_io(session);
    process_log_scan(&session->log, &sampler->tree, now_ns);
    process_log_adopt_orphans(&session->log, &sampler->tree);
    between->scan_not_before_ns = now_ns + (clock_thread_cpu_ns() - begin_ns) * REST;
    between->scans++;
    const struct ram_figures *ram = &sampler->ram.figures;
    raise_to(&between->main_bytes, (double)ram->main.total);
    raise_to(&between->descendants_bytes, (double)ram->descendants.total);
    raise_to(&between->combined_bytes, (double)ram->combined.total);
    raise_to(&session->at_least_bytes, (double)ram->at_least_bytes);
}

void session_scan_between(struct gput_session *session)
{
    /* After the last sample nothing counts any more. */
    if (session->schedule.is_stopping || session->settings.mode == SESSION_MACHINE)
        return;
    session_read_group(session);
    look_at_processes(session);
}
