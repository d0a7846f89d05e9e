#include "session/sessions.h"

#include "machine/energy/two_packages.h"
#include "session/session_state.h"

#include <math.h>

/* A command can run before the counters are read: here for at least three seconds. */
ON_MACHINE(joules_without_the_start_are_not_exact)
{
    struct gput_session_options options = gput_session_options_default();
    options.resource_usage_file = "";
    options.sysfs_root = root;
    options.sleep_time_seconds = 0.01;
    struct gput_session *session = create(&options);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    pthread_mutex_lock(&session->schedule.lock);
    session->settings.start_ns -= 3 * NS_PER_SECOND;
    pthread_mutex_unlock(&session->schedule.lock);
    nap(0.15); /* intervals of energy have 0.1 s at least */
    set_joules("intel-rapl:0", 1060);
    set_joules("intel-rapl:1", 2040);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    const struct gput_source *source = source_of(&results, "cpu_energy");
    assert_true(results.energy.machine.package > 0);
    assert_int_equal(source->state, GPUT_SOURCE_SAMPLED);
    const char words[] = "; without the first ", *missing = strstr(source->reason, words);
    if (!missing || strtod(missing + strlen(words), NULL) < 3)
        fail_msg("%s", source->reason);
    assert_true(isnan(results.energy.mean_watts));
    gput_session_destroy(session);
}

RUN_TESTS(NULL, NULL)
