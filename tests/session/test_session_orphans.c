#include "machine/os/proc_list.h"
#include "session/sessions.h"

#include <signal.h>
#include <sys/wait.h>

/* It has exited with 9, and was not collected. */
static pid_t ended_child_of_ours(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(9);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    return child;
}

IN_FOLDER(our_own_earlier_children_stay_ours)
{
    pid_t mine = ended_child_of_ours();
    struct gput_session *session = create_every(0.01);
    launch_consumer(session, "daemon [ spin 0.02 ] spin 0.1");
    wait_for_end(session);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_int_equal(results_of(session).accounting.processes_seen <= 3, true);
    gput_session_destroy(session);
    int status;
    assert_int_equal(waitpid(mine, &status, 0), mine);
    assert_int_equal(WEXITSTATUS(status), 9);
    collect_orphans();
}

IN_FOLDER(children_that_we_start_meanwhile_stay_ours)
{
    struct gput_session *session = create_every(0.01);
    launch_consumer(session, "sleep 0.4 daemon [ spin 0.05 ] spin 0.3");
    /* One that lives for a while and has a child of its own, and two that end at once. */
    pid_t mine[3];
    mine[0] = fork();
    if (mine[0] == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0)
            _exit(usleep(200000));
        waitpid(grandchild, NULL, 0);
        _exit(7);
    }
    for (int i = 1; i < 3; i++) {
        mine[i] = fork();
        if (mine[i] == 0)
            _exit(7 + i);
    }
    wait_for_end(session);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_true(results.accounting.processes_seen <= 3);
    assert_true(results.max[GPUT_COMBINED_THREADS] <= 3);
    gput_session_destroy(session);
    for (int i = 0; i < 3; i++) {
        int status;
        assert_int_equal(waitpid(mine[i], &status, 0), mine[i]);
        assert_int_equal(WEXITSTATUS(status), 7 + i);
    }
    collect_orphans();
}

static size_t children_of_ours(void)
{
    struct pid_vector children = {0};
    assert_int_equal(proc_children_read("/proc", getpid(), 1, &children, NULL), GPUT_OK);
    size_t count = children.count;
    pid_vector_finish(&children);
    return count;
}

/* A child of ours ends before the orphan, and is left to us. */
IN_FOLDER(orphans_are_collected_after_children_of_ours)
{
    pid_t mine = ended_child_of_ours();
    struct gput_session *session = create_alone(0.01);
    char words[64];
    int end_daemon, daemon_waits = open_gate(&end_daemon);
    snprintf(words, sizeof words, "daemon [ spin 0.1 await %d ] sleep 1000", daemon_waits);
    launch_consumer(session, words);
    EVENTUALLY(results_of(session).accounting.sampled_cpu_seconds >= 0.1) usleep(1000);
    close(end_daemon);
    close(daemon_waits);
    EVENTUALLY(children_of_ours() == 2) usleep(1000);
    kill(gput_session_pid(session), SIGKILL);
    wait_for_end(session);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_true(results_of(session).accounting.kernel_cpu_seconds >= 0.1);
    gput_session_destroy(session);
    assert_int_equal(waitpid(mine, NULL, 0), mine);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* The child of ours besides main: the orphan. */
static pid_t orphan_of(pid_t main)
{
    struct pid_vector children = {0};
    pid_t orphan = 0;
    assert_int_equal(proc_children_read("/proc", getpid(), 1, &children, NULL), GPUT_OK);
    for (size_t i = 0; i < children.count; i++) {
        if (children.pids[i] != main)
            orphan = children.pids[i];
    }
    pid_vector_finish(&children);
    return orphan;
}

struct ending {
    _Atomic pid_t main, orphan;
};

/* After the last sample has seen the orphan, and before it is collected. */
static void end_orphan(void *user, const struct gput_sample *sample)
{
    (void)sample;
    const struct ending *ending = user;
    siginfo_t info = {0};
    if (!ending->orphan ||
        waitid(P_PID, (id_t)ending->main, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != ending->main)
        return;
    kill(ending->orphan, SIGKILL);
    waitid(P_PID, (id_t)ending->orphan, &info, WEXITED | WNOWAIT);
}

IN_FOLDER(an_orphan_that_ends_after_the_last_sample_counts_once)
{
    struct ending ending = {0};
    struct gput_session_options options = options_every(60);
    options.no_other_children = true;
    options.sample = end_orphan;
    options.user = &ending;
    struct gput_session *session = create(&options);
    launch_consumer(session, "daemon [ spin 0.6 sleep 1000 ] sleep 1000");
    ending.main = gput_session_pid(session);
    EVENTUALLY((ending.orphan = orphan_of(ending.main)) > 0) usleep(1000);
    clockid_t clock;
    struct timespec used = {0};
    assert_int_equal(clock_getcpuclockid(ending.orphan, &clock), 0);
    EVENTUALLY(clock_gettime(clock, &used) == 0 && used.tv_nsec >= 600000000) usleep(1000);
    kill(ending.main, SIGKILL);
    wait_for_end(session);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    double seconds = results_of(session).accounting.kernel_cpu_seconds;
    assert_true(seconds >= 0.6);
    assert_true(seconds < 1.19); /* counted twice: 1.2 */
    gput_session_destroy(session);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

RUN_TESTS(NULL, NULL)
