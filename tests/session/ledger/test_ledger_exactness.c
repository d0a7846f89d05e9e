#include "session/sessions.h"

#include <signal.h>
#include <sys/wait.h>

static void assert_state(
    const struct gput_results *results, const char *name, enum gput_source_state state)
{
    const struct gput_source *source = source_of(results, name);
    if (source->state != state)
        fail_msg("%s is %s: %s", name, gput_source_state_name(source->state), source->reason);
    assert_int_equal(strncmp(source->reason, "at least: ", 10) == 0, state == GPUT_SOURCE_SAMPLED);
}

static void assert_labels(const struct gput_results *results, enum gput_source_state state)
{
    assert_state(results, "kernel_cpu_time", state);
    assert_state(results, "counts", state);
    assert_int_equal(isnan(results->accounting.captured_percent), state == GPUT_SOURCE_SAMPLED);
}

static bool has_events(const struct gput_results *results)
{
    return source_of(results, "processes")->state == GPUT_SOURCE_EXACT;
}

static bool has_exit_records(const struct gput_results *results)
{
    return source_of(results, "process_ends")->state != GPUT_SOURCE_UNAVAILABLE;
}

/* Tracks this process while it has a child, or two: the second is forked and collected by the
 * first.
 */
static struct gput_results track_self_with_children(bool is_waited_for)
{
    struct gput_session *session = create_every(0.01);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    pid_t child = fork();
    if (child == 0) {
        if (!is_waited_for)
            signal(SIGCHLD, SIG_IGN);
        if (fork() == 0) {
            spin(0.02);
            _exit(0);
        }
        wait(NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    gput_session_destroy(session);
    return results;
}

IN_FOLDER(we_alone_are_exact)
{
    struct gput_session *session = create_every(0.01);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    spin(0.02);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    gput_session_destroy(session);
    if (!has_events(&results))
        SKIP("the kernel announces no processes");
    assert_labels(&results, GPUT_SOURCE_EXACT);
}

IN_FOLDER(children_that_were_waited_for_are_exact_with_exit_records)
{
    struct gput_results results = track_self_with_children(true);
    assert_labels(&results, has_exit_records(&results) ? GPUT_SOURCE_EXACT : GPUT_SOURCE_SAMPLED);
}

IN_FOLDER(a_child_of_a_child_that_is_auto_reaped_makes_it_at_least)
{
    struct gput_results results = track_self_with_children(false);
    assert_labels(&results, GPUT_SOURCE_SAMPLED);
}

/* It runs in pages that are all there: page faults do not show that it was not waited for. */
IN_FOLDER(a_vfork_child_that_is_auto_reaped_makes_it_at_least)
{
    struct gput_session *session = create_every(0.01);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    signal(SIGCHLD, SIG_IGN);
    if (vfork() == 0) {
        spin(0.05);
        _exit(0);
    }
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    gput_session_destroy(session);
    assert_labels(&results, GPUT_SOURCE_SAMPLED);
}

IN_FOLDER(a_command_whose_children_live_on_has_counts_at_least)
{
    struct gput_session *session = create_alone(0.01);
    char words[40];
    int end_daemon, daemon_waits = open_gate(&end_daemon);
    snprintf(words, sizeof words, "daemon [ await %d ]", daemon_waits);
    launch_consumer(session, words);
    wait_for_end(session);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    close(end_daemon);
    close(daemon_waits);
    struct gput_results results = results_of(session);
    gput_session_destroy(session);
    assert_state(&results, "counts", GPUT_SOURCE_SAMPLED);
    assert_true(isnan(results.peaks.descendants.at_most_bytes));
}

RUN_TESTS(NULL, NULL)
