/* gpu-tracker attach: a process that is running already. */
#include "base/clock.h"
#include "base/error.h"
#include "common/message.h"
#include "common/screen.h"
#include "options/arguments.h"
#include "track/log_to.h"
#include "track/report.h"
#include "track/signals.h"
#include "track/track.h"
#include "track/tracking_files.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* The sleep between two polls: of a process on kernels without pidfd, of processes that are being
 * ended for a limit, and of whether that was given up. */
#define POLL_MS 100

static bool is_readable(int fd)
{
    struct pollfd source = {.fd = fd, .events = POLLIN};
    return poll(&source, 1, 0) == 1;
}

/* How it ended. */
struct attach_end {
    bool has_ended; /* the process */
    bool limited;   /* what was tracked was ended for a limit that it exceeded */
    int asked_by;   /* SIGTERM or SIGHUP, which ended tracking; else 0 */
    int stop_fd;    /* how long a message may wait from now on; see screen.h */
};

/* Waits until the process has ended, the time is over (`for_seconds`, 0: for ever), or a signal
 * came. */
static int follow(struct gput_session *session, struct signals *signals,
    const struct tracking *tracking, double for_seconds, struct attach_end *end,
    struct gput_error *error)
{
    int process_fd = gput_session_end_fd(session);
    int64_t deadline = clock_monotonic_ms() + (int64_t)(for_seconds * 1000);
    for (;;) {
        int status;
        int code = gput_session_wait(session, 0, &end->has_ended, &status, error);
        int64_t left = for_seconds > 0 ? deadline - clock_monotonic_ms() : INT_MAX;
        if (code != GPUT_OK || end->has_ended || left <= 0)
            return code;
        int timeout = left == INT_MAX ? -1 : left < INT_MAX ? (int)left : INT_MAX;
        if ((process_fd < 0 || tracking->limits.enforce) && (timeout < 0 || timeout > POLL_MS))
            timeout = POLL_MS;
        struct signal_event event;
        if (signals_next(signals, process_fd, timeout, &event) && signals_handle(&event)) {
            end->asked_by = signals_asks_to_end(event.number) ? event.number : 0;
            return GPUT_OK;
        }
        if (is_readable(process_fd))
            process_fd = -1; /* it would say so for ever */
    }
}

#define BEFORE "attached to a running process: its CPU time and peaks before that"

/* What the figures of an attached session leave out, as one more source in the report. */
static void add_note(struct gput_results *results)
{
    bool has_end = gput_results_number(results, "identity.exit_status") >= 0 ||
                   gput_results_number(results, "identity.signal") > 0;
    const char *reason =
        has_end ? BEFORE ", and descendants that lost their parent are unknown"
                : BEFORE ", descendants that lost their parent, and its exit status are unknown";
    struct gput_error error;
    if (gput_results_add_source(
            results, "before_attaching", GPUT_SOURCE_UNAVAILABLE, reason, &error) != GPUT_OK)
        message_warning(NULL, error.message);
}

/* Ends tracking, and writes the report and what else is made of the results. */
static int print_report(struct gput_session *session, struct tracking *tracking,
    struct attach_end *end, struct gput_error *error)
{
    struct gput_results *results = NULL;
    int code = gput_session_stop(session, error);
    if (code == GPUT_OK)
        code = gput_session_results(session, &results, error);
    held_messages_print(&tracking->messages, end->stop_fd);
    if (code != GPUT_OK)
        return code;
    end->limited = gput_results_was_ended(results);
    add_note(results);
    tracking_files_settle(tracking);
    struct report report = {.format = tracking->format,
        .units = tracking->units,
        .labels = tracking->options.labels,
        .path = tracking->output,
        .other_path = tracking_files_place_of_report(tracking),
        .screen_fd = STDOUT_FILENO,
        .attached = end->has_ended ? "has ended" : "is still running",
        .stop_fd = end->stop_fd};
    code = track_write_reports(session, tracking, &report, results, tracking->quiet, error);
    if (code == GPUT_OK)
        tracking_files_write_manifest(tracking, results, end->stop_fd);
    kept_history_add(tracking, results, NULL, end->stop_fd);
    log_to_write(tracking, results, end->stop_fd);
    gput_results_destroy(results);
    return code;
}

/* Tracks the process until it ends, a signal comes or --for is over, and reports. */
static int track(struct gput_session *session, pid_t pid, double for_seconds,
    struct tracking *tracking, struct attach_end *end, struct gput_error *error)
{
    struct signals signals;
    TRY(signals_catch(&signals, error));
    signals_receive(&signals);
    int code = gput_session_track_pid(session, pid, error);
    if (code == GPUT_OK) {
        tracking_files_say(tracking);
        tracking_say_address(tracking, session);
    }
    if (code == GPUT_OK)
        code = follow(session, &signals, tracking, for_seconds, end, error);
    end->stop_fd = signals_release(&signals, &end->asked_by);
    return code == GPUT_OK ? print_report(session, tracking, end, error) : code;
}

static int no_process(struct gput_error *error)
{
    return error_set(
        error, GPUT_ERROR_INVALID, "No process was given. Usage: gpu-tracker attach [OPTIONS] PID");
}

/* Reads what to track, makes its session, and delivers its files at the end. */
static int attach(const struct arguments *arguments, struct tracking *tracking,
    struct attach_end *end, struct gput_error *error)
{
    pid_t pid;
    double for_seconds;
    /* Read the process and --for; the config may name the process too. */
    const char *text = arguments_value(arguments, OPTION_FOR);
    for_seconds = 0;
    if (text && !tracking_read_number(text, 0.001, &for_seconds))
        return error_set(error, GPUT_ERROR_INVALID,
            "--for=%s is not a valid duration. It is a number of seconds, 0.001 or more, such as "
            "90.",
            text);
    pid = tracking->process_id;
    TRY(tracking_read_pid(arguments, &pid, error));
    if (pid == 0)
        return no_process(error);
    struct gput_session *session = NULL;
    tracking->options.gpu_optional = true;
    int code = tracking_files_create_session(tracking, &session, error);
    if (code == GPUT_OK)
        log_to_start(tracking);
    if (code == GPUT_OK)
        code = track(session, pid, for_seconds, tracking, end, error);
    gput_session_destroy(session);
    if (!tracking_files_deliver(tracking) && code == GPUT_OK)
        code =
            error_set(error, GPUT_ERROR_IO, "Some files could not be moved to their final places.");
    return code;
}

int cmd_attach(const struct arguments *arguments)
{
    struct gput_error error;
    struct tracking tracking;
    if (arguments->n_operands == 0 && !arguments_have(arguments, OPTION_TRACKING_CONFIG)) {
        no_process(&error);
        message_error(&error);
        return EXIT_USAGE;
    }
    signals_survive_closed_pipes();
    struct attach_end end = {.stop_fd = SCREEN_WAITS};
    int code = tracking_read(arguments, false, &tracking, &error);
    if (code == GPUT_OK) {
        code = attach(arguments, &tracking, &end, &error);
        tracking_finish(&tracking);
    }
    if (code == GPUT_OK)
        return end.limited ? EXIT_LIMIT_EXCEEDED : EXIT_SUCCESS;
    message_error_until(&error, end.stop_fd);
    return EXIT_FAILURE;
}
