#include "track/track.h"

#include "base/clock.h"
#include "base/command_name.h"
#include "base/error.h"
#include "base/text.h"
#include "common/message.h"
#include "common/screen.h"
#include "live/guard.h"
#include "live/live.h"
#include "track/display.h"
#include "track/launch.h"
#include "track/log_to.h"
#include "track/report.h"
#include "track/signals.h"
#include "track/tracking_files.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <gputracker/session.h>

/*
 * One line on a terminal that says what a command uses while it runs, drawn anew every second. It
 * has the last row for itself: what the command prints scrolls above it. A guard gives that row
 * back when gpu-tracker is killed.
 */

/* All zeroes: no progress is shown. */
struct progress {
    struct gput_session *session; /* borrowed; NULL: nothing is shown */
    int64_t next_ms;              /* monotonic clock: when the line is due again */
    int rows, columns;            /* of the terminal when the line was drawn; 0: none is shown */
    struct guard guard;
};

#define INTERVAL_MS 1000
/* With fewer rows the line would take too much of the output's place. */
#define MIN_ROWS 4

/* The cursor and its colours are kept (ESC 7, ESC 8), and all rows scroll again. */
#define LEAVE "\0337\033[r\033[999;1H\033[K\0338"
/* Another size: what the line became is below the output. */
#define FORGET "\0337\033[r\0338\033[J"
/* The cursor leaves the last row, which scrolls if need be. */
#define MAKE_SPACE "\033D\033[A"

/* Where `wanted` and the standard error is a terminal. To be called while there is one thread. */
static void progress_open(struct progress *progress, bool wanted)
{
    struct termios before;
    *progress = (struct progress){.guard.fd = -1};
    if (!wanted || !screen_shows_progress(STDERR_FILENO) || tcgetattr(STDERR_FILENO, &before) != 0)
        return;
    guard_start(&progress->guard, &(struct guard_options){.terminal = STDERR_FILENO,
                                      .before = &before,
                                      .leave = LEAVE,
                                      .spool = -1,
                                      .master = -1});
}

/* In the background the terminal is somebody else's. */
static bool may_draw(void)
{
    return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/* A terminal that takes no more for now is not waited for. */
static void draw(struct progress *progress, const struct winsize *size, const char *line)
{
    char text[640];
    bool is_new = progress->rows != size->ws_row || progress->columns != size->ws_col;
    int length = snprintf(text, sizeof text, "%s%s\0337\033[1;%dr\033[%d;1H\033[0m\033[K%s\0338",
        is_new && progress->rows ? FORGET : "", is_new ? MAKE_SPACE : "", size->ws_row - 1,
        size->ws_row, line);
    atomic_store(&progress->guard.state->is_shown, true);
    if (length < (int)sizeof text &&
        screen_write(STDERR_FILENO, text, (size_t)length, SCREEN_NEVER_WAITS) == 0) {
        progress->rows = size->ws_row;
        progress->columns = size->ws_col;
    }
}

/* Draws the line of the figures so far. */
static void show(struct progress *progress)
{
    struct gput_results *results;
    struct winsize size;
    char *line;
    struct gput_results_render_options options = gput_results_render_options_default();
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < MIN_ROWS ||
        gput_session_results_so_far(progress->session, &results, NULL) != GPUT_OK)
        return;
    options.width = size.ws_col;
    int code = gput_results_render(results, &options, GPUT_FORMAT_LINE, &line, NULL, NULL);
    gput_results_destroy(results);
    if (code != GPUT_OK)
        return;
    draw(progress, &size, line);
    free(line);
}

/* Draws the line when that is due. Returns the milliseconds until the next time; -1: never. */
static int update(void *user)
{
    struct progress *progress = user;
    if (!progress->session)
        return -1;
    int64_t now = clock_monotonic_ms();
    if (now >= progress->next_ms) {
        if (may_draw())
            show(progress);
        progress->next_ms = now + INTERVAL_MS;
    }
    return (int)(progress->next_ms - now);
}

static void leave(struct progress *progress, int stop_fd)
{
    if (progress->rows && may_draw())
        screen_write(STDERR_FILENO, LEAVE, strlen(LEAVE), stop_fd);
    progress->rows = 0;
    if (progress->guard.state)
        atomic_store(&progress->guard.state->is_shown, false);
}

static void suspend(void *user)
{
    leave(user, SCREEN_NEVER_WAITS);
}

/* Draws the line when it is due. */
static struct display progress_display(struct progress *progress)
{
    return (struct display){.fd = -1, .update = update, .suspend = suspend, .user = progress};
}

int track_write_reports(struct gput_session *session, const struct tracking *tracking,
    const struct report *report, const struct gput_results *results, bool quiet,
    struct gput_error *error)
{
    int code = GPUT_OK;
    if (tracking->also_summarizes && tracking->output) {
        /* Keep the summary out of a report on standard output. */
        struct report summary = *report;
        struct gput_error ignored; /* a screen without a reader is not a failure */
        summary.format = GPUT_FORMAT_SUMMARY;
        summary.path = NULL;
        if (strcmp(tracking->output, "-") == 0)
            summary.screen_fd = STDERR_FILENO;
        report_write_session(&summary, session, results, tracking->lists_processes, &ignored);
    }
    if (tracking->output || !quiet)
        code = report_write_session(report, session, results, tracking->lists_processes, error);
    int html_code = html_report_write(&tracking->html, report, session, results, error);
    return code == GPUT_OK ? html_code : code;
}

/* What became of the report. */
enum outcome {
    REPORTED,
    NOT_WRITTEN,
    NO_READER, /* of a screen: a closed pipe, or a full one until a signal ended the waiting */
};

/* Merges what libraries and PyTorch recorded, for the report. */
static void merge_recordings(
    struct tracking *tracking, struct gput_session *session, struct report *report)
{
    const char *tracking_file = tracking->options.tracking_file;
    region_recording_merge(&tracking->regions, tracking_file, gput_session_pid(session));
    report->regions = tracking->regions.analysis;
    report->region_notes = (const char *const *)tracking->regions.notes.lines;
    report->region_marks = region_recording_marks(&tracking->regions);
    torch_trace_merge(&tracking->torch, tracking_file, report->region_marks);
    report->torch_trace = torch_trace_file(&tracking->torch);
    report->torch_notes = (const char *const *)tracking->torch.notes.lines;
}

/* Ends the session and writes what there is to say. *limited: it was ended for a limit that it
 * passed. */
static enum outcome print_outcome(struct gput_session *session, struct tracking *tracking,
    char *const argv[], const struct launch_end *end, const struct track_style *style,
    bool *limited)
{
    struct gput_error error;
    struct gput_results *results = NULL;
    if (gput_session_stop(session, &error) != GPUT_OK)
        message_error_until(&error, end->stop_fd);
    held_messages_print(&tracking->messages, end->stop_fd);
    if (style->announces && !end->abandoned) {
        /* Write the line to stderr where stdout has the report alone. The status is that of
         * Python's subprocess: -9 is "killed by signal 9". */
        char line[128];
        snprintf(line, sizeof line,
            "Resource tracking complete. Process completed with status code: %d\n",
            WIFSIGNALED(end->status) ? -WTERMSIG(end->status) : WEXITSTATUS(end->status));
        int fd =
            tracking->output && strcmp(tracking->output, "-") == 0 ? STDERR_FILENO : STDOUT_FILENO;
        screen_write(fd, line, strlen(line), end->stop_fd);
    }
    const char *const *command = (const char *const *)argv;
    const char *name[COMMAND_NAME_WORDS];
    int code = gput_session_results(session, &results, &error);
    bool is_named = command_name_of(command, name) > 0 && !tracking->options.command_lines;
    *limited = code == GPUT_OK && gput_results_was_ended(results);
    tracking_files_settle(tracking);
    struct report report = {
        .format = tracking->format,
        .explains_time = style->explains_time,
        .path = tracking->output,
        .other_path = tracking_files_place_of_report(tracking),
        .may_be_elsewhere = outputs_are_many(&tracking->outputs),
        .screen_fd = style->screen_fd,
        .stop_fd = end->stop_fd,
        .command = command,
        .file_command = is_named ? name : command,
        .follows_command = style->screen_fd == STDERR_FILENO,
        .has_status = !end->abandoned,
        .status = end->status,
        .labels = tracking->options.labels,
        .is_older_form = style->is_older_form,
        .units = tracking->units,
    };
    merge_recordings(tracking, session, &report);
    bool quiet = style->quiet || tracking->quiet;
    if (code == GPUT_OK)
        code = track_write_reports(session, tracking, &report, results, quiet, &error);
    if (code == GPUT_OK)
        tracking_files_write_manifest(tracking, results, end->stop_fd);
    if (code != GPUT_OK)
        message_error_until(&error, end->stop_fd);
    if (results) {
        kept_history_add(tracking, results, command, end->stop_fd);
        log_to_write(tracking, results, end->stop_fd);
    }
    gput_results_destroy(results);
    if (code == GPUT_ERROR_STATE && !tracking->output)
        return NO_READER;
    return code == GPUT_OK ? REPORTED : NOT_WRITTEN;
}

/* Returns the exit status of a command that was not started. */
static int failure_status(const struct gput_error *error, const struct track_style *style)
{
    switch (error->code) {
    case GPUT_ERROR_NOT_FOUND:
        return style->not_found_status;
    case GPUT_ERROR_PERMISSION:
        return style->not_executable_status;
    default:
        return style->failed_status;
    }
}

/* Waits for a command that goes on after its report. `stop`: what ended waiting for a reader, if
 * anything did, is meant for the command. */
static void wait_for_command(
    const struct gput_session *session, struct launch_end *end, const struct signal_event *stop)
{
    pid_t pid = gput_session_pid(session);
    if (stop)
        signals_forward(stop, pid);
    end->status = launch_wait(pid, end->stop_fd);
    end->abandoned = false;
}

/* The exit status; *killed_by is the signal to die of when it is not 0. A report that is missing
 * must not end a job of which the command is a rank. */
static int exit_status(
    const struct launch_end *end, enum outcome outcome, bool is_rank, int *killed_by)
{
    if (end->abandoned)
        *killed_by = end->killed_by;
    else if (WIFSIGNALED(end->status))
        *killed_by = WTERMSIG(end->status);
    else if (WEXITSTATUS(end->status) != 0 || outcome != NOT_WRITTEN || is_rank)
        return WEXITSTATUS(end->status);
    return EXIT_TRACKER_FAILED;
}

/* Whether a limit, a lack of memory or a filter of system calls refuses what tracking needs: the
 * command may need less. */
static bool lacks_resources(const struct gput_error *error)
{
    switch (error->errno_value) {
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return true;
    case EPERM:
    case ENOSYS:
        return error->code == GPUT_ERROR_IO;
    default:
        return error->code == GPUT_ERROR_MEMORY || error->code == GPUT_ERROR_FILES;
    }
}

/* Runs the command in the place of this program, as if that had not been there. */
static int run_untracked(
    char *const argv[], const struct gput_error *why, const struct track_style *style)
{
    char line[MESSAGE_LINE_SIZE];
    snprintf(line, sizeof line, "The command runs untracked: %.900s", why->message);
    message_warning(NULL, line);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    execvp(argv[0], argv);
    struct gput_error error;
    bool is_missing = errno == ENOENT || errno == ENOTDIR;
    error_set(&error, is_missing ? GPUT_ERROR_NOT_FOUND : GPUT_ERROR_PERMISSION,
        is_missing ? "Command not found: \"%s\"" : "Command not executable: \"%s\"", argv[0]);
    message_error(&error);
    return failure_status(&error, style);
}

/* What is on the terminal while the command runs: a view, a line or neither. */
struct shown {
    struct live *live; /* NULL: there is none */
    struct progress progress;
};

/* Where there can be no view, tracking goes on without. */
static struct live *open_live(struct tracking *tracking)
{
    const struct live_options options = {.runs_command = true,
        .interval_seconds = tracking->options.sleep_time_seconds,
        .sub_tracking_file = tracking->live_marks};
    char line[MESSAGE_LINE_SIZE / 2];
    struct gput_error error;
    struct live *live = NULL;
    if (tracking->shows_live && live_open(&options, &live, &error) != GPUT_OK) {
        snprintf(line, sizeof line, "the live view cannot be shown: %.400s.", error.message);
        message_note(line);
    }
    tracking->options.snapshots = live != NULL;
    return live;
}

static void end_shown(struct shown *shown, int stop_fd)
{
    live_end(shown->live, stop_fd);
    /* Remove the line. The terminal is waited for until `stop_fd` can be read (see screen.h). */
    leave(&shown->progress, stop_fd);
    guard_end(&shown->progress.guard, false);
    shown->progress.session = NULL;
}

/* Starts the command, with its output where the view or the phases need it. */
static int start(struct gput_session *session, struct shown *shown, struct output_relay *relay,
    char *const argv[], struct signals *signals, struct gput_error *error)
{
    char title[256];
    live_give_streams(shown->live);
    output_relay_give(relay);
    int code = launch_start(session, argv, signals, error);
    output_relay_take_back(relay);
    live_take_streams(shown->live);
    if (code == GPUT_OK)
        output_relay_begin(relay, gput_session_pid(session));
    /* Make the title: "python train.py --epochs 3". */
    size_t used = 0;
    title[0] = '\0';
    for (int i = 0; argv[i] && used < sizeof title; i++)
        used += (size_t)snprintf(title + used, sizeof title - used, i ? " %s" : "%s", argv[i]);
    if (code == GPUT_OK)
        live_begin(shown->live, session, title);
    if (code != GPUT_OK) {
        output_relay_end(relay, SCREEN_WAITS, NULL);
        end_shown(shown, SCREEN_WAITS);
    }
    return code;
}

/* Waits for the command, with a view or a line on the terminal. */
static int follow(struct gput_session *session, struct tracking *tracking, struct shown *shown,
    struct output_relay *relay, struct signals *signals, struct launch_end *end,
    struct gput_error *error)
{
    struct output_relay_result phases;
    struct live *live = shown->live;
    /* Show what the session measures from now on. */
    if (shown->progress.guard.state) {
        shown->progress.session = session;
        shown->progress.next_ms = clock_monotonic_ms() + INTERVAL_MS;
    }
    struct display display =
        output_relay_display(relay, live ? live_display(live) : progress_display(&shown->progress));
    display = torch_trace_display(&tracking->torch, display);
    tracking->messages.holds_lines = live != NULL;
    int code = launch_follow(session, signals, &display, end, error);
    output_relay_end(relay, end->stop_fd, &phases);
    region_recording_note_phases(&tracking->regions, &phases);
    end_shown(shown, end->stop_fd);
    tracking->messages.holds_lines = false;
    return code;
}

/* Tracks the command in a session that is ready. Returns the exit status; *killed_by is the signal
 * to die of when it is not 0. `lack`: what was lacking, where the command was not started for that.
 */
static int track_in_session(struct gput_session *session, struct tracking *tracking,
    struct shown *shown, struct output_relay *relay, char *const argv[],
    const struct track_style *style, int *killed_by, struct gput_error *lack)
{
    struct gput_error error = {0};
    struct launch_end end;
    struct signals signals = {0};
    if (start(session, shown, relay, argv, &signals, &error) != GPUT_OK) {
        if (gput_session_pid(session) == 0 && lacks_resources(&error)) {
            signals_restore(&signals);
            *lack = error;
        } else {
            message_error(&error);
        }
        /* One that was started is there. */
        return gput_session_pid(session) ? style->failed_status : failure_status(&error, style);
    }
    tracking_files_say(tracking);
    tracking_say_address(tracking, session);
    tracking->leaves_warnings_to_report = false;
    int code = follow(session, tracking, shown, relay, &signals, &end, &error);
    if (code != GPUT_OK) {
        message_error_until(&error, end.stop_fd);
        return style->failed_status;
    }
    bool limited;
    if (end.goes_on) {
        error_set(&error, GPUT_ERROR_STATE,
            "gpu-tracker's own CPU time (ulimit -t) is exhausted: the report ends here. The "
            "command goes on.");
        message_error_until(&error, end.stop_fd);
    }
    enum outcome outcome = print_outcome(session, tracking, argv, &end, style, &limited);
    struct signal_event stop;
    bool is_stopped = outcome == NO_READER && signals_take_stop(end.stop_fd, &stop);
    if (end.goes_on) {
        wait_for_command(session, &end, is_stopped ? &stop : NULL);
    } else if (is_stopped) {
        end.abandoned = true;
        end.killed_by = stop.number == SIGALRM ? end.asked_by : stop.number;
    }
    if (end.stop_fd >= 0)
        close(end.stop_fd);
    return limited ? EXIT_LIMIT_EXCEEDED
                   : exit_status(&end, outcome, outputs_are_many(&tracking->outputs), killed_by);
}

/* The thread that samples would take memory of its own from the kernel: it waits for the others'.
 */
static void share_memory_of_threads(void)
{
#ifdef M_ARENA_MAX
    mallopt(M_ARENA_MAX, 1);
#endif
}

int track_command(
    const struct arguments *arguments, char *const argv[], const struct track_style *style)
{
    struct gput_error error, lack = {0};
    struct tracking tracking;
    struct gput_session *session = NULL;
    share_memory_of_threads();
    signals_survive_closed_pipes();
    int code = tracking_read(arguments, style->is_older_form, &tracking, &error);
    if (code != GPUT_OK) {
        message_error(&error);
        return style->failed_status;
    }
    tracking_warn_of_process(&tracking);
    tracking_name_marks(&tracking);
    /* Set what is known of the session before it tracks a command. */
    tracking.leaves_warnings_to_report = tracking.format == GPUT_FORMAT_JSON && !tracking.output &&
                                         !style->quiet && style->screen_fd == STDERR_FILENO;
    tracking.options.no_other_children = true;
    tracking.options.gpu_optional = !style->is_older_form;
    int status = style->failed_status;
    int killed_by = 0;
    struct output_relay relay;
    struct shown shown = {.live = open_live(&tracking)};
    progress_open(&shown.progress, tracking.shows_progress && !shown.live);
    const int targets[] = {live_target(shown.live, STDIN_FILENO),
        live_target(shown.live, STDOUT_FILENO), live_target(shown.live, STDERR_FILENO)};
    code = region_recording_relay(&tracking.regions, targets, &relay, &error);
    if (code == GPUT_OK)
        code = tracking_files_create_session(&tracking, &session, &error);
    if (code == GPUT_OK) {
        log_to_start(&tracking);
        status =
            track_in_session(session, &tracking, &shown, &relay, argv, style, &killed_by, &lack);
    } else {
        output_relay_end(&relay, SCREEN_WAITS, NULL);
        end_shown(&shown, SCREEN_WAITS);
        if (lacks_resources(&error))
            lack = error;
    }
    /* Limits that cannot be watched must not be taken for kept. */
    bool is_untracked = lack.code != GPUT_OK && !tracking.limits.enforce;
    if (code != GPUT_OK && !is_untracked)
        message_error(&error);
    else if (lack.code != GPUT_OK && !is_untracked)
        message_error(&lack);
    gput_session_destroy(session);
    bool is_delivered = tracking_files_deliver(&tracking);
    if (!is_delivered && status == EXIT_SUCCESS && !outputs_are_many(&tracking.outputs))
        status = EXIT_TRACKER_FAILED;
    tracking_finish(&tracking);
    if (is_untracked)
        return run_untracked(argv, &lack, style);
    if (killed_by)
        signals_die(killed_by);
    return status;
}
