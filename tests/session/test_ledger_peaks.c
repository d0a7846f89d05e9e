#include "session/sessions.h"

#include <sys/wait.h>

static void a_peak_is_never_below_the_highest_sample(void **state)
{
    (void)state;
    struct actors actors;
    actors_start(&actors, "ready await 3 alloc 100 free");
    actors_await(&actors, 1);
    struct gput_session *session = create_every(30);
    assert_int_equal(gput_session_track_pid(session, actors.pid, NULL), GPUT_OK);
    actors_let_go(&actors);
    wait_for_end(session);
    waitpid(actors.pid, NULL, 0);
    actors.pid = 0;
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    /* No scan saw the 100 MB. With exit records, both peaks have them. */
    assert_true(results.peaks.main.bytes >= results.max[GPUT_MAIN_RAM]);
    gput_session_destroy(session);
    actors_end(&actors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_peak_is_never_below_the_highest_sample),
    };
    return cmocka_run_group_tests_name("session/ledger_peaks", tests, NULL, NULL);
}
