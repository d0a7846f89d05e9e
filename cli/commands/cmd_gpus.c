/* gpu-tracker gpus: who is on which card with how much, now. */
#include "base/cleanup.h"
#include "base/error.h"
#include "common/environment.h"
#include "common/message.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "output/tables.h"
#include "track/report.h"

#include <gputracker/gpus.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_INTERVAL_SECONDS 1.0

/* What is to be shown, and how. */
struct shown {
    const char *output, *table;
    enum gput_format format;
    double interval_seconds;
    bool watches, redraws;
};

/* Reads what to show, how and how often. */
static int read_options(
    const struct arguments *arguments, struct shown *shown, struct gput_error *error)
{
    const char *interval = arguments_value(arguments, OPTION_WATCH_INTERVAL);
    *shown = (struct shown){.output = arguments_value(arguments, OPTION_TABLE_OUTPUT),
        .table = arguments_value(arguments, OPTION_GPUS_TABLE),
        .interval_seconds = DEFAULT_INTERVAL_SECONDS,
        .watches = arguments_have(arguments, OPTION_WATCH)};
    int table = 0; /* its name is what counts */
    TRY(arguments_read_choice(arguments, OPTION_GPUS_TABLE, "table", &table, error));
    TRY(tables_read_format(arguments, &shown->format, error));
    TRY(report_check_output(shown->output, error));
    if (interval) {
        char *end;
        shown->interval_seconds = strtod(interval, &end);
        if (*end || end == interval || !isfinite(shown->interval_seconds) ||
            shown->interval_seconds < 0.1 || shown->interval_seconds > 86400)
            return error_set(error, GPUT_ERROR_INVALID,
                "--interval is a number of seconds from 0.1 to 86400, not \"%s\".", interval);
        if (!shown->watches)
            return error_set(error, GPUT_ERROR_INVALID, "--interval needs --watch.");
    }
    if (shown->watches && report_is_file(shown->output))
        return error_set(error, GPUT_ERROR_INVALID,
            "--watch goes to the screen or a pipe, not to a file: use > FILE, or -o without "
            "--watch.");
    if (!shown->table && shown->format == GPUT_FORMAT_CSV)
        shown->table = "processes";
    shown->redraws =
        shown->watches && shown->format == GPUT_FORMAT_TEXT && screen_takes_escapes(STDOUT_FILENO);
    return GPUT_OK;
}

/* What was read last, as it is written. `*bytes` is the caller's. */
static int render(const struct gput_gpus *gpus, const struct shown *shown, char **bytes,
    size_t *length, struct gput_error *error)
{
    if (!shown->table)
        return gput_gpus_render(gpus, shown->format, bytes, length, error);
    struct gput_tables *tables;
    TRY(gput_gpus_tables(gpus, &tables, error));
    int code = gput_tables_select(tables, shown->table, error);
    if (code == GPUT_OK)
        code = gput_tables_render(tables, shown->format, bytes, length, error);
    gput_tables_destroy(tables);
    return code;
}

/* Writes the GPUs as they are now; a header of CSV is written the first time alone. */
static int write_once(const struct gput_gpus *gpus, const struct shown *shown, bool is_first,
    struct gput_error *error)
{
    CLEANUP_FREE char *bytes = NULL;
    size_t length;
    TRY(render(gpus, shown, &bytes, &length, error));
    const char *text = bytes;
    if (shown->redraws) {
        TRY(report_write_text(NULL, STDOUT_FILENO, "\033[H\033[J", error));
    } else if (!is_first && shown->format == GPUT_FORMAT_CSV) {
        const char *rows = strchr(text, '\n'); /* the header was written once */
        text = rows ? rows + 1 : text;
    } else if (!is_first && shown->format == GPUT_FORMAT_TEXT) {
        TRY(report_write_text(NULL, STDOUT_FILENO, "\n", error));
    }
    return report_write_bytes(
        shown->output, STDOUT_FILENO, text, length - (size_t)(text - bytes), error);
}

/* Until a signal ends it, or the reader of the pipe has gone. */
static int watch(struct gput_gpus *gpus, const struct shown *shown, struct gput_error *error)
{
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (bool is_first = true;; is_first = false) {
        int code = write_once(gpus, shown, is_first, error);
        if (code != GPUT_OK)
            return code == GPUT_ERROR_STATE ? GPUT_OK : code;
        double whole = floor(shown->interval_seconds);
        next.tv_sec += (time_t)whole;
        next.tv_nsec += (long)((shown->interval_seconds - whole) * 1e9);
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        /* After a pause (Ctrl+Z, a driver that hung) it goes on from now. */
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec > next.tv_sec || (now.tv_sec == next.tv_sec && now.tv_nsec > next.tv_nsec))
            next = now;
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) != 0)
            ;
        TRY(gput_gpus_update(gpus, error));
    }
}

/* Shows the GPUs once or, with --watch, until a signal comes. */
static int show(const struct arguments *arguments, bool *has_failed, struct gput_error *error)
{
    struct gput_session_options options = gput_session_options_default();
    struct gput_gpus *gpus = NULL;
    struct shown shown;
    TRY(read_options(arguments, &shown, error));
    options.gpu_parts = arguments_have(arguments, OPTION_GPU_PARTS);
    if (options.gpu_parts)
        message_note(
            "--gpu-parts reads the counters that DCGM reads, which may miss values meanwhile");
    options.procfs_root = environment_path("GPUT_PROCFS");
    options.sysfs_root = environment_path("GPUT_SYSFS");
    options.nvml_path = environment_path("GPUT_NVML");
    options.gpu_brand = arguments_value(arguments, OPTION_GPU_BRAND);
    options.gpu_uuids = arguments_value(arguments, OPTION_GPU_UUIDS);
    TRY(gput_gpus_create(&options, &gpus, error));
    int code = shown.watches ? watch(gpus, &shown, error) : write_once(gpus, &shown, true, error);
    const char *why = gput_gpus_missing(gpus, has_failed);
    if (code == GPUT_OK && why && *has_failed && shown.format != GPUT_FORMAT_TEXT)
        message_note(why);
    gput_gpus_destroy(gpus);
    return code;
}

int cmd_gpus(const struct arguments *arguments)
{
    struct gput_error error;
    bool has_failed = false;
    int code = show(arguments, &has_failed, &error);
    if (code == GPUT_OK && has_failed)
        return EXIT_FAILURE;
    return message_exit_status(
        code, &error, code == GPUT_ERROR_INVALID ? EXIT_USAGE : EXIT_FAILURE);
}
