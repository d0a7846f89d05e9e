/* gpu-tracker bench: commands that run repeatedly, and what differs between them. */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/human.h"
#include "base/number.h"
#include "base/screen.h"
#include "base/text.h"
#include "base/utf8.h"
#include "common/message.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "output/analysis_output.h"
#include "track/report.h"
#include "track/signals.h"

#include <gputracker/bench.h>

#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_COUNT 1000000

/* The signal that ended it. A handler has nowhere else to put it. */
static volatile sig_atomic_t stop_signal;

static void note_signal(int number)
{
    stop_signal = number;
}

static bool is_to_stop(void *user)
{
    (void)user;
    return stop_signal != 0;
}

/* ---- Options ---- */

/* Reads a number of an option within bounds; "%" and "s" may follow where they make sense. */
static int read_number(const struct arguments *arguments, enum option_id id, double least,
    double most, bool is_whole, double *value, struct gput_error *error)
{
    char name[64], wanted[96];
    const char *text = arguments_value(arguments, id);
    double number;
    if (!text)
        return GPUT_OK;
    const char *end = number_parse_double(text, text + strlen(text), &number);
    if (end && *end == '%' && id == OPTION_BENCH_PRECISION)
        end++;
    if (end && *end == 's' && !is_whole)
        end++;
    if (end && *end == '\0' && number >= least && number <= most &&
        (!is_whole || number == floor(number))) {
        *value = number;
        return GPUT_OK;
    }
    text_fit(wanted, sizeof wanted,
        is_whole ? "a whole number from %g to %g" : "a number from %g to %g", least, most);
    return error_set(error, GPUT_ERROR_INVALID, "%s is \"%.100s\", but has to be %s.",
        option_name(option(id), name), text, wanted);
}

static int read_count(const struct arguments *arguments, enum option_id id, unsigned least,
    unsigned *count, struct gput_error *error)
{
    double value = *count;
    TRY(read_number(arguments, id, least, MAX_COUNT, true, &value, error));
    *count = (unsigned)value;
    return GPUT_OK;
}

/* Reads the options of the benchmark and of the session of each run. */
static int read_options(const struct arguments *arguments, struct gput_bench_options *options,
    struct gput_session_options *session, struct gput_error *error)
{
    double seed = 0;
    TRY(read_count(arguments, OPTION_BENCH_RUNS, 1, &options->n_runs, error));
    TRY(read_count(arguments, OPTION_BENCH_WARMUP, 0, &options->n_warmups, error));
    TRY(read_number(
        arguments, OPTION_BENCH_PRECISION, 0.001, 1000, false, &options->precision_percent, error));
    TRY(read_number(arguments, OPTION_BENCH_MIN_TIME, 0, 1e9, false, &options->min_seconds, error));
    TRY(read_number(arguments, OPTION_BENCH_MAX_TIME, 0, 1e9, false, &options->max_seconds, error));
    TRY(read_number(
        arguments, OPTION_BENCH_TIMEOUT, 0.001, 1e9, false, &options->timeout_seconds, error));
    TRY(read_number(arguments, OPTION_BENCH_SEED, 1, 1e15, true, &seed, error));
    options->seed = (uint64_t)seed;
    options->in_order = arguments_have(arguments, OPTION_BENCH_IN_ORDER);
    options->shell = arguments_have(arguments, OPTION_BENCH_SHELL);
    options->ignore_failure = arguments_have(arguments, OPTION_BENCH_IGNORE_FAILURE);
    options->show_output = arguments_have(arguments, OPTION_BENCH_SHOW_OUTPUT);
    options->pair = arguments_have(arguments, OPTION_BENCH_PAIR);
    options->input = arguments_value(arguments, OPTION_BENCH_INPUT);
    options->setup = arguments_value(arguments, OPTION_BENCH_SETUP);
    options->prepare = arguments_value(arguments, OPTION_BENCH_PREPARE);
    options->conclude = arguments_value(arguments, OPTION_BENCH_CONCLUDE);
    options->cleanup = arguments_value(arguments, OPTION_BENCH_CLEANUP);
    options->work = arguments_value(arguments, OPTION_BENCH_WORK);
    options->keep_folder = arguments_value(arguments, OPTION_BENCH_KEEP);
    session->sleep_time_seconds = 0.1;
    if (arguments_have(arguments, OPTION_SLEEP_TIME))
        TRY(gput_session_option_set(
            session, "sleep_time", arguments_value(arguments, OPTION_SLEEP_TIME), error));
    session->gpu_uuids = arguments_value(arguments, OPTION_GPU_UUIDS);
    session->procfs_root = secure_getenv("GPUT_PROCFS");
    session->sysfs_root = secure_getenv("GPUT_SYSFS");
    session->nvml_path = secure_getenv("GPUT_NVML");
    options->session = session;
    return GPUT_OK;
}

/* "threads=1,2,4" */
static int add_parameters(
    const struct arguments *arguments, struct gput_bench *bench, struct gput_error *error)
{
    size_t position = 0;
    const char *text;
    while ((text = arguments_next(arguments, OPTION_BENCH_PARAMETER, &position)) != NULL) {
        const char *equals = strchr(text, '=');
        if (!equals)
            return error_set(error, GPUT_ERROR_INVALID,
                "\"-P %.200s\" is not a parameter. One is like threads=1,2,4 or size=1..8.", text);
        CLEANUP_FREE char *name = strndup(text, (size_t)(equals - text));
        if (!name)
            return error_memory(error);
        TRY(gput_bench_add_parameter(bench, name, equals + 1, error));
    }
    return GPUT_OK;
}

/* ---- While it runs ---- */

/* A line that the next one replaces: where it is, and the mean so far. */
static void show_progress(void *user, const struct gput_bench_progress *progress)
{
    char line[256], seconds[HUMAN_SIZE], ram[HUMAN_SIZE], of[32] = "", exact[64] = "";
    unsigned columns = screen_columns(STDERR_FILENO, 80);
    (void)user;
    if (progress->n_runs > 0)
        text_fit(of, sizeof of, " of %u", progress->n_runs);
    else if (!isnan(progress->half_width_percent))
        text_fit(exact, sizeof exact, ", known to ± %.1f %%", progress->half_width_percent);
    if (progress->run == 0)
        text_fit(line, sizeof line, "warming up: %.100s", progress->variant);
    else if (isnan(progress->mean_seconds))
        text_fit(line, sizeof line, "run %u%s: %.100s", progress->run, of, progress->variant);
    else
        text_fit(line, sizeof line, "run %u%s: %.100s, so far %s, %s%s", progress->run, of,
            progress->variant, human_seconds(progress->mean_seconds, seconds),
            human_bytes(progress->mean_ram_bytes, ram), exact);
    size_t length = screen_clean(line, strlen(line));
    line[length < columns ? length : columns - 1] = '\0';
    char text[320];
    text_fit(text, sizeof text, "\r\033[K%s", line);
    screen_write(STDERR_FILENO, text, strlen(text), SCREEN_NEVER_WAITS);
}

/* ---- Results ---- */

/* Writes the results to -o, and a text to the screen where that is a file. */
static int write_results(const struct arguments *arguments, const struct gput_bench *bench,
    enum gput_format format, struct gput_error *error)
{
    const char *output = arguments_value(arguments, OPTION_BENCH_OUTPUT);
    struct gput_bench_render_options options = gput_bench_render_options_default();
    options.details = arguments_have(arguments, OPTION_BENCH_DETAILS);
    options.width = isatty(STDOUT_FILENO) ? screen_columns(STDOUT_FILENO, REPORT_COLUMNS) : 0;
    CLEANUP_FREE char *bytes = NULL;
    size_t length;
    if (report_is_file(output) && !arguments_have(arguments, OPTION_BENCH_QUIET)) {
        CLEANUP_FREE char *text = NULL;
        TRY(gput_bench_render(bench, &options, GPUT_FORMAT_TEXT, &text, &length, error));
        TRY(report_write_bytes(NULL, STDOUT_FILENO, text, length, error));
    }
    if (report_is_file(output))
        options.width = 0;
    TRY(gput_bench_render(bench, &options, format, &bytes, &length, error));
    return report_write_bytes(output, STDOUT_FILENO, bytes, length, error);
}

static int check_rule(const void *bench, const char *rule, bool *holds, struct gput_error *said)
{
    return gput_bench_check(bench, rule, holds, said->message, sizeof said->message, said);
}

/* Rules are read before the first run: a slip in one is no reason to run for an hour. */
static int check_rule_texts(
    const struct arguments *arguments, const struct gput_bench *bench, struct gput_error *error)
{
    size_t position = 0;
    const char *rule;
    while ((rule = arguments_next(arguments, OPTION_BENCH_FAIL_IF, &position)) != NULL) {
        bool holds;
        char message[8];
        int code = gput_bench_check(bench, rule, &holds, message, sizeof message, error);
        if (code != GPUT_OK && code != GPUT_ERROR_STATE) /* that nothing has run yet */
            return code;
    }
    return GPUT_OK;
}

/* Adds the commands, runs them until they are done or Ctrl-C comes, and checks --fail-if. */
static int run(const struct arguments *arguments, struct gput_bench *bench,
    const struct gput_bench_options *options, enum gput_format format, int *status,
    struct gput_error *error)
{
    struct gput_error failure;
    const char *baseline = arguments_value(arguments, OPTION_BENCH_BASELINE);
    TRY(add_parameters(arguments, bench, error));
    /* Add the commands: each operand is one, and all that follows "--" is one more. */
    size_t position = 0;
    int n_strings =
        arguments->n_before_dashes < 0 ? arguments->n_operands : arguments->n_before_dashes;
    bool has_last = n_strings < arguments->n_operands;
    bool names_all = n_strings + has_last > 1 && arguments_have(arguments, OPTION_BENCH_PARAMETER);
    for (int i = 0; i < n_strings; i++) {
        const char *name = arguments_next(arguments, OPTION_BENCH_NAME, &position);
        if (name && name[0] && !name[strspn(name, "0123456789")]) /* -n 3 of other programs */
            message_warning(NULL, "-n is the name of a command. The number of runs is -r.");
        TRY(gput_bench_add_command(bench, name || !names_all ? name : arguments->operands[i],
            arguments->operands[i], error));
    }
    if (has_last)
        TRY(gput_bench_add_argv(bench, arguments_next(arguments, OPTION_BENCH_NAME, &position),
            arguments->operands + n_strings, error));
    const char *left = arguments_next(arguments, OPTION_BENCH_NAME, &position);
    if (left)
        return error_set(error, GPUT_ERROR_INVALID,
            "The name \"%.100s\" has no command: give a command for each --name.", left);
    if (baseline)
        TRY(gput_bench_load_baseline(bench, baseline, error));
    TRY(check_rule_texts(arguments, bench, error));
    /* Ctrl-C ends the run, and the results so far are printed. A signal that is ignored stays
     * ignored. */
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal}, before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
    }
    signals_survive_closed_pipes();
    int code = gput_bench_run(bench, &failure);
    if (options->progress)
        screen_write(STDERR_FILENO, "\r\033[K", 4, SCREEN_NEVER_WAITS);
    if (code != GPUT_OK) {
        message_error(&failure);
        *status = EXIT_FAILURE;
    }
    int written = write_results(arguments, bench, format, error);
    if (written == GPUT_ERROR_STATE && (code != GPUT_OK || stop_signal)) /* nothing has run */
        return GPUT_OK;
    TRY(written);
    if (code == GPUT_OK && stop_signal == 0)
        TRY(rules_check(arguments, OPTION_BENCH_FAIL_IF, check_rule, bench, status, error));
    return GPUT_OK;
}

/* Makes the benchmark that the command line describes, and runs it. */
static int bench(const struct arguments *arguments, int *status, struct gput_error *error)
{
    enum gput_format format;
    struct gput_bench *bench;
    struct gput_bench_options options = gput_bench_options_default();
    struct gput_session_options session = gput_session_options_default();
    const char *output = arguments_value(arguments, OPTION_BENCH_OUTPUT);
    TRY(report_read_format(
        arguments, OPTION_BENCH_FORMAT, output, GPUT_FORMAT_TEXT, &format, error));
    TRY(report_check_output(output, error));
    TRY(read_options(arguments, &options, &session, error));
    options.is_to_stop = is_to_stop;
    options.warn = message_warning;
    if (screen_shows_progress(STDERR_FILENO) && !options.show_output)
        options.progress = show_progress;
    TRY(gput_bench_create(&options, &bench, error));
    int code = run(arguments, bench, &options, format, status, error);
    gput_bench_destroy(bench);
    return code;
}

int cmd_bench(const struct arguments *arguments)
{
    struct gput_error error;
#ifdef M_MMAP_THRESHOLD
    /* A session has some large structs of which it uses a part: fresh pages need no zeroing, and a
     * heap that keeps them makes each fork dearer. */
    mallopt(M_MMAP_THRESHOLD, 64 << 10);
#endif
    int status = EXIT_SUCCESS;
    if (bench(arguments, &status, &error) != GPUT_OK) {
        message_error(&error);
        status = EXIT_FAILURE;
    }
    if (stop_signal) {
        signal(stop_signal, SIG_DFL);
        raise(stop_signal);
        return 128 + stop_signal;
    }
    return status;
}
