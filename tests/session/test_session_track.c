#include "base/thread.h"
#include "descriptors.h"
#include "machine/os/proc_stat.h"
#include "session/session_shared.h"
#include "session/sessions.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

/* Then there is no space for the stack of a thread. */
static void limit_address_space(struct rlimit *before)
{
    struct proc_statm statm;
    assert_int_equal(proc_statm_read("/proc", getpid(), &statm, NULL), GPUT_OK);
    assert_int_equal(getrlimit(RLIMIT_AS, before), 0);
    struct rlimit limit = *before;
    limit.rlim_cur = statm.virtual_pages * (rlim_t)sysconf(_SC_PAGESIZE) + THREAD_STACK_BYTES / 2;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
}

static char warned[1024];

static void keep_warning(void *user, const char *text)
{
    (void)user;
    if (strstr(text, "sampling thread"))
        snprintf(warned, sizeof warned, "%s", text);
}

/* It is the first test: stacks of threads that have ended are used again. */
IN_FOLDER(a_session_without_a_thread_has_a_first_and_a_last_sample)
{
    struct rlimit limit;
    struct gput_session_options options = options_every(0.05);
    options.warn = keep_warning;
    struct gput_session *session = create(&options);
    limit_address_space(&limit);
    int code = gput_session_track_self(session, NULL);
    setrlimit(RLIMIT_AS, &limit);
    assert_int_equal(code, GPUT_OK);
    assert_non_null(strstr(warned, "Cannot start the sampling thread: "));
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_true(results_of(session).max[GPUT_MAIN_RAM] > 0);
    gput_session_destroy(session);
}

IN_FOLDER(there_must_be_such_a_process)
{
    struct gput_session *session = create_every(1);
    struct gput_error error;
    assert_int_equal(gput_session_track_pid(session, -5, &error), GPUT_ERROR_INVALID);
    assert_int_equal(gput_session_track_pid(session, 999999999, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "There is no process 999999999 to track.");
    gput_session_destroy(session);
    assert_int_equal(files_in_folder(), 0);
}

IN_FOLDER(a_command_of_5_ms_has_figures_and_its_status)
{
    struct gput_session *session = create_every(1);
    char *argv[4] = {strdup("sh"), strdup("-c"), strdup("exit 3")};
    assert_int_equal(gput_session_launch(session, argv, NULL), GPUT_OK);
    int status = wait_for_end(session);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_true(results.max[GPUT_MAIN_RAM] > 0);
    assert_true(results.accounting.kernel_cpu_seconds > 0);
    assert_true(results.peaks.main.bytes > 0);
    assert_true(results.tracker.ticks >= 2);
    gput_session_destroy(session);
    for (int i = 0; i < 3; i++)
        free(argv[i]);
}

IN_FOLDER(a_killed_command_says_by_which_signal)
{
    struct gput_session *session = create_every(0.05);
    launch_consumer(session, "sleep 100");
    bool ended = true;
    int status;
    assert_int_equal(gput_session_wait(session, 0, &ended, &status, NULL), GPUT_OK);
    assert_false(ended);
    assert_int_equal(gput_session_wait(session, 20, &ended, &status, NULL), GPUT_OK);
    assert_false(ended);
    kill(gput_session_pid(session), SIGTERM);
    status = wait_for_end(session);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
    /* A second call gives the same. */
    assert_int_equal(wait_for_end(session), status);
    gput_session_destroy(session);
}

static void assert_nothing_is_known_of_its_end(struct gput_session *session)
{
    int status = wait_for_end(session);
    assert_false(WIFEXITED(status) || WIFSIGNALED(status));
    assert_int_equal(wait_for_end(session), status);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_true(isnan(results.accounting.kernel_cpu_seconds));
    bool found = false;
    for (uint32_t i = 0; i < results.n_sources; i++)
        found |= strcmp(results.sources[i].name, "kernel_cpu_time") == 0 &&
                 strstr(results.sources[i].reason, "the command was reaped elsewhere");
    assert_true(found);
    gput_session_destroy(session);
}

IN_FOLDER(a_command_that_somebody_else_collected_has_ended)
{
    struct gput_session *session = create_every(0.02);
    launch_consumer(session, "spin 0.05");
    assert_int_equal(waitpid(gput_session_pid(session), NULL, 0), gput_session_pid(session));
    assert_nothing_is_known_of_its_end(session);
}

IN_FOLDER(a_command_ends_where_sigchld_is_ignored)
{
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    struct gput_session *session = create_every(0.02);
    launch_consumer(session, "spin 0.05");
    assert_nothing_is_known_of_its_end(session);
    signal(SIGCHLD, before);
}

IN_FOLDER(a_failed_launch_leaves_nothing)
{
    struct gput_session *session = create_every(1);
    struct gput_error error;
    char name[] = "no-such-command-anywhere";
    char *argv[] = {name, NULL}, *nothing[] = {NULL};
    assert_int_equal(gput_session_launch(session, nothing, &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message, "Empty command provided.");
    assert_int_equal(gput_session_launch(session, argv, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "Command not found: \"no-such-command-anywhere\"");
    int files = descriptors_open();
    assert_int_equal(gput_session_launch(session, argv, &error), GPUT_ERROR_NOT_FOUND);
    assert_int_equal(descriptors_open(), files);
    gput_session_destroy(session);
    assert_int_equal(files_in_folder(), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* A command that forks and ends, as it is counted by a session. */
static struct gput_results results_of_forks(struct session_shared *shared)
{
    struct gput_session_options options = options_every(1);
    options.no_other_children = true;
    struct gput_session *session;
    assert_int_equal(session_create(&options, shared, &session, NULL), GPUT_OK);
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"(true) & (true) & wait", NULL};
    assert_int_equal(gput_session_launch(session, argv, NULL), GPUT_OK);
    assert_int_equal(wait_for_end(session), 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    gput_session_destroy(session);
    return results;
}

IN_FOLDER(sessions_one_after_the_other_share_what_they_need_alike)
{
    struct session_shared shared = {0};
    struct gput_results own = results_of_forks(NULL);
    int files = descriptors_open(), passed_on = -1;
    for (int i = 0; i < 3; i++) {
        struct gput_results results = results_of_forks(&shared);
        assert_true(shared.has_groups);
        if (own.accounting.processes_missed == 0) { /* the kernel announces them */
            assert_int_equal(results.accounting.processes_missed, 0);
            assert_int_equal(results.accounting.processes_seen, own.accounting.processes_seen);
            assert_true(shared.has_events);
        }
        assert_true(isnan(own.allowed.cpuset_cores) ||
                    results.allowed.cpuset_cores == own.allowed.cpuset_cores);
        if (i > 0 && shared.has_events)
            assert_int_equal(shared.events.events.fd, passed_on); /* opened once */
        passed_on = shared.events.events.fd;
    }
    session_shared_finish(&shared);
    assert_int_equal(descriptors_open(), files);
}

IN_FOLDER(an_attached_session_counts_from_now_on)
{
    struct actors actors;
    actors_start(&actors,
        "spin 0.5 child [ spin 0.5 ready await 3 ] ready await 4 wait spin 0.1 ready await 5");
    actors_await(&actors, 2);
    struct gput_session *session = create_every(0.01);
    assert_int_equal(gput_session_track_pid(session, actors.pid, NULL), GPUT_OK);
    actors_release(&actors, 3, 1);
    actors_release(&actors, 4, 1);
    actors_await(&actors, 1);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_int_equal(results.accounting.processes_seen, 2);
    /* With what the child used before, or main, it were 0.6. */
    assert_true(results.accounting.sampled_cpu_seconds >= 0.09);
    assert_true(results.accounting.sampled_cpu_seconds < 0.59);
    /* Only with exit records. */
    double kernel = results.accounting.kernel_cpu_seconds;
    assert_true(isnan(kernel) || (kernel >= 0.09 && kernel < 0.59));
    gput_session_destroy(session);
    actors_end(&actors);
}

IN_FOLDER(an_attached_session_sees_the_end)
{
    struct actors actors;
    actors_start(&actors, "alloc 20 ready await 3");
    actors_await(&actors, 1);
    struct gput_session *session = create_every(0.01);
    assert_int_equal(gput_session_track_pid(session, actors.pid, NULL), GPUT_OK);
    actors_let_go(&actors);
    assert_int_equal(wait_for_end(session), 0);
    waitpid(actors.pid, NULL, 0);
    actors.pid = 0;
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_true(results_of(session).max[GPUT_MAIN_RAM] > 20e6);
    gput_session_destroy(session);
    actors_end(&actors);
}

IN_FOLDER(several_processes_are_tracked_as_one)
{
    struct actors first, second;
    actors_start(&first, "alloc 20 ready await 3 spin 0.1 ready await 4");
    actors_start(&second, "alloc 30 child [ spin 0.5 ready await 3 ] ready await 4 wait");
    actors_await(&first, 1);
    actors_await(&second, 2);
    struct gput_session *session = create_every(0.01);
    const pid_t pids[] = {999999999, first.pid, 999999998, second.pid};
    assert_int_equal(gput_session_track_pids(session, pids, 0, NULL), GPUT_ERROR_INVALID);
    assert_int_equal(gput_session_track_pids(session, pids, 1, NULL), GPUT_ERROR_NOT_FOUND);
    assert_int_equal(gput_session_track_pids(session, pids, 4, NULL), GPUT_OK);
    assert_int_equal(gput_session_pid(session), first.pid);
    actors_release(&first, 3, 1);
    actors_await(&first, 1);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_int_equal(results.accounting.processes_seen, 3);
    assert_true(results.max[GPUT_MAIN_RAM] > 20e6 && results.max[GPUT_MAIN_RAM] < 30e6);
    assert_true(results.max[GPUT_DESCENDANTS_RAM] > 30e6);
    /* What the others used before does not count: with it, it were 0.6. */
    assert_true(results.accounting.sampled_cpu_seconds >= 0.09);
    assert_true(results.accounting.sampled_cpu_seconds < 0.59);
    gput_session_destroy(session);
    actors_end(&first);
    actors_end(&second);
}

IN_FOLDER(one_that_has_ended_is_skipped)
{
    struct actors actors;
    actors_start(&actors, "ready await 3");
    actors_await(&actors, 1);
    pid_t ended = fork();
    if (ended == 0)
        _exit(0);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT), 0);
    int files = descriptors_open();
    struct gput_session *session = create_every(0.01);
    const pid_t pids[] = {ended, actors.pid};
    assert_int_equal(gput_session_track_pids(session, pids, 2, NULL), GPUT_OK);
    assert_int_equal(gput_session_pid(session), actors.pid);
    gput_session_destroy(session);
    assert_int_equal(descriptors_open(), files);
    assert_int_equal(waitpid(ended, NULL, 0), ended);
    actors_end(&actors);
}

IN_FOLDER(we_come_first_among_several)
{
    struct actors actors;
    actors_start(&actors, "ready await 3");
    actors_await(&actors, 1);
    struct gput_session *session = create_every(0.01);
    const pid_t pids[] = {actors.pid, getpid()};
    assert_int_equal(gput_session_track_pids(session, pids, 2, NULL), GPUT_OK);
    assert_int_equal(gput_session_pid(session), getpid());
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_int_equal(results_of(session).accounting.processes_seen, 2);
    gput_session_destroy(session);
    actors_end(&actors);
}

IN_FOLDER(the_machine_alone_has_no_processes)
{
    struct gput_session_options options = options_every(0.05);
    options.resource_usage_file = NULL;
    options.tracking_file = csv_path;
    struct gput_session *session = create(&options);
    assert_int_equal(gput_session_track_machine(session, NULL), GPUT_OK);
    assert_int_equal(gput_session_pid(session), 0);
    struct gput_results results = snapshot_after(session, 0.6);
    assert_true(results.now.values[GPUT_SYSTEM_RAM] > 0);
    assert_true(isnan(results.now.values[GPUT_MAIN_RAM]));
    assert_true(isnan(results.now.values[GPUT_COMBINED_GPU_RAM]));
    assert_true(isnan(results.now.values[GPUT_CPU_COMBINED_SUM]));
    assert_true(isnan(results.now.main_cpu_seconds));
    assert_true(isnan(results.max[GPUT_COMBINED_RAM]));
    assert_true(isnan(results.peaks.combined.bytes));
    assert_true(isnan(results.accounting.sampled_cpu_seconds));
    assert_int_equal(results.accounting.processes_seen, 0);
    bool ended = true;
    int status;
    assert_int_equal(gput_session_wait(session, 0, &ended, &status, NULL), GPUT_OK);
    assert_false(ended);
    assert_int_equal(files_in_folder(), 2); /* the tracking file, and whose it is */
    gput_session_destroy(session);
}

RUN_TESTS(NULL, NULL)
