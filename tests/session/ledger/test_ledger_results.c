#include "session/sessions.h"

#include <math.h>

/* Of sessions with a long interval: at the start and at the end; under load the early first tick
 * comes between them. */
#define assert_first_and_last_tick(results) assert_in_range((results).tracker.ticks, 2, 3)

IN_FOLDER(results_so_far_grow)
{
    struct gput_session *session = create_every(0.005);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    struct gput_results first = results_of(session), later = first;
    EVENTUALLY(later.tracker.ticks > first.tracker.ticks + 3)
    {
        later = results_of(session);
    }
    assert_true(later.elapsed_seconds > first.elapsed_seconds);
    assert_true(later.max[GPUT_MAIN_RAM] > 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_true(results_of(session).tracker.ticks >= later.tracker.ticks);
    gput_session_destroy(session);
}

IN_FOLDER(results_are_kept_on_disk_until_a_good_end)
{
    struct gput_session *session = create_every(0.01);
    struct gput_results kept;
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    EVENTUALLY(results_load_by_value(kept_path, &kept, NULL) == GPUT_OK && kept.tracker.ticks > 3)
    {
    }
    assert_true(kept.max[GPUT_MAIN_RAM] > 0);
    assert_int_equal(
        kept.static_data.system_core_count, results_of(session).static_data.system_core_count);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_int_equal(files_in_folder(), 0);
    gput_session_destroy(session);
}

IN_FOLDER(an_empty_name_keeps_no_results_on_disk)
{
    struct gput_session_options options = options_every(0.01);
    options.resource_usage_file = "";
    assert_int_equal(chdir(folder), 0);
    struct gput_session *session = create(&options);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    EVENTUALLY(results_of(session).tracker.ticks > 3) {}
    assert_int_equal(files_in_folder(), 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_int_equal(chdir("/"), 0);
    gput_session_destroy(session);
}

IN_FOLDER(results_of_a_session_that_is_not_stopped_stay_on_disk)
{
    struct gput_session *session = create_every(3600);
    struct gput_results kept;
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    gput_session_destroy(session);
    assert_int_equal(results_load_by_value(kept_path, &kept, NULL), GPUT_OK);
    assert_first_and_last_tick(kept);
}

IN_FOLDER(a_session_of_no_time_has_figures)
{
    struct gput_session *session = create_every(3600);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    nap(0.005);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_first_and_last_tick(results);
    assert_true(results.max[GPUT_MAIN_RAM] > 0);
    assert_true(results.max[GPUT_SYSTEM_RAM] > 0);
    assert_true(results.max[GPUT_MAIN_THREADS] == 1);
    assert_false(isnan(results.max[GPUT_CPU_MAIN_SUM]));
    assert_true(results.elapsed_seconds >= 0.005);
    gput_session_destroy(session);
}

RUN_TESTS(NULL, NULL)
