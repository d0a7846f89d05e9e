#include "views/report/loaders/report_marks.h"

#include "analysis/analyze/call_table.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/human.h"
#include "base/str.h"
#include "files/marks/sub_tracking_file.h"
#include "views/report/document/report_calls.h"
#include "views/report/loaders/report_analysis.h"
#include "views/report/loaders/report_loader.h"

#include <gputracker/sub_tracking.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROWS_AT_ONCE 256
#define PATH_SIZE 64
/* How many of several files are named. */
#define FILES_NAMED 3

/* From 2004 to 2038 doubles that are seconds since the epoch are multiples of this. */
#define SECONDS_OF_TODAY 0x1p30
#define STEP_OF_TODAY 0x1p-22

/* ---- Calls of a file ---- */

struct marks {
    struct report_session *session;
    const char *path;
    const char *label; /* what messages call it: the files that it was made of */
    struct sub_tracking_names *names;
    struct sub_tracking_reader *reader;
    struct call_table table;
    struct report_calls calls;
    bool is_log;   /* which has nanoseconds; other files have seconds since the epoch */
    int64_t *pids; /* by the number of the process; owned */
};

/* What of them is of the session. */
static int select_calls(struct marks *marks, struct gput_error *error)
{
    struct report_session *session = marks->session;
    const struct call_window window = report_analysis_window(session);
    struct call_window_rest rest;
    char warning[CALL_TABLE_WARNING_SIZE];
    report_session_warn(session, sub_tracking_reader_warning(marks->reader));
    if (call_table_warning(&marks->table, marks->label, warning))
        report_session_warn(session, warning);
    TRY(call_window_apply(&window, &marks->table, &rest, error));

    /* Say which calls are not of the session, by their times. */
    size_t count = rest.before + rest.after;
    CLEANUP_STR struct str text = {0};
    char seconds[HUMAN_SIZE];
    if (count != 0) {
        str_printf(&text,
            "Sub-tracking file %.200s: %zu call%s before or after the session, by up to %s, and "
            "skipped: %s of another run.",
            marks->label, count, count > 1 ? "s are" : " is", human_seconds(rest.farthest, seconds),
            count > 1 ? "they seem to be" : "it seems to be");
        report_session_warn(marks->session, str_text(&text));
    }

    /* Sort calls that start at one moment: the longer first. */
    for (size_t i = 0, end; i < marks->table.n_calls; i = end) {
        for (end = i + 1; end < marks->table.n_calls; end++)
            if (marks->table.calls[end].start != marks->table.calls[i].start)
                break;
        if (end - i > 1)
            qsort(&marks->table.calls[i], end - i, sizeof *marks->table.calls, call_compare);
    }
    return GPUT_OK;
}

/* Returns the next call that has no stop, in the order of starts. It is no call of the table:
 * how long it took is not known. */
static const struct call *next_call(const struct call_table *table, size_t *calls, size_t *open)
{
    bool has_open = *open < table->n_open, has_call = *calls < table->n_calls;
    bool is_open =
        has_open && (!has_call || table->open[*open].start <= table->calls[*calls].start);
    if (is_open)
        return &table->open[(*open)++];
    return has_call ? &table->calls[(*calls)++] : NULL;
}

/* The number of a process in the document. */
static int process_of(struct marks *marks, int64_t pid, uint32_t *number, struct gput_error *error)
{
    char label[32];
    int length = snprintf(label, sizeof label, "%" PRId64, pid);
    uint32_t before = marks->calls.processes.count;
    *number = names_add(&marks->calls.processes, label, (size_t)length);
    if (*number == NAMES_NONE)
        return error_memory(error);
    if (*number < before)
        return GPUT_OK;
    if (!ARRAY_EXTEND(marks->pids, before))
        return error_memory(error);
    marks->pids[before] = pid;
    return GPUT_OK;
}

/* Adds all calls in the order of their starts. */
static int add_calls(struct marks *marks, struct gput_error *error)
{
    const struct call_table *table = &marks->table;
    struct report_session *session = marks->session;
    size_t calls = 0, open = 0;
    const struct call *call = next_call(table, &calls, &open);
    double end = isinf(report_analysis_window(session).to) ? NAN : session->end;
    if (isnan(session->start) && call)
        report_session_time(session, table->origin + call->start);
    double offset = table->origin - session->start;
    if (!marks->is_log && session->start >= SECONDS_OF_TODAY)
        report_calls_set_step(&marks->calls, STEP_OF_TODAY);
    for (; call; call = next_call(table, &calls, &open)) {
        const struct call_lane *lane = &table->lanes[call->lane];
        bool has_thread = lane->thread_id != SUB_TRACKING_UNKNOWN;
        struct report_call added = {.name = lane->name,
            .thread = has_thread ? lane->thread_id : lane->process_id,
            .track = lane->track,
            .start = offset + call->start,
            .stop = offset + call->stop};
        TRY(process_of(marks, lane->process_id, &added.process, error));
        TRY(report_calls_add(&marks->calls, &added, error));
    }
    if (!isnan(end)) /* which marks do not change */
        session->end = end;
    return GPUT_OK;
}

/* How many of those that did not end are named. */
#define OPEN_NAMED 3

/* Says on the page what was open when a program was killed, say; how long it took is not known, up
 * to the end it is. */
static int note_open(struct marks *marks, struct gput_error *error)
{
    const struct call_table *table = &marks->table;
    struct report_session *session = marks->session;
    CLEANUP_STR struct str text = {0};
    double end = session->start + report_session_end_seconds(session) - table->origin;
    if (table->n_open == 0 || session->curves_only)
        return GPUT_OK;
    str_printf(&text, "Sub-tracking file %.200s: %zu call%s did not end: ", marks->label,
        table->n_open, table->n_open > 1 ? "s" : "");
    for (size_t i = 0; i < table->n_open && i < OPEN_NAMED; i++) {
        const struct call *call = &table->open[i];
        str_printf(&text, "%s\"%.60s\" (%.3g s up to the end of the session)", i > 0 ? ", " : "",
            sub_tracking_names_text(marks->names, table->lanes[call->lane].name),
            fmax(0, end - call->start));
    }
    if (table->n_open > OPEN_NAMED)
        str_printf(&text, " and %zu more", table->n_open - OPEN_NAMED);
    str_append(&text, ".");
    bool has_failed = text.failed;
    doc_add_string(
        report_session_list(session, &session->warnings, "warnings"), NULL, str_text(&text));
    return has_failed ? error_memory(error) : GPUT_OK;
}

static void marks_finish(struct marks *marks)
{
    report_calls_finish(&marks->calls);
    call_table_finish(&marks->table);
    sub_tracking_reader_close(marks->reader);
    sub_tracking_names_destroy(marks->names);
    free(marks->pids);
}

/* Reads the marks of a file, pairs them, and adds their calls and code blocks to a session. */
static int add_file(
    struct report_session *session, const char *path, const char *label, struct gput_error *error)
{
    CLEANUP(marks_finish)
    struct marks marks = {
        .session = session, .path = path, .label = label, .names = sub_tracking_names_create()};
    struct sub_tracking_mark rows[ROWS_AT_ONCE];
    size_t count;
    enum sub_tracking_format format;
    if (!marks.names)
        return error_memory(error);
    TRY(sub_tracking_format_of(path, &format, error));
    TRY(sub_tracking_reader_salvage(path, marks.names, &marks.reader, error));
    marks.is_log = format == SUB_TRACKING_LOG;
    call_table_init(
        &marks.table, marks.names, sub_tracking_reader_columns(marks.reader), marks.is_log, false);
    marks.table.keep_open = true;
    do {
        TRY(sub_tracking_reader_next(marks.reader, rows, ROWS_AT_ONCE, &count, error));
        TRY(call_table_add(&marks.table, rows, count, error));
    } while (count > 0);
    marks.table.has_lost = sub_tracking_reader_lost(marks.reader)->at_least;
    TRY(call_table_pair(&marks.table, error));
    TRY(select_calls(&marks, error));

    report_calls_init(&marks.calls, session);
    for (uint32_t i = 0; i < sub_tracking_names_count(marks.names); i++) {
        /* All names, with the numbers that the lanes have. */
        const char *text = sub_tracking_names_text(marks.names, i);
        if (names_add(&marks.calls.names, text, strlen(text)) == NAMES_NONE)
            return error_memory(error);
    }
    TRY(add_calls(&marks, error));
    TRY(report_calls_end(&marks.calls, marks.pids, error));
    TRY(note_open(&marks, error));
    return session->curves_only
               ? GPUT_OK
               : report_blocks_add(session, path, &marks.calls.names, &marks.table, error);
}

/* ---- Several files ---- */

static void warn(void *user, const char *message)
{
    report_session_warn(user, message);
}

/* Adds the marks of several files, which are combined in a temporary one. */
static int add_combined(
    struct report_session *session, char *const *paths, size_t count, struct gput_error *error)
{
    char folder[] = "/var/tmp/gpu-tracker-XXXXXX", path[PATH_SIZE];
    struct gput_sub_tracking_options options = gput_sub_tracking_options_default();
    CLEANUP_STR struct str label = {0};
    for (size_t i = 0; i < count && i < FILES_NAMED; i++)
        str_printf(&label, "%s%s", i > 0 ? ", " : "", paths[i]);
    if (count > FILES_NAMED)
        str_printf(&label, " and %zu more", count - FILES_NAMED);
    options.mix = true;
    options.warn = warn;
    options.user = session;
    if (!mkdtemp(folder))
        return error_set_errno(error, errno, "Cannot make the temporary folder %s", folder);
    snprintf(path, sizeof path, "%s/marks.gputblocks", folder);
    int code = gput_sub_tracking_combine(path, (const char *const *)paths, count, &options, error);
    if (code == GPUT_OK)
        code = add_file(session, path, str_text(&label), error);
    unlink(path);
    rmdir(folder);
    return code;
}

int report_marks_add(
    struct report_session *session, char *const *paths, size_t count, struct gput_error *error)
{
    if (count == 0)
        return GPUT_OK;
    return count == 1 ? add_file(session, paths[0], paths[0], error)
                      : add_combined(session, paths, count, error);
}

/* ---- The loader of marks by themselves ---- */

static int load(struct report_session *session, struct gput_error *error)
{
    return add_file(session, session->path, session->path, error);
}

/* Whether a file has marks. */
static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    CLEANUP(sub_tracking_names_destroy_pointer)
    struct sub_tracking_names *names = is_folder ? NULL : sub_tracking_names_create();
    CLEANUP(sub_tracking_reader_close_pointer) struct sub_tracking_reader *reader = NULL;
    if (is_folder)
        return report_session_refuse(path, error);
    return names ? sub_tracking_reader_salvage(path, names, &reader, error) : error_memory(error);
}

const struct report_loader report_marks_loader = {"marks", probe, load};
