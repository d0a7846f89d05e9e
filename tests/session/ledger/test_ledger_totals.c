#include "session/sessions.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define WORK_BYTES (40u << 20)
#define WORK_FAULTS (WORK_BYTES / 4096)

static void fault_and_write(void)
{
    char *bytes =
        mmap(NULL, WORK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int nowhere = open("/dev/null", O_WRONLY);
    if (bytes == MAP_FAILED || nowhere < 0)
        _exit(1);
    madvise(bytes, WORK_BYTES, MADV_NOHUGEPAGE);
    memset(bytes, 1, WORK_BYTES);
    if (write(nowhere, bytes, WORK_BYTES) != WORK_BYTES)
        _exit(1);
    close(nowhere);
    munmap(bytes, WORK_BYTES);
}

/* Until the end of the pipe that is closed then. */
static void *spin_and_stay(void *end)
{
    char byte;
    spin(0.1);
    ssize_t none = read(*(int *)end, &byte, 1);
    (void)none;
    return NULL;
}

/* Until a sample has seen as many threads, and processes. A busy machine may not run all at once.
 */
static void await_sample_of(struct gput_session *session, double threads, uint64_t processes)
{
    for (;;) {
        struct gput_results so_far = results_of(session);
        if (so_far.max[GPUT_MAIN_THREADS] >= threads &&
            so_far.accounting.processes_seen >= processes)
            return;
        nap(0.02);
    }
}

IN_FOLDER(our_threads_and_children_are_counted)
{
    struct gput_session *session = create_every(0.01);
    double used = -cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_seconds_of_children();
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    pthread_t threads[3];
    int hold[2];
    assert_int_equal(pipe(hold), 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, spin_and_stay, &hold[0]);
    pid_t child = fork();
    if (child == 0) {
        close(hold[1]);
        spin_and_stay(&hold[0]);
        _exit(0);
    }
    await_sample_of(session, 4, 2);
    close(hold[1]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    waitpid(child, NULL, 0);
    close(hold[0]);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    used += cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID) + cpu_seconds_of_children();
    assert_true(results.max[GPUT_MAIN_THREADS] == 4);
    assert_int_equal(results.accounting.processes_seen, 2);
    /* Not more than this process and its child used, with the threads of the session; much is used
     * to start threads and processes on a busy machine and under valgrind. */
    assert_true(results.accounting.kernel_cpu_seconds >= 0.39);
    assert_true(results.accounting.kernel_cpu_seconds <= used);
    assert_true(results.accounting.sampled_cpu_seconds >= 0.38); /* the child's in ticks of 10 ms */
    assert_true(results.accounting.sampled_cpu_seconds <= used);
    gput_session_destroy(session);
}

/* A child of ours that has done its work, and lives until `hold` is closed. */
struct worker {
    pid_t pid;
    int hold;
};

static struct worker await_worker(void (*work)(void))
{
    int hold[2], ready[2];
    char byte = '.';
    assert_int_equal(pipe(hold), 0);
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        close(hold[1]);
        work();
        _exit(write(ready[1], &byte, 1) == 1 && read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(hold[0]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return (struct worker){child, hold[1]};
}

static void spin_long(void)
{
    spin(0.6);
}

IN_FOLDER(our_auto_reaped_children_are_counted)
{
    struct gput_session *session = create_every(0.01);
    double ours = -cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    signal(SIGCHLD, SIG_IGN);
    struct worker child = await_worker(spin_long);
    /* Its last sample is of after that. */
    uint64_t ticks = results_of(session).tracker.ticks;
    EVENTUALLY(results_of(session).tracker.ticks > ticks + 1) {}
    close(child.hold);
    assert_int_equal(waitpid(child.pid, NULL, 0), -1);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    ours += cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    struct gput_results results = results_of(session);
    const struct gput_accounting *accounting = &results.accounting;
    assert_true(accounting->kernel_cpu_seconds >= 0.57); /* at least: less two ticks of 10 ms */
    assert_true(accounting->kernel_cpu_seconds - ours < 1.1); /* counted twice, it were 1.2 */
    assert_true(accounting->kernel_cpu_seconds >= accounting->sampled_cpu_seconds);
    assert_true(isnan(accounting->kernel_user_cpu_seconds));
    for (uint32_t i = 0; i < results.n_sources; i++) {
        if (strcmp(results.sources[i].name, "kernel_cpu_time") == 0)
            assert_int_equal(results.sources[i].state, GPUT_SOURCE_SAMPLED);
    }
    gput_session_destroy(session);
}

IN_FOLDER(what_was_used_before_is_not_counted)
{
    int hold[2], ready[2];
    double before;
    assert_int_equal(pipe(hold), 0);
    assert_int_equal(pipe(ready), 0);
    spin(0.2);
    pid_t child = fork();
    if (child == 0) {
        close(hold[1]);
        spin(0.2);
        fault_and_write();
        before = cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        ssize_t size = sizeof before;
        _exit(write(ready[1], &before, sizeof before) == size && read(hold[0], &before, 1) == 0
                  ? 0
                  : 1);
    }
    close(hold[0]);
    assert_int_equal(read(ready[0], &before, sizeof before), sizeof before);
    close(ready[0]);
    close(ready[1]);
    struct gput_session *session = create_every(0.01);
    double used = -before - cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_seconds_of_children();
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    /* The child, with what it used before, is collected while we track. */
    close(hold[1]);
    waitpid(child, NULL, 0);
    nap(0.03);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    used += cpu_seconds_of(CLOCK_PROCESS_CPUTIME_ID) + cpu_seconds_of_children();
    struct gput_results results = results_of(session);
    /* What was used since then, by the session, too; collected time comes in ticks of 10 ms. */
    assert_true(results.accounting.sampled_cpu_seconds < used + 0.02);
    assert_true(results.accounting.kernel_cpu_seconds < used + 0.02);
    assert_true(results.accounting.minor_page_faults < WORK_FAULTS);
    gput_session_destroy(session);
}

IN_FOLDER(what_our_children_did_is_counted_while_they_live)
{
    struct gput_session *session = create_every(0.01);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    struct worker child = await_worker(fault_and_write);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    /* The totals are closed: this is not in them. */
    fault_and_write();
    struct gput_results results = results_of(session);
    const struct gput_accounting *accounting = &results.accounting;
    assert_true(accounting->minor_page_faults >= WORK_FAULTS);
    assert_true(accounting->minor_page_faults < 2 * WORK_FAULTS);
    assert_true(accounting->write_bytes >= WORK_BYTES);
    assert_true(accounting->write_bytes < 2 * WORK_BYTES);
    for (uint32_t i = 0; i < results.n_sources; i++) {
        if (strcmp(results.sources[i].name, "counts") == 0)
            assert_int_equal(results.sources[i].state, GPUT_SOURCE_SAMPLED);
    }
    gput_session_destroy(session);
    close(child.hold);
    waitpid(child.pid, NULL, 0);
}

static double voluntary_switches_of_this_thread(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (double)usage.ru_nvcsw;
}

/* Of our own threads nothing is counted: neither CPU time nor the files that they read. */
IN_FOLDER(our_own_threads_are_in_no_count)
{
    struct gput_session *session = create_every(0.001);
    double switches = -voluntary_switches_of_this_thread();
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    double polls = 0; /* each reads some hundred bytes in this thread */
    do {
        nap(0.05);
        polls++;
    } while (
        results_of(session).tracker.cpu_seconds < 0.03 || results_of(session).tracker.ticks < 50);
    spin(0.05);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    switches += voluntary_switches_of_this_thread();
    struct gput_results results = results_of(session);
    const struct gput_accounting *accounting = &results.accounting;
    double user = accounting->kernel_user_cpu_seconds;
    double system = accounting->kernel_system_cpu_seconds;
    /* Unknown where this thread did not run between two readings of the clocks. */
    assert_true(isnan(user) == isnan(system));
    assert_true(isnan(user) || (user >= 0 && system >= 0 &&
                                   fabs(user + system - accounting->kernel_cpu_seconds) < 1e-9));
    /* Each tick reads some hundred bytes, and waits for the next one. */
    double ticks = (double)results.tracker.ticks;
    assert_true(accounting->read_bytes < ticks * 20 + polls * 2000 + 50000);
    assert_true(accounting->voluntary_context_switches < ticks / 2 + switches + 40);
    gput_session_destroy(session);
}

IN_FOLDER(the_accounting_of_a_command_adds_up)
{
    struct gput_session *session = create_alone(0.02);
    char words[160];
    int end_daemon, end_main, daemon_waits = open_gate(&end_daemon),
                              main_waits = open_gate(&end_main);
    double used = -cpu_seconds_of_children();
    snprintf(words, sizeof words,
        "child [ spin 0.2 ] daemon [ spin 0.1 await %d ] swarm 20 0.005 spin 0.2 wait await %d",
        daemon_waits, main_waits);
    launch_consumer(session, words);
    /* Samples have what an orphan used until the last one that saw it. */
    EVENTUALLY(results_of(session).accounting.sampled_cpu_seconds >= 0.59) {}
    close(end_daemon);
    close(end_main);
    assert_int_equal(wait_for_end(session), 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    close(daemon_waits);
    close(main_waits);
    collect_orphans();
    used += cpu_seconds_of_children();
    struct gput_results results = results_of(session);
    double kernel = results.accounting.kernel_cpu_seconds;
    double sampled = results.accounting.sampled_cpu_seconds;
    assert_true(kernel >= 0.6 && kernel < used + 0.01);
    /* Collected time comes in ticks of 10 ms. */
    assert_true(fabs(sampled - kernel) < 0.05);
    gput_session_destroy(session);
}

IN_FOLDER(an_orphan_that_outlives_main_is_counted_so_far)
{
    struct gput_session *session = create_alone(0.02);
    char words[80];
    int end_daemon, end_main, daemon_waits = open_gate(&end_daemon),
                              main_waits = open_gate(&end_main);
    snprintf(words, sizeof words, "daemon [ spin 0.4 await %d ] spin 0.2 await %d", daemon_waits,
        main_waits);
    launch_consumer(session, words);
    EVENTUALLY(results_of(session).accounting.sampled_cpu_seconds >= 0.6) {}
    close(end_main);
    assert_int_equal(wait_for_end(session), 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    close(end_daemon);
    close(daemon_waits);
    close(main_waits);
    struct gput_results results = results_of(session);
    assert_true(results.accounting.kernel_cpu_seconds >= 0.58);
    assert_true(results.accounting.kernel_cpu_seconds < 0.99); /* with the orphan's twice: 1 */
    double parts =
        results.accounting.kernel_user_cpu_seconds + results.accounting.kernel_system_cpu_seconds;
    /* Unknown where samples show more than was collected. */
    assert_true(isnan(parts) || fabs(results.accounting.kernel_cpu_seconds - parts) < 0.0011);
    gput_session_destroy(session);
    collect_orphans();
}

RUN_TESTS(NULL, NULL)
