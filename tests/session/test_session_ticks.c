#include "session/sessions.h"

#include <math.h>

static void the_sampling_thread_is_not_counted(void **state)
{
    (void)state;
    struct gput_session *session = create_every(0.001);
    double used = -cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    spin(0.3);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    used += cpu_seconds_of(CLOCK_THREAD_CPUTIME_ID);
    struct gput_results results = results_of(session);
    assert_true(results.max[GPUT_MAIN_THREADS] == 1);
    assert_true(results.max[GPUT_COMBINED_THREADS] == 1);
    assert_true(results.tracker.cpu_seconds > 0);
    assert_true(isnan(results.tracker.rss_bytes));
    /* CPU time of the sampler is neither in the samples nor in the kernel's figure. */
    double sampled = results.accounting.sampled_cpu_seconds;
    double kernel = results.accounting.kernel_cpu_seconds;
    assert_true(sampled >= 0.29 && sampled < used + 0.01);
    assert_true(kernel >= 0.29 && kernel < used + 0.01);
    gput_session_destroy(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(the_sampling_thread_is_not_counted),
    };
    return cmocka_run_group_tests_name("session/session_ticks", tests, NULL, NULL);
}
