/*
 * Running the commands of a benchmark: each run is a session in memory.
 */
#include "bench/bench_state.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/screen.h"
#include "base/str.h"
#include "base/text.h"
#include "bench/disturbances.h"
#include "bench/run_watch.h"
#include "session/session_launch.h"
#include "session/session_shared.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * The processor's counters of a command and all that it starts (perf_event_open): instructions,
 * cycles and cache misses in user mode.
 */
enum { RUN_INSTRUCTIONS, RUN_CYCLES, RUN_CACHE_MISSES, RUN_COUNTERS };

struct run_counters {
    int fds[RUN_COUNTERS]; /* -1: not counted */
    int failure;           /* errno of the first one that could not be opened; 0: all could */
};

/* Reads and closes them. NaN: not counted, or only for a part of the time. */
static void run_counters_close(struct run_counters *counters, double values[RUN_COUNTERS])
{
    for (int i = 0; i < RUN_COUNTERS; i++) {
        struct {
            uint64_t value, enabled_ns, running_ns;
        } count;
        values[i] = NAN;
        /* Where others used the counter meanwhile, what it has is a part. */
        if (counters->fds[i] >= 0 && read(counters->fds[i], &count, sizeof count) == sizeof count &&
            count.enabled_ns > 0 && count.enabled_ns == count.running_ns)
            values[i] = (double)count.value;
        file_close_fd(&counters->fds[i]);
    }
}

/* Why they are missing, for people. Static. */
static const char *run_counters_reason(int failure)
{
    switch (failure) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        return "the processor's counters are not available here; virtual machines rarely have them";
    case EACCES:
    case EPERM:
        return "the processor's counters may not be read: kernel.perf_event_paranoid is above 2";
    case ENOSYS:
        return "this kernel has no perf_event_open()";
    case 0:
        return "others used the processor's counters meanwhile";
    default:
        return "the processor's counters cannot be opened";
    }
}

extern char **environ;

/* How often it is asked whether to stop. */
#define STOP_CHECK_MS 200
/* How long killed processes are waited for, scan by scan. */
#define KILL_WAIT_MS 50
#define MAX_KILLS 100
/* Of an empty shell. */
#define N_SHELL_RUNS 15

/* State that all runs share. */
struct runner {
    struct gput_bench *bench;
    struct run_watch watch;
    struct gput_session_options session_options;
    struct session_shared shared;
    int null_fd, input_fd; /* input_fd: the file of --input, or null_fd */
    bool is_stopped;       /* by the caller */
    bool has_begun;        /* commands of --setup have run */
    /* Facts of the current run: */
    int64_t exec_ns;
    struct run_counters counters;
    double counts[RUN_COUNTERS];
    bool is_warmup;
};

/* How one run went. */
struct outcome {
    int status;
    bool timed_out;
    double wall_seconds;
    struct gput_results *results;
};

static bool asks_to_stop(struct runner *runner)
{
    const struct gput_bench_options *options = &runner->bench->options;
    if (!runner->is_stopped && options->is_to_stop)
        runner->is_stopped = options->is_to_stop(options->user);
    return runner->is_stopped;
}

static void warn(const struct gput_bench *bench, const char *message)
{
    if (bench->options.warn)
        bench->options.warn(bench->options.user, message);
}

/* ---- Before the first run ---- */

/* Opens as 3 or more. -1 on failure. */
static int open_high(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0 || fd > 2)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    close(fd);
    return moved;
}

/* The session of each run: no files, and samples that are close enough for short commands. */
static void set_session_options(struct runner *runner)
{
    const struct gput_bench *bench = runner->bench;
    struct gput_session_options *options = &runner->session_options;
    *options = bench->session_options;
    options->resource_usage_file = "";
    options->no_other_children = true;
    options->gpu_optional = true;
}

/* Opens what all runs use: the watch, the standard input, the folder of kept files. */
static int begin_runner(struct runner *runner, struct gput_error *error)
{
    const struct gput_bench_options *options = &runner->bench->options;
    bool captures = !options->show_output;
    TRY(run_watch_init(&runner->watch, runner->bench->has_work, captures || runner->bench->has_work,
        runner->bench->has_work ? &runner->bench->work : NULL, error));
    set_session_options(runner);
    runner->null_fd = open_high("/dev/null", O_RDWR);
    if (runner->null_fd < 0)
        return error_set_errno(error, errno, "Cannot open /dev/null");
    runner->input_fd = options->input ? open_high(options->input, O_RDONLY) : runner->null_fd;
    if (runner->input_fd < 0)
        return error_set_errno(error, errno, "Cannot read the input %.300s", options->input);
    if (options->keep_folder && mkdir(options->keep_folder, 0777) != 0 && errno != EEXIST)
        return error_set_errno(error, errno, "Cannot make the folder %.300s", options->keep_folder);
    disturbances_finish(&runner->bench->disturbances); /* of runs before */
    disturbances_open(
        &runner->bench->disturbances, options->session->procfs_root, options->session->sysfs_root);
    return GPUT_OK;
}

static void finish_runner(struct runner *runner)
{
    session_shared_finish(&runner->shared);
    run_watch_finish(&runner->watch);
    if (runner->input_fd != runner->null_fd)
        file_close_fd(&runner->input_fd);
    file_close_fd(&runner->null_fd);
}

/* ---- Commands around runs ---- */

/* Sets the error of a failed run: how it ended, and the end of its standard error. */
static int set_failure(const struct runner *runner, const char *what, const char *command,
    int status, bool timed_out, struct gput_error *error)
{
    char how[128], tail[RUN_WATCH_TAIL] = "";
    const struct gput_bench_options *options = &runner->bench->options;
    if (timed_out)
        text_fit(how, sizeof how, "ran longer than %g s (--timeout)", options->timeout_seconds);
    else if (WIFSIGNALED(status))
        text_fit(how, sizeof how, "was ended by signal %d (%s)", WTERMSIG(status),
            strsignal(WTERMSIG(status)));
    else
        text_fit(how, sizeof how, "ended with exit status %d", WEXITSTATUS(status));
    run_stream_tail(&runner->watch.errors, tail);
    size_t length = strlen(tail), first = length > 300 ? length - 300 : 0;
    char shown[320];
    text_fit(shown, sizeof shown, "%s", tail + first);
    screen_clean(shown, strlen(shown));
    bool is_command = strcmp(what, "The command") == 0 && !timed_out;
    bool lacks_shell = is_command && !options->shell && strpbrk(command, "|<>;&$*");
    return error_set(error, GPUT_ERROR_STATE, "%s %s: %.200s%s%s%s", what, how, command,
        shown[0] ? "; its standard error ends with: " : "", shown,
        lacks_shell  ? " (a line for a shell needs -S; -i ignores failures)"
        : is_command ? " (-i ignores failures)"
                     : "");
}

/* Runs a line by sh -c, and waits for it. A command that fails ends the benchmark. */
static int run_line(
    struct runner *runner, size_t variant, enum bench_line line, struct gput_error *error)
{
    static const char *const nouns[] = {[BENCH_SETUP] = "The command of --setup",
        [BENCH_PREPARE] = "The command of --prepare",
        [BENCH_CONCLUDE] = "The command of --conclude",
        [BENCH_CLEANUP] = "The command of --cleanup"};
    const char *text = runner->bench->commands[variant].own_lines[line];
    if (!text)
        return GPUT_OK;
    char *const argv[] = {(char *)"sh", (char *)"-c", (char *)text, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    bool shows = runner->bench->options.show_output;
    run_watch_clear(&runner->watch);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, runner->null_fd, 0);
    posix_spawnattr_init(&attributes);
    if (!shows) {
        int errors_fd = runner->watch.errors.write_fd;
        posix_spawn_file_actions_adddup2(&actions, runner->null_fd, 1);
        posix_spawn_file_actions_adddup2(&actions, errors_fd >= 0 ? errors_fd : runner->null_fd, 2);
    }
    pid_t pid;
    int failure = posix_spawnp(&pid, "sh", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failure)
        return error_set_errno(error, failure, "Cannot start sh");
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        if (asks_to_stop(runner))
            kill(pid, SIGTERM);
    }
    if (status == 0 || asks_to_stop(runner))
        return GPUT_OK;
    run_watch_end(&runner->watch);
    return set_failure(runner, nouns[line], text, status, false, error);
}

/* ---- One run ---- */

static void on_start(void *user, pid_t pid)
{
    /* Count from the execve() that the process has not called yet. */
    struct run_counters *counters = &((struct runner *)user)->counters;
    static const uint64_t events[RUN_COUNTERS] = {[RUN_INSTRUCTIONS] = PERF_COUNT_HW_INSTRUCTIONS,
        [RUN_CYCLES] = PERF_COUNT_HW_CPU_CYCLES,
        [RUN_CACHE_MISSES] = PERF_COUNT_HW_CACHE_MISSES};
    counters->failure = 0;
    for (int i = 0; i < RUN_COUNTERS; i++) {
        struct perf_event_attr event = {.type = PERF_TYPE_HARDWARE,
            .size = sizeof event,
            .config = events[i],
            .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
            .disabled = 1,
            .inherit = 1,
            .exclude_kernel = 1,
            .exclude_hv = 1,
            .enable_on_exec = 1};
        counters->fds[i] =
            (int)syscall(SYS_perf_event_open, &event, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (counters->fds[i] < 0 && counters->failure == 0)
            counters->failure = errno;
    }
}

static void on_launch(void *user, pid_t pid, int64_t exec_ns, int64_t ended_ns)
{
    struct runner *runner = user;
    runner->exec_ns = exec_ns;
    run_watch_begin(&runner->watch, pid, ended_ns);
}

/* The environment with that of the variant, whose names come first. NULL: as it is, or no memory.
 */
static char **make_environment(char *const *added)
{
    size_t n_added = 0, n_inherited = 0, count = 0;
    while (added[n_added])
        n_added++;
    while (environ[n_inherited])
        n_inherited++;
    char **all = n_added > 0 ? calloc(n_added + n_inherited + 1, sizeof *all) : NULL;
    if (!all)
        return NULL;
    for (size_t i = 0; i < n_added; i++)
        all[count++] = added[i];
    for (size_t i = 0; i < n_inherited; i++) {
        bool is_replaced = false;
        size_t length = strcspn(environ[i], "=") + 1;
        for (size_t k = 0; k < n_added; k++)
            is_replaced |= strncmp(environ[i], added[k], length) == 0;
        if (!is_replaced)
            all[count++] = environ[i];
    }
    return all;
}

/* Kills the tree, and what it starts meanwhile, until nothing is found. */
static void kill_tree(struct gput_session *session, bool *ended, int *status)
{
    struct gput_error error;
    for (int i = 0; i < MAX_KILLS; i++) {
        size_t n_living = session_kill_tree(session);
        if (!*ended && gput_session_wait(session, KILL_WAIT_MS, ended, status, &error) != GPUT_OK)
            return;
        if (*ended && n_living == 0)
            return;
    }
}

/* Waits for the command: it ends, its time is over, or the benchmark is to stop. */
static int wait_for_run(struct runner *runner, struct gput_session *session,
    struct outcome *outcome, struct gput_error *error)
{
    double timeout = runner->bench->options.timeout_seconds;
    int64_t deadline_ns = timeout > 0 ? runner->exec_ns + clock_ns_of_seconds(timeout) : INT64_MAX;
    bool ended = false;
    while (!ended) {
        int64_t left_ms = (deadline_ns - clock_monotonic_ns()) / NS_PER_MS + 1;
        int wait_ms = left_ms < STOP_CHECK_MS ? (int)(left_ms < 0 ? 0 : left_ms) : STOP_CHECK_MS;
        TRY(gput_session_wait(session, wait_ms, &ended, &outcome->status, error));
        outcome->timed_out = !ended && clock_monotonic_ns() >= deadline_ns;
        if (!ended && (outcome->timed_out || asks_to_stop(runner)))
            kill_tree(session, &ended, &outcome->status);
    }
    return GPUT_OK;
}

/* Launches a command in a session of its own and follows it to its end. */
static int run_session(struct runner *runner, struct gput_session *session,
    const struct bench_command *command, struct outcome *outcome, struct gput_error *error)
{
    const struct run_watch *watch = &runner->watch;
    bool shows = runner->bench->options.show_output;
    int streams[3] = {runner->input_fd, runner->null_fd, runner->null_fd};
    if (shows)
        streams[1] = streams[2] = -1;
    if (watch->output.write_fd >= 0)
        streams[1] = watch->output.write_fd;
    if (watch->errors.write_fd >= 0)
        streams[2] = watch->errors.write_fd;
    CLEANUP_FREE char **environment = make_environment(command->environment);
    const struct session_launch how = {.streams = streams,
        .environment = environment,
        .starting = on_start,
        .launched = on_launch,
        .user = runner};
    if (runner->bench->options.input)
        lseek(runner->input_fd, 0, SEEK_SET);
    int code = session_launch(session, command->argv, &how, error);
    if (code == GPUT_OK)
        code = wait_for_run(runner, session, outcome, error);
    run_counters_close(&runner->counters, runner->counts);
    int64_t seen_ns = clock_monotonic_ns(), ended_ns = run_watch_end(&runner->watch);
    TRY(code);
    outcome->wall_seconds =
        clock_seconds_of_ns((ended_ns > 0 ? ended_ns : seen_ns) - runner->exec_ns);
    TRY(gput_session_stop(session, error));
    return gput_session_results(session, &outcome->results, error);
}

/* Runs a command once, in a session of its own. */
static int run_once(struct runner *runner, const struct bench_command *command,
    const char *tracking_file, struct outcome *outcome, struct gput_error *error)
{
    struct gput_session *session;
    struct gput_session_options options = runner->session_options;
    *outcome = (struct outcome){.wall_seconds = NAN};
    options.tracking_file = tracking_file;
    options.overwrite = tracking_file != NULL;
    run_watch_clear(&runner->watch);
    TRY(session_create(&options, &runner->shared, &session, error));
    int code = run_session(runner, session, command, outcome, error);
    gput_session_destroy(session);
    return code;
}

/* ---- All runs ---- */

/* Tells the caller which run is next, and the means so far. */
static void report_progress(struct runner *runner, size_t variant, size_t block)
{
    const struct gput_bench *bench = runner->bench;
    if (!bench->options.progress)
        return;
    double wall = 0, ram = 0;
    size_t count = 0;
    for (size_t i = 0; i < bench->data.n_runs; i++) {
        if (bench->data.runs[i].variant != variant)
            continue;
        wall += bench->data.runs[i].figures[BENCH_WALL];
        ram += bench->data.runs[i].figures[BENCH_RAM];
        count++;
    }
    const struct gput_bench_progress progress = {.variant = bench->data.variants[variant].name,
        .run = runner->is_warmup ? 0 : (unsigned)block + 1,
        .n_runs = bench->options.n_runs,
        .mean_seconds = count > 0 ? wall / (double)count : NAN,
        .mean_ram_bytes = count > 0 ? ram / (double)count : NAN,
        .half_width_percent = bench_order_half_width(bench, BENCH_WALL)};
    bench->options.progress(bench->options.user, &progress);
}

/* Appends the name of a variant as a part of a file name. */
static void append_file_name(struct str *text, const char *name)
{
    size_t start = text->length;
    for (const char *at = name; *at && text->length - start < 200; at++)
        str_append_char(text, strchr("/ '\"\\\n\t", *at) ? '_' : *at);
}

/* Variants before it whose file names would be the same. */
static size_t count_namesakes(const struct gput_bench *bench, size_t variant)
{
    size_t count = 0;
    CLEANUP_STR struct str name = {0};
    append_file_name(&name, bench->data.variants[variant].name);
    for (size_t i = 0; i < variant; i++) {
        CLEANUP_STR struct str other = {0};
        append_file_name(&other, bench->data.variants[i].name);
        count += strcmp(str_text(&name), str_text(&other)) == 0;
    }
    return count;
}

/* The file of a run that is kept: "2-new.csv", of a second variant with that name "2-new.2.csv". */
static char *name_kept_file(const struct gput_bench *bench, size_t variant, size_t block)
{
    struct str path = {0};
    if (!bench->options.keep_folder)
        return NULL;
    size_t n_namesakes = count_namesakes(bench, variant);
    str_printf(&path, "%s/%zu-", bench->options.keep_folder, block + 1);
    append_file_name(&path, bench->data.variants[variant].name);
    if (n_namesakes > 0)
        str_printf(&path, ".%zu", n_namesakes + 1);
    str_append(&path, ".csv");
    return str_steal(&path);
}

/* Runs a variant once, with what comes before and after it, and adds the run unless it is to be
 * forgotten. */
static int run_variant(
    struct runner *runner, size_t variant, size_t block, struct gput_error *error)
{
    struct gput_bench *bench = runner->bench;
    struct disturbance_counts before, after;
    struct outcome outcome = {0};
    report_progress(runner, variant, block);
    TRY(run_line(runner, variant, BENCH_PREPARE, error));
    if (asks_to_stop(runner))
        return GPUT_OK;
    CLEANUP_FREE char *kept = runner->is_warmup ? NULL : name_kept_file(bench, variant, block);
    disturbances_read(&bench->disturbances, &before);
    int code = run_once(runner, &bench->commands[variant], kept, &outcome, error);
    disturbances_read(&bench->disturbances, &after);
    bool has_failed = code == GPUT_OK && (outcome.timed_out || outcome.status != 0);
    /* Ctrl-C ends the command, too: asked again, as it may have died before we looked. */
    if (has_failed && !asks_to_stop(runner) && !bench->options.ignore_failure)
        code = set_failure(runner, "The command", bench->data.variants[variant].command,
            outcome.status, outcome.timed_out, error);
    if (code == GPUT_OK && !runner->is_stopped && !runner->is_warmup) {
        struct bench_run *run = bench_data_add_run(&bench->data, variant, block);
        if (run) {
            run->status = outcome.status;
            run->timed_out = outcome.timed_out;
            run->at_seconds = clock_seconds_of_ns(runner->exec_ns - bench->order.began_ns);
            run->figures[BENCH_WORK] = runner->watch.work_value;
            run->figures[BENCH_INSTRUCTIONS] = runner->counts[RUN_INSTRUCTIONS];
            run->figures[BENCH_CYCLES] = runner->counts[RUN_CYCLES];
            run->figures[BENCH_CACHE_MISSES] = runner->counts[RUN_CACHE_MISSES];
            bench_fill_run(bench, outcome.results, outcome.wall_seconds, run);
            disturbances_fill(&before, &after, run);
            bench_fill_missing(bench, outcome.results);
            /* Note once why there are no counts. */
            static const enum bench_figure figures[] = {
                BENCH_INSTRUCTIONS, BENCH_CYCLES, BENCH_CACHE_MISSES};
            char **missing = runner->bench->data.missing;
            for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
                if (isnan(runner->counts[i]) && !missing[figures[i]])
                    missing[figures[i]] = strdup(run_counters_reason(runner->counters.failure));
            }
            bench->order.next++;
        } else {
            code = error_memory(error);
        }
    }
    gput_results_destroy(outcome.results);
    TRY(code);
    return run_line(runner, variant, BENCH_CONCLUDE, error);
}

/* Measures what `sh -c ''` costs, the least of some runs: it is subtracted from each run with
 * --shell. */
static int measure_shell(struct runner *runner, struct gput_error *error)
{
    struct gput_bench *bench = runner->bench;
    char *argv[] = {(char *)"sh", (char *)"-c", (char *)"", NULL}, *environment[] = {NULL};
    const struct bench_command empty = {.argv = argv, .environment = environment};
    double wall = INFINITY, cpu = INFINITY;
    for (int i = 0; i < N_SHELL_RUNS && !asks_to_stop(runner); i++) {
        struct outcome outcome;
        TRY(run_once(runner, &empty, NULL, &outcome, error));
        wall = fmin(wall, outcome.wall_seconds);
        cpu = fmin(cpu, gput_results_number(outcome.results, "accounting.cpu_seconds.kernel"));
        gput_results_destroy(outcome.results);
    }
    bench->shell_seconds = isfinite(wall) ? wall : 0;
    bench->shell_cpu_seconds = isfinite(cpu) ? cpu : 0;
    return GPUT_OK;
}

/* Whether a program can be started, so that a slip is found before the first run of another one. */
static int check_program(const char *name, struct gput_error *error)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/')) {
        if (access(name, X_OK) == 0)
            return GPUT_OK;
        if (errno != ENOENT)
            return error_set(error, GPUT_ERROR_PERMISSION,
                "Command not executable: \"%.300s\". Is it a program, with the execute permission "
                "set?",
                name);
        return error_set(error, GPUT_ERROR_NOT_FOUND, "Command not found: \"%.300s\"", name);
    }
    for (const char *at = folders ? folders : "/bin:/usr/bin"; *at;) {
        char path[4096];
        int length = (int)strcspn(at, ":");
        text_fit(path, sizeof path, "%.*s%s%s", length, at, length > 0 ? "/" : "", name);
        if (access(path, X_OK) == 0)
            return GPUT_OK;
        at += length + (at[length] == ':');
    }
    return error_set(error, GPUT_ERROR_NOT_FOUND,
        "Command not found: \"%.300s\". A line for a shell needs -S.", name);
}

/* Runs everything: setup, warmups, then blocks of runs until it is enough. */
static int run_all(struct runner *runner, struct gput_error *error)
{
    struct gput_bench *bench = runner->bench;
    size_t variant;
    if (bench->options.shell)
        TRY(measure_shell(runner, error));
    for (variant = 0; variant < bench->data.n_variants; variant++) {
        runner->has_begun = true;
        TRY(run_line(runner, variant, BENCH_SETUP, error));
    }
    for (variant = 0; variant < bench->data.n_variants; variant++)
        TRY(check_program(bench->commands[variant].argv[0], error));
    runner->is_warmup = true;
    for (unsigned i = 0; i < bench->options.n_warmups; i++) {
        for (variant = 0; variant < bench->data.n_variants && !asks_to_stop(runner); variant++)
            TRY(run_variant(runner, variant, i, error));
    }
    runner->is_warmup = false;
    while (!asks_to_stop(runner) && bench_order_next(bench, &variant))
        TRY(run_variant(runner, variant, bench->order.block, error));
    return GPUT_OK;
}

/* Cleans up after all, also where a run has failed. */
static int clean_up(struct runner *runner, struct gput_error *error)
{
    int code = GPUT_OK;
    struct gput_error other;
    for (size_t i = 0; i < runner->bench->data.n_variants; i++) {
        int failed = run_line(runner, i, BENCH_CLEANUP, code == GPUT_OK ? error : &other);
        if (code == GPUT_OK)
            code = failed;
    }
    return code;
}

static bool has_work(const struct bench_data *data)
{
    size_t i = 0;
    while (i < data->n_runs && isnan(data->runs[i].figures[BENCH_WORK]))
        i++;
    return i < data->n_runs;
}

int gput_bench_run(struct gput_bench *bench, struct gput_error *error)
{
    struct runner runner = {
        .bench = bench, .null_fd = -1, .input_fd = -1, .counters = {.fds = {-1, -1, -1}}};
    struct gput_error failure;
    if (bench->data.n_variants == 0)
        return error_set(error, GPUT_ERROR_INVALID, "No command was given.");
    for (size_t i = 0; i < bench->data.n_variants; i++) {
        if (!bench->commands[i].argv)
            return error_set(error, GPUT_ERROR_INVALID,
                "The variant %.200s is no command: its runs are added by gput_bench_add_run().",
                bench->data.variants[i].name);
    }
    for (size_t i = 0; i < bench->n_scans; i++) {
        if (!bench->scans[i].is_used)
            return error_set(error, GPUT_ERROR_INVALID,
                "No command has {%.100s}: write the parameter in braces where its value belongs.",
                bench->scans[i].name);
    }
    int code = begin_runner(&runner, error);
    if (code == GPUT_OK)
        code = run_all(&runner, error);
    if (code != GPUT_OK && bench->data.n_runs == 0 && !runner.has_begun) {
        finish_runner(&runner);
    } else {
        int cleaned = clean_up(&runner, code == GPUT_OK ? error : &failure);
        if (code == GPUT_OK)
            code = cleaned;
        else if (cleaned != GPUT_OK)
            warn(bench, failure.message);
        finish_runner(&runner);
    }
    if (code != GPUT_OK) {
        bench->data.stopped_by = "failure";
        bench->data.failure = error ? strdup(error->message) : NULL;
    } else if (runner.is_stopped) {
        bench->data.stopped_by = "interrupt";
    }
    if (bench->has_work && bench->data.n_runs > 0 && !has_work(&bench->data))
        warn(bench,
            "No line of the output matches --work, so nothing is per unit of work. It is an "
            "extended regular expression, for one line of the standard output or error.");
    if (bench->order.began_ns > 0)
        bench->data.seconds = clock_seconds_of_ns(clock_monotonic_ns() - bench->order.began_ns);
    return code;
}
