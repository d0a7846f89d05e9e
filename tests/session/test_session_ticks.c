#include "session/sessions.h"

#include <math.h>
#include <pthread.h>
#include <sys/wait.h>

IN_FOLDER(the_sampling_thread_is_not_counted)
{
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

/* Who took the samples. */
struct takers {
    unsigned samples, by_others;
    pthread_t caller;
};

/* The first sample goes on until the command has ended. */
static void note_taker(void *user, const struct gput_sample *sample)
{
    struct takers *takers = user;
    siginfo_t info;
    (void)sample;
    if (takers->samples++ == 0)
        assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    takers->by_others += !pthread_equal(pthread_self(), takers->caller);
}

IN_FOLDER(a_command_that_ended_during_the_first_sample_needs_no_thread)
{
    struct takers takers = {.caller = pthread_self()};
    struct gput_session_options options = options_every(1);
    options.sample = note_taker;
    options.user = &takers;
    struct gput_session *session = create(&options);
    launch_consumer(session, "spin 0.05");
    assert_int_equal(wait_for_end(session), 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_int_equal(takers.samples, 2);
    assert_int_equal(takers.by_others, 0);
    struct gput_results results = results_of(session);
    assert_true(results.tracker.ticks == 2);
    assert_true(results.accounting.sampled_cpu_seconds >= 0.04);
    assert_true(results.accounting.kernel_cpu_seconds >= 0.04);
    gput_session_destroy(session);
}

RUN_TESTS(NULL, NULL)
