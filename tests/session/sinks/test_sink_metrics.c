#include "session/sessions.h"

IN_FOLDER(the_server_of_metrics_is_not_counted)
{
    struct gput_session_options options = options_every(0.05);
    options.listen = "0";
    struct gput_session *session = create(&options);
    assert_memory_equal(gput_session_address(session), "127.0.0.1:", 10);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    struct gput_results results = snapshot_after(session, 0.6);
    assert_true(results.now.values[GPUT_MAIN_THREADS] == 1);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_null(gput_session_address(session));
    gput_session_destroy(session);
}

RUN_TESTS(NULL, NULL)
