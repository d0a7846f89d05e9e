#include "base/clock.h"
#include "session/sessions.h"

static void results_so_far_say_what_is_known_now(void **state)
{
    (void)state;
    struct gput_session *session = create_every(0.05);
    struct gput_results *none, results;
    assert_int_equal(gput_session_results_so_far(session, &none, NULL), GPUT_ERROR_STATE);
    assert_null(none);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    results = snapshot_after(session, 0);
    assert_true(results.now.values[GPUT_MAIN_RAM] > 0);
    int64_t begin_ns = clock_monotonic_ns();
    spin(0.1);
    /* Of a sample after that, however long it took. */
    double took_seconds = (double)(clock_monotonic_ns() - begin_ns) * 1e-9;
    results = snapshot_after(session, results.elapsed_seconds + took_seconds + 0.5);
    assert_true(results.now.main_cpu_seconds >= 0.1);
    assert_true(results.now.main_cpu_seconds == results.accounting.sampled_cpu_seconds);
    assert_true(results.now.descendants_cpu_seconds == 0);
    assert_true(results.now.system_cpu_seconds >= 0);
    assert_true(results.tracker.cpu_seconds > 0);
    gput_session_destroy(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(results_so_far_say_what_is_known_now),
    };
    return cmocka_run_group_tests_name("session/latest", tests, NULL, NULL);
}
