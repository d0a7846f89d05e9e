#include "os/proc_children.h"
#include "testing.h"
#include "track/live.h"

#include <gputracker/gputracker.h>

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

/* Each test has a folder of its own, so that what a session leaves behind is seen. */
static char folder[64];
static char kept_path[128], csv_path[128];

static int enter_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gput-session-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(kept_path, sizeof kept_path, "%s/kept", folder);
    snprintf(csv_path, sizeof csv_path, "%s/samples.csv", folder);
    return 0;
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

static int leave_folder(void **state)
{
    (void)state;
    unlink(kept_path);
    unlink(csv_path);
    return rmdir(folder);
}

static struct gput_options options_every(double seconds)
{
    struct gput_options options = gput_options_default();
    options.sleep_time_seconds = seconds;
    options.resource_usage_file = kept_path;
    return options;
}

static struct gput_session *create(const struct gput_options *options)
{
    struct gput_session *session;
    struct gput_error error;
    if (gput_session_create(options, &session, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return session;
}

static struct gput_session *create_every(double seconds)
{
    struct gput_options options = options_every(seconds);
    return create(&options);
}

/* For commands that leave orphans: nothing else is started meanwhile. */
static struct gput_session *create_alone(double seconds)
{
    struct gput_options options = options_every(seconds);
    options.starts_nothing_else = true;
    return create(&options);
}

static struct gput_results results_of(struct gput_session *session)
{
    struct gput_results results;
    assert_int_equal(gput_session_results(session, &results, NULL), GPUT_OK);
    return results;
}

static void launch_consumer(struct gput_session *session, const char *words)
{
    char text[512];
    char *argv[64];
    struct gput_error error;
    snprintf(text, sizeof text, "%s", words);
    consumer_words(text, argv, 64);
    if (gput_session_launch(session, argv, &error) != GPUT_OK)
        fail_msg("%s", error.message);
}

static int wait_for_end(struct gput_session *session)
{
    bool ended = false;
    int status;
    assert_int_equal(gput_session_wait(session, 60000, &ended, &status, NULL), GPUT_OK);
    assert_true(ended);
    return status;
}

/* Uses CPU time of the calling thread. */
static void spin(double seconds)
{
    struct timespec time;
    double start = -1, now;
    volatile unsigned sink = 0;
    do {
        for (int i = 0; i < 10000; i++)
            sink += (unsigned)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        now = (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
        if (start < 0)
            start = now;
    } while (now - start < seconds);
}

static void nap(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)};
    nanosleep(&time, NULL);
}

/* ---- the order of calls ---- */

static void a_session_is_used_once_and_in_order(void **state)
{
    (void)state;
    struct gput_session *session = create_every(0.1);
    struct gput_results results;
    struct gput_error error;
    bool ended;
    int status;
    assert_int_equal(gput_session_pid(session), 0);
    assert_int_equal(gput_session_stop(session, &error), GPUT_ERROR_STATE);
    assert_string_equal(error.message, "Tracking was not started.");
    assert_int_equal(gput_session_results(session, &results, &error), GPUT_ERROR_STATE);
    assert_int_equal(gput_session_wait(session, 0, &ended, &status, &error), GPUT_ERROR_STATE);

    assert_int_equal(gput_session_track_self(session, &error), GPUT_OK);
    assert_int_equal(gput_session_pid(session), getpid());
    assert_int_equal(gput_session_track_self(session, &error), GPUT_ERROR_STATE);
    assert_int_equal(gput_session_stop(session, &error), GPUT_OK);
    assert_int_equal(gput_session_stop(session, &error), GPUT_ERROR_STATE);
    assert_string_equal(error.message, "Tracking was stopped before.");
    assert_int_equal(gput_session_track_self(session, &error), GPUT_ERROR_STATE);
    assert_int_equal(gput_session_results(session, &results, &error), GPUT_OK);
    gput_session_destroy(session);
    assert_int_equal(files_in_folder(), 0);
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const double sleeps[] = {0, -1, 0.0009, 1e9, NAN, INFINITY};
    for (size_t i = 0; i < sizeof sleeps / sizeof sleeps[0]; i++) {
        struct gput_options options = options_every(sleeps[i]);
        struct gput_session *session = (struct gput_session *)1;
        struct gput_error error;
        assert_int_equal(gput_session_create(&options, &session, &error), GPUT_ERROR_INVALID);
        assert_null(session);
    }
    struct gput_options options = options_every(1);
    options.tracking_file = "x.pdf";
    struct gput_session *session;
    struct gput_error error;
    assert_int_equal(gput_session_create(&options, &session, &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message,
        "Invalid file name: \"x.pdf\". Valid file extensions are \".csv\" and \".sqlite\".");
    gput_session_destroy(NULL);
}

static void a_tracking_file_in_the_way_is_left_alone(void **state)
{
    (void)state;
    struct gput_options options = options_every(1);
    struct gput_session *session;
    struct gput_error error;
    FILE *file = fopen(csv_path, "w");
    fputs("mine\n", file);
    fclose(file);
    options.tracking_file = csv_path;
    assert_int_equal(gput_session_create(&options, &session, &error), GPUT_ERROR_EXISTS);
    char line[16];
    file = fopen(csv_path, "r");
    assert_string_equal(fgets(line, sizeof line, file), "mine\n");
    fclose(file);
}

static void there_must_be_such_a_process(void **state)
{
    (void)state;
    struct gput_session *session = create_every(1);
    struct gput_error error;
    assert_int_equal(gput_session_track_pid(session, -5, &error), GPUT_ERROR_INVALID);
    assert_int_equal(gput_session_track_pid(session, 999999999, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "There is no process 999999999 to track.");
    gput_session_destroy(session);
    assert_int_equal(files_in_folder(), 0);
}

/* ---- tracking ourselves ---- */

static void the_sampling_thread_is_not_counted(void **state)
{
    (void)state;
    struct gput_session *session = create_every(0.001);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    spin(0.3);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_true(results.max[GPUT_MAIN_THREADS] == 1);
    assert_true(results.max[GPUT_COMBINED_THREADS] == 1);
    assert_true(results.tracker.cpu_seconds > 0);
    assert_true(isnan(results.tracker.rss_bytes));
    /* What the sampler used is neither in the samples nor in the kernel's figure. */
    double spun = results.accounting.sampled_cpu_seconds;
    assert_true(spun >= 0.29 && (spun < 0.33 || under_valgrind()));
    assert_true(fabs(results.accounting.kernel_cpu_seconds - spun) < 0.015 || under_valgrind());
    gput_session_destroy(session);
}

static void *spin_a_little(void *unused)
{
    (void)unused;
    spin(0.1);
    return NULL;
}

static void our_threads_and_children_are_counted(void **state)
{
    (void)state;
    struct gput_session *session = create_every(0.01);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, spin_a_little, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        spin(0.1);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_true(results.max[GPUT_MAIN_THREADS] == 4);
    assert_int_equal(results.accounting.processes_seen, 2);
    /* Starting threads and processes costs something too, under valgrind much. */
    assert_true(results.accounting.kernel_cpu_seconds >= 0.39);
    assert_true(results.accounting.kernel_cpu_seconds < 0.45 || under_valgrind());
    assert_true(fabs(results.accounting.sampled_cpu_seconds -
                     results.accounting.kernel_cpu_seconds) < 0.04);
    gput_session_destroy(session);
}

static void our_children_that_nobody_waits_for_are_counted(void **state)
{
    (void)state;
    struct gput_session *session = create_every(0.01);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    signal(SIGCHLD, SIG_IGN);
    pid_t child = fork();
    if (child == 0) {
        spin(0.3);
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), -1);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    const struct gput_accounting *accounting = &results.accounting;
    assert_true(accounting->kernel_cpu_seconds >= 0.1);
    assert_true(accounting->kernel_cpu_seconds < 0.4 || under_valgrind());
    assert_true(accounting->kernel_cpu_seconds >= accounting->sampled_cpu_seconds);
    assert_true(isnan(accounting->kernel_user_cpu_seconds));
    for (uint32_t i = 0; i < results.n_sources; i++) {
        if (strcmp(results.sources[i].name, "kernel_cpu_time") == 0)
            assert_int_equal(results.sources[i].state, GPUT_SOURCE_SAMPLED);
    }
    gput_session_destroy(session);
}

static void what_was_used_before_is_not_counted(void **state)
{
    (void)state;
    int hold[2], told[2];
    char byte = '.';
    assert_int_equal(pipe(hold), 0);
    assert_int_equal(pipe(told), 0);
    spin(0.2);
    pid_t child = fork();
    if (child == 0) {
        close(hold[1]);
        spin(0.2);
        _exit(write(told[1], &byte, 1) == 1 && read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(hold[0]);
    assert_int_equal(read(told[0], &byte, 1), 1);
    close(told[0]);
    close(told[1]);
    struct gput_session *session = create_every(0.01);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    /* The child, with what it used before, is collected while we track. */
    close(hold[1]);
    waitpid(child, NULL, 0);
    nap(0.03);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_true(results.accounting.sampled_cpu_seconds < 0.1);
    assert_true(results.accounting.kernel_cpu_seconds < 0.1);
    gput_session_destroy(session);
}

static void results_so_far_grow(void **state)
{
    (void)state;
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

static void results_are_kept_on_disk_until_a_good_end(void **state)
{
    (void)state;
    struct gput_session *session = create_every(0.01);
    struct gput_results kept;
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    EVENTUALLY(gput_results_load(kept_path, &kept, NULL) == GPUT_OK && kept.tracker.ticks > 3) {}
    assert_true(kept.max[GPUT_MAIN_RAM] > 0);
    assert_int_equal(
        kept.static_data.system_core_count, results_of(session).static_data.system_core_count);
    gput_session_destroy(session);
    assert_int_equal(files_in_folder(), 0);
}

/* A fork's copy is never freed: it stays in sight of those who look for leaks. */
static struct gput_session *copy_in_fork;

static void a_fork_cannot_harm_its_parents_session(void **state)
{
    (void)state;
    struct gput_options options = options_every(0.005);
    options.tracking_file = csv_path;
    struct gput_session *session = create(&options);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            /* The sampling thread, which may have held the lock, is not here. */
            struct gput_results results;
            copy_in_fork = session;
            alarm(30);
            if (gput_session_results(session, &results, NULL) != GPUT_ERROR_STATE)
                _exit(1);
            if (gput_session_stop(session, NULL) != GPUT_ERROR_STATE)
                _exit(2);
            gput_session_destroy(session);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        assert_int_equal(status, 0);
    }
    uint64_t ticks = results_of(session).tracker.ticks;
    EVENTUALLY(results_of(session).tracker.ticks > ticks + 2) {}
    assert_int_equal(access(kept_path, F_OK), 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    uint64_t rows = results_of(session).tracker.ticks - 1;
    gput_session_destroy(session);

    /* Three lines of static data and header, then a row a tick, each whole. */
    char line[4096];
    uint64_t lines = 0;
    FILE *file = fopen(csv_path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        size_t commas = 0;
        for (const char *at = line; *at; at++)
            commas += *at == ',';
        if (lines++ >= 2)
            assert_int_equal(commas, GPUT_TRACKING_FILE_COLUMNS);
    }
    fclose(file);
    assert_int_equal(lines, rows + 3);
}

static void a_session_of_no_time_has_figures(void **state)
{
    (void)state;
    struct gput_session *session = create_every(1);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    nap(0.005);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_int_equal(results.tracker.ticks, 2);
    assert_true(results.max[GPUT_MAIN_RAM] > 0);
    assert_true(results.max[GPUT_SYSTEM_RAM] > 0);
    assert_true(results.max[GPUT_MAIN_THREADS] == 1);
    assert_false(isnan(results.max[GPUT_CPU_MAIN_SUM]));
    assert_true(results.elapsed_seconds >= 0.005);
    gput_session_destroy(session);
}

static void two_sessions_at_once_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct gput_options options = options_every(0.01);
    struct gput_session *one = create(&options);
    options.resource_usage_file = csv_path;
    struct gput_session *other = create(&options);
    assert_int_equal(gput_session_track_self(one, NULL), GPUT_OK);
    assert_int_equal(gput_session_track_self(other, NULL), GPUT_OK);
    nap(0.05);
    assert_int_equal(gput_session_stop(one, NULL), GPUT_OK);
    nap(0.05);
    assert_int_equal(gput_session_stop(other, NULL), GPUT_OK);
    assert_true(results_of(other).elapsed_seconds > results_of(one).elapsed_seconds);
    gput_session_destroy(one);
    gput_session_destroy(other);
    assert_int_equal(files_in_folder(), 0);
}

/* ---- launching ---- */

static void a_command_of_5_ms_has_figures_and_its_status(void **state)
{
    (void)state;
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

static void the_books_of_a_command_close(void **state)
{
    (void)state;
    struct gput_session *session = create_alone(0.02);
    launch_consumer(session, "child [ spin 0.2 ] daemon [ spin 0.1 ] swarm 20 0.005 spin 0.2 wait");
    assert_int_equal(wait_for_end(session), 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    double kernel = results.accounting.kernel_cpu_seconds;
    double sampled = results.accounting.sampled_cpu_seconds;
    assert_true(kernel >= 0.6 && kernel < 0.75);
    /* Collected time comes in ticks of 10 ms. */
    assert_true(fabs(sampled - kernel) < 0.05);
    gput_session_destroy(session);
}

static void an_orphan_that_outlives_main_is_counted_so_far(void **state)
{
    (void)state;
    struct gput_session *session = create_alone(0.02);
    launch_consumer(session, "daemon [ spin 0.15 sleep 0.5 ] spin 0.3");
    assert_int_equal(wait_for_end(session), 0);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_true(results.accounting.kernel_cpu_seconds >= 0.43);
    assert_true(results.accounting.kernel_cpu_seconds < 0.55);
    double parts =
        results.accounting.kernel_user_cpu_seconds + results.accounting.kernel_system_cpu_seconds;
    /* Unknown where more was seen than was waited for. */
    assert_true(isnan(parts) || fabs(results.accounting.kernel_cpu_seconds - parts) < 0.0011);
    gput_session_destroy(session);
    collect_orphans();
}

static void a_killed_command_says_by_which_signal(void **state)
{
    (void)state;
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
    /* Asking again gives the same. */
    assert_int_equal(wait_for_end(session), status);
    gput_session_destroy(session);
}

static int open_files(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void assert_nothing_is_known_of_its_end(struct gput_session *session)
{
    int status = wait_for_end(session);
    assert_false(WIFEXITED(status) || WIFSIGNALED(status));
    assert_int_equal(wait_for_end(session), status);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_true(isnan(results.accounting.kernel_cpu_seconds));
    bool told = false;
    for (uint32_t i = 0; i < results.n_sources; i++)
        told |= strcmp(results.sources[i].name, "kernel_cpu_time") == 0 &&
                strstr(results.sources[i].reason, "somebody else collected the command");
    assert_true(told);
    gput_session_destroy(session);
}

static void a_command_that_somebody_else_collected_has_ended(void **state)
{
    (void)state;
    struct gput_session *session = create_every(0.02);
    launch_consumer(session, "spin 0.05");
    assert_int_equal(waitpid(gput_session_pid(session), NULL, 0), gput_session_pid(session));
    assert_nothing_is_known_of_its_end(session);
}

static void a_command_ends_where_sigchld_is_ignored(void **state)
{
    (void)state;
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    struct gput_session *session = create_every(0.02);
    launch_consumer(session, "spin 0.05");
    assert_nothing_is_known_of_its_end(session);
    signal(SIGCHLD, before);
}

static void a_failed_launch_leaves_nothing(void **state)
{
    (void)state;
    struct gput_session *session = create_every(1);
    struct gput_error error;
    char name[] = "no-such-command-anywhere";
    char *argv[] = {name, NULL}, *nothing[] = {NULL};
    assert_int_equal(gput_session_launch(session, nothing, &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message, "Empty command provided.");
    assert_int_equal(gput_session_launch(session, argv, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "Command not found: \"no-such-command-anywhere\"");
    int files = open_files();
    assert_int_equal(gput_session_launch(session, argv, &error), GPUT_ERROR_NOT_FOUND);
    assert_int_equal(open_files(), files);
    gput_session_destroy(session);
    assert_int_equal(files_in_folder(), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void our_own_earlier_children_stay_ours(void **state)
{
    (void)state;
    pid_t mine = fork();
    if (mine == 0)
        _exit(9);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)mine, &info, WEXITED | WNOWAIT), 0);
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

static void children_that_we_start_meanwhile_stay_ours(void **state)
{
    (void)state;
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

/* The end of a child of ours stands before that of the orphan, and is left to us. */
static void orphans_are_collected_behind_children_of_ours(void **state)
{
    (void)state;
    pid_t mine = fork();
    if (mine == 0)
        _exit(9);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)mine, &info, WEXITED | WNOWAIT), 0);
    struct gput_session *session = create_alone(0.01);
    launch_consumer(session, "daemon [ spin 0.1 ] sleep 100");
    EVENTUALLY(results_of(session).accounting.sampled_cpu_seconds >= 0.1) usleep(1000);
    EVENTUALLY(children_of_ours() == 2) usleep(1000);
    kill(gput_session_pid(session), SIGKILL);
    wait_for_end(session);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    assert_true(results_of(session).accounting.kernel_cpu_seconds >= 0.1);
    gput_session_destroy(session);
    assert_int_equal(waitpid(mine, NULL, 0), mine);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* ---- attaching ---- */

static void an_attached_session_counts_from_now_on(void **state)
{
    (void)state;
    struct actors actors;
    actors_start(
        &actors, "spin 0.2 child [ spin 0.2 tell hear 3 ] tell hear 4 wait spin 0.1 tell hear 5");
    actors_await(&actors, 2);
    struct gput_session *session = create_every(0.01);
    assert_int_equal(gput_session_track_pid(session, actors.pid, NULL), GPUT_OK);
    actors_release(&actors, 3, 1);
    actors_release(&actors, 4, 1);
    actors_await(&actors, 1);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    assert_int_equal(results.accounting.processes_seen, 2);
    assert_true(results.accounting.sampled_cpu_seconds >= 0.09);
    assert_true(results.accounting.sampled_cpu_seconds < 0.15);
    /* Only where the kernel tells how each process ended. */
    double kernel = results.accounting.kernel_cpu_seconds;
    assert_true(isnan(kernel) || (kernel >= 0.09 && kernel < 0.15));
    gput_session_destroy(session);
    actors_end(&actors);
}

static void an_attached_session_sees_the_end(void **state)
{
    (void)state;
    struct actors actors;
    actors_start(&actors, "alloc 20 tell hear 3");
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

static void a_peak_is_never_below_the_highest_sample(void **state)
{
    (void)state;
    struct actors actors;
    actors_start(&actors, "tell hear 3 alloc 100 free");
    actors_await(&actors, 1);
    struct gput_session *session = create_every(30);
    assert_int_equal(gput_session_track_pid(session, actors.pid, NULL), GPUT_OK);
    actors_let_go(&actors);
    wait_for_end(session);
    waitpid(actors.pid, NULL, 0);
    actors.pid = 0;
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    struct gput_results results = results_of(session);
    /* No look saw the 100 MB. Where the kernel tells of them at the end, both have them. */
    assert_true(results.peaks.main.bytes >= results.max[GPUT_MAIN_RAM]);
    gput_session_destroy(session);
    actors_end(&actors);
}

static void several_processes_are_tracked_as_one(void **state)
{
    (void)state;
    struct actors first, second;
    actors_start(&first, "alloc 20 tell hear 3 spin 0.1 tell hear 4");
    actors_start(&second, "alloc 30 child [ spin 0.1 tell hear 3 ] tell hear 4 wait");
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
    /* What the others used before does not count. */
    assert_true(results.accounting.sampled_cpu_seconds >= 0.09);
    assert_true(results.accounting.sampled_cpu_seconds < 0.15);
    gput_session_destroy(session);
    actors_end(&first);
    actors_end(&second);
}

static void we_come_first_among_several(void **state)
{
    (void)state;
    struct actors actors;
    actors_start(&actors, "tell hear 3");
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

/* ---- for those who watch ---- */

/* As of the last half a second. */
static struct gput_results snapshot_after(struct gput_session *session, double seconds)
{
    struct gput_results results;
    do {
        assert_int_equal(gput_session_snapshot(session, &results, NULL), GPUT_OK);
        nap(0.01);
    } while (results.elapsed_seconds < seconds);
    return results;
}

static void a_snapshot_says_what_is_known_now(void **state)
{
    (void)state;
    struct gput_session *session = create_every(0.05);
    struct gput_results results;
    assert_int_equal(gput_session_snapshot(session, &results, NULL), GPUT_ERROR_STATE);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    results = snapshot_after(session, 0);
    assert_true(results.now.values[GPUT_MAIN_RAM] > 0);
    spin(0.1);
    results = snapshot_after(session, 0.6);
    assert_true(results.now.main_cpu_seconds >= 0.1);
    assert_true(results.now.main_cpu_seconds == results.accounting.sampled_cpu_seconds);
    assert_true(results.now.descendants_cpu_seconds == 0);
    assert_true(results.now.system_cpu_seconds >= 0);
    assert_true(results.tracker.cpu_seconds > 0);
    gput_session_destroy(session);
}

static void the_server_of_metrics_is_not_counted(void **state)
{
    (void)state;
    struct gput_options options = options_every(0.05);
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

static void the_machine_alone_has_no_processes(void **state)
{
    (void)state;
    struct gput_options options = options_every(0.05);
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
    assert_int_equal(files_in_folder(), 1); /* the tracking file */
    gput_session_destroy(session);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_session_is_used_once_and_in_order),
        IN_FOLDER(options_that_make_no_sense_are_refused),
        IN_FOLDER(a_tracking_file_in_the_way_is_left_alone),
        IN_FOLDER(there_must_be_such_a_process),
        IN_FOLDER(the_sampling_thread_is_not_counted),
        IN_FOLDER(our_threads_and_children_are_counted),
        IN_FOLDER(our_children_that_nobody_waits_for_are_counted),
        IN_FOLDER(what_was_used_before_is_not_counted),
        IN_FOLDER(results_so_far_grow),
        IN_FOLDER(results_are_kept_on_disk_until_a_good_end),
        IN_FOLDER(a_fork_cannot_harm_its_parents_session),
        IN_FOLDER(a_session_of_no_time_has_figures),
        IN_FOLDER(two_sessions_at_once_do_not_disturb_each_other),
        IN_FOLDER(a_command_of_5_ms_has_figures_and_its_status),
        IN_FOLDER(the_books_of_a_command_close),
        IN_FOLDER(an_orphan_that_outlives_main_is_counted_so_far),
        IN_FOLDER(a_killed_command_says_by_which_signal),
        IN_FOLDER(a_command_that_somebody_else_collected_has_ended),
        IN_FOLDER(a_command_ends_where_sigchld_is_ignored),
        IN_FOLDER(a_failed_launch_leaves_nothing),
        IN_FOLDER(our_own_earlier_children_stay_ours),
        IN_FOLDER(children_that_we_start_meanwhile_stay_ours),
        IN_FOLDER(orphans_are_collected_behind_children_of_ours),
        IN_FOLDER(an_attached_session_counts_from_now_on),
        IN_FOLDER(an_attached_session_sees_the_end),
        IN_FOLDER(a_peak_is_never_below_the_highest_sample),
        IN_FOLDER(a_snapshot_says_what_is_known_now),
        IN_FOLDER(the_server_of_metrics_is_not_counted),
        IN_FOLDER(the_machine_alone_has_no_processes),
        IN_FOLDER(several_processes_are_tracked_as_one),
        IN_FOLDER(we_come_first_among_several),
    };
    return cmocka_run_group_tests_name("session/session", tests, NULL, NULL);
}
