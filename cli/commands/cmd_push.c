/* gpu-tracker push: sessions that have ended, sent to stores of metrics. */
#include "base/cleanup.h"
#include "base/error.h"
#include "common/message.h"
#include "options/arguments.h"
#include "track/tracking.h"

#include <gputracker/push.h>
#include <gputracker/report.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the table "sessions". */
enum { PATH_COLUMN = 1, KIND_COLUMN, RESULTS_COLUMN, ORIGINAL_COLUMN };

struct sent {
    struct gput_push_counts counts; /* of all sessions */
    size_t sessions, failed;
    size_t unreadable; /* files, which are named as the sessions are found */
    const char *gone;  /* why the receiver takes no more; NULL: it does */
    bool has_said_variables;
};

/* What is wrong with variables is the same for all sessions. */
static void warn_of_session(void *user, const char *text)
{
    const struct sent *sent = user;
    if (!sent->has_said_variables || strncmp(text, "OTEL_", 5) != 0)
        message_warning(NULL, text);
}

/* Lists what the operands name. A URL among them belongs to an option, whose value has a default.
 */
static int find_sessions(
    const struct arguments *arguments, struct gput_tables **tables, struct gput_error *error)
{
    size_t count = (size_t)arguments->n_operands;
    CLEANUP_FREE struct gput_report_session *sessions = calloc(count, sizeof *sessions);
    CLEANUP_FREE const struct gput_report_session **list = calloc(count, sizeof *list);
    struct gput_report_options options = gput_report_options_default();
    if (!sessions || !list)
        return error_memory(error);
    for (size_t i = 0; i < count; i++) {
        const char *path = arguments->operands[i];
        if (strncmp(path, "http://", 7) == 0 || strncmp(path, "https://", 8) == 0)
            return error_set(error, GPUT_ERROR_INVALID,
                "%s is no session. A receiver is given with an equals sign: --otlp=%s.", path,
                path);
        sessions[i] = gput_report_session_default();
        sessions[i].path = path;
        list[i] = &sessions[i];
    }
    options.sessions = list;
    options.n_sessions = count;
    options.warn = message_warning;
    return gput_report_files(&options, tables, error);
}

/* Warns of a row that has no metrics. Of copies the list of sessions has warned. */
static void say_left_out(const struct gput_table *sessions, size_t row)
{
    char text[1024];
    const char *path = gput_table_text(sessions, row, PATH_COLUMN);
    if (gput_table_text(sessions, row, ORIGINAL_COLUMN))
        return;
    snprintf(text, sizeof text, "%.400s is skipped: it has no metrics of a session.",
        path ? path : "a session");
    message_warning(NULL, text);
}

/* One that fails is said, and the others are sent, unless the receiver is gone. */
static void send_session(const struct gput_table *sessions, size_t row,
    const struct gput_push_options *options, struct sent *sent)
{
    struct gput_push_counts counts = gput_push_counts_default();
    struct gput_error error;
    char text[sizeof error.message + 512];
    const char *path = gput_table_text(sessions, row, PATH_COLUMN);
    const char *results = gput_table_text(sessions, row, RESULTS_COLUMN);
    bool has_samples = strcmp(gput_table_text(sessions, row, KIND_COLUMN), "tracking") == 0;
    int code = gput_push_session(
        has_samples ? path : NULL, has_samples ? results : path, options, &counts, &error);
    sent->counts.sent += counts.sent;
    sent->counts.lost += counts.lost;
    sent->counts.refused += counts.refused;
    sent->has_said_variables = true;
    if (code == GPUT_OK)
        return;
    sent->failed++;
    snprintf(text, sizeof text, "%.400s was not sent%s: %s", path,
        counts.sent > 0 ? " to its end" : "", error.message);
    message_warning(NULL, text);
    if (code == GPUT_ERROR_GONE)
        sent->gone = error.errno_value == EBUSY ? "stays busy" : "is not there";
}

/* Sends the sessions that were found, until the receiver is gone, and says how many were sent. */
static int send_all(const struct gput_tables *found, const struct gput_push_options *wanted,
    struct gput_error *error)
{
    const struct gput_table *sessions = gput_tables_find(found, "sessions");
    struct sent sent = {.counts = gput_push_counts_default(),
        .unreadable = gput_table_row_count(gput_tables_find(found, "left_out"))};
    struct gput_push_options options = *wanted;
    size_t rows = gput_table_row_count(sessions), not_tried = 0;
    options.warn = warn_of_session;
    options.user = &sent;
    for (size_t row = 0; row < rows; row++) {
        /* Only sessions with metrics are sent, and no copies of them. */
        const char *kind = gput_table_text(sessions, row, KIND_COLUMN);
        bool is_sent = !gput_table_text(sessions, row, ORIGINAL_COLUMN) && kind &&
                       (strcmp(kind, "tracking") == 0 || strcmp(kind, "results") == 0);
        sent.sessions += is_sent;
        not_tried += is_sent && sent.gone;
        if (!is_sent)
            say_left_out(sessions, row);
        else if (!sent.gone)
            send_session(sessions, row, &options, &sent);
    }
    sent.failed += not_tried;
    if (not_tried > 0) {
        char text[128];
        snprintf(text, sizeof text, "the receiver %s: the sessions after that one were not tried.",
            sent.gone);
        message_warning(NULL, text);
    }
    if (sent.sessions == 0)
        return error_set(error, GPUT_ERROR_INVALID,
            "The named files and folders contain no session with metrics.");
    printf("%zu of %zu sessions sent: %llu samples\n", sent.sessions - sent.failed, sent.sessions,
        (unsigned long long)sent.counts.sent);
    if (sent.failed > 0)
        return error_set(error, GPUT_ERROR_IO,
            "%zu of %zu sessions were not sent, or not completely.", sent.failed, sent.sessions);
    if (sent.unreadable > 0)
        return error_set(error, GPUT_ERROR_FORMAT, "%zu file%s skipped.", sent.unreadable,
            sent.unreadable == 1 ? " was" : "s were");
    return GPUT_OK;
}

/* Reads the receivers, finds the sessions, and sends them. */
static int push(const struct arguments *arguments, struct gput_error *error)
{
    struct gput_push_options options = gput_push_options_default();
    struct gput_tables *tables = NULL;
    char *labels = NULL;
    const char *interval = arguments_value(arguments, OPTION_SENT_INTERVAL);
    options.otlp = arguments_value(arguments, OPTION_OTLP);
    options.remote_write = arguments_value(arguments, OPTION_REMOTE_WRITE);
    if (!options.otlp && !options.remote_write)
        return error_set(error, GPUT_ERROR_INVALID,
            "No receiver was given: use --remote-write http://prometheus:9090, or "
            "--otlp=http://collector:4318.");
    if (interval && !tracking_read_number(interval, 0, &options.interval_seconds))
        return error_set(error, GPUT_ERROR_INVALID,
            "--push-interval=%s is not a valid interval. It is a number of seconds.", interval);
    struct gput_session_options given = gput_session_options_default();
    TRY(tracking_set(arguments, &given, error));
    options.timeout_seconds = given.push_timeout_seconds;
    int code = tracking_read_labels(arguments, &labels, error);
    options.labels = labels;
    if (code == GPUT_OK)
        code = find_sessions(arguments, &tables, error);
    if (code == GPUT_OK)
        code = send_all(tables, &options, error);
    gput_tables_destroy(tables);
    free(labels);
    return code;
}

int cmd_push(const struct arguments *arguments)
{
    struct gput_error error;
    return message_exit_status(push(arguments, &error), &error, EXIT_FAILURE);
}
