#include "base/clock.h"
#include "session/sessions.h"
#include "session/sinks/sink.h"

IN_FOLDER(results_so_far_say_what_is_known_now)
{
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

/* Makes and publishes results, as the sampling thread does. */
static const struct gput_results *publish(
    struct latest *latest, double seconds, const char *first, const char *second)
{
    struct gput_results *next = latest_next_results(latest);
    assert_non_null(next);
    results_clear(next);
    next->elapsed_seconds = seconds;
    const char *names[] = {first, second};
    for (size_t i = 0; i < 2 && names[i]; i++)
        results_add_source(next, names[i], GPUT_SOURCE_EXACT, "of %s", names[i]);
    latest_publish_results(latest);
    return next;
}

TEST(each_results_are_taken_once)
{
    struct latest latest = {0};
    struct gput_results taken = {0};
    latest_init(&latest);
    assert_false(latest_has_results(&latest));
    assert_int_equal(latest_results(&latest, 0, &taken), 0);
    const struct gput_results *first = publish(&latest, 1, "ram", "cpu_time");
    assert_int_equal(latest_results(&latest, 0, &taken), 1);
    assert_true(taken.elapsed_seconds == 1);
    assert_int_equal(taken.n_sources, 2);
    assert_string_equal(taken.sources[1].reason, "of cpu_time");
    taken.elapsed_seconds = 0;
    assert_int_equal(latest_results(&latest, 1, &taken), 1);
    assert_true(taken.elapsed_seconds == 0);
    /* The first ones are still what they were while the next are made. */
    assert_ptr_not_equal(latest_next_results(&latest), first);
    assert_true(first->elapsed_seconds == 1);
    results_finish(&taken);
    latest_finish(&latest);
}

/* Those of a time before are where new results are made. */
TEST(nothing_of_earlier_results_remains)
{
    struct latest latest = {0};
    struct gput_results taken = {0};
    latest_init(&latest);
    publish(&latest, 1, "ram", "cpu_time");
    publish(&latest, 2, "ram", NULL);
    publish(&latest, 3, "gpu", NULL);
    assert_int_equal(latest_results(&latest, 0, &taken), 3);
    assert_true(taken.elapsed_seconds == 3);
    assert_int_equal(taken.n_sources, 1);
    assert_string_equal(taken.sources[0].name, "gpu");
    assert_string_equal(taken.sources[0].reason, "of gpu");
    assert_int_equal(taken.accounting.processes_seen, 0);
    results_finish(&taken);
    latest_finish(&latest);
}

TEST(results_are_not_published_while_others_are_taken)
{
    struct latest latest = {0};
    struct gput_results taken = {0};
    latest_init(&latest);
    publish(&latest, 1, "ram", NULL);
    pthread_mutex_lock(&latest.lock);
    const struct gput_results *second = publish(&latest, 2, "ram", NULL);
    assert_true(latest.results->elapsed_seconds == 1);
    pthread_mutex_unlock(&latest.lock);
    assert_ptr_equal(latest_next_results(&latest), second);
    assert_int_equal(latest_results(&latest, 0, &taken), 1);
    assert_true(taken.elapsed_seconds == 1);
    publish(&latest, 3, "ram", NULL);
    assert_int_equal(latest_results(&latest, 1, &taken), 2);
    assert_true(taken.elapsed_seconds == 3);
    results_finish(&taken);
    latest_finish(&latest);
}

RUN_TESTS(NULL, NULL)
