#include "views/report/document/report_session.h"

#include "base/cleanup.h"
#include "base/order.h"
#include "base/str.h"
#include "base/text.h"
#include "model/results_identity.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

long report_rank_of(const char *name)
{
    double rank = results_identity_rank_of(name);
    return isnan(rank) ? REPORT_NO_RANK : (long)rank;
}

static int compare(const void *left, const void *right)
{
    const long *a = left, *b = right;
    return ORDER(*a, *b);
}

bool report_ranks_of(const char *const *names, size_t count, long *ranks)
{
    bool are_ranks = count > 1;
    CLEANUP_FREE long *sorted = malloc((count + 1) * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        ranks[i] = report_rank_of(names[i]);
    if (!sorted)
        return false;
    memcpy(sorted, ranks, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare);
    for (size_t i = 0; i < count; i++)
        are_ranks &= sorted[i] != REPORT_NO_RANK && (i == 0 || sorted[i] != sorted[i - 1]);
    return are_ranks;
}

bool report_are_ranks(const struct doc *sessions)
{
    size_t count = 0;
    bool are_ranks = sessions->count > 1;
    CLEANUP_FREE long *ranks = calloc(sessions->count + 1, sizeof *ranks);
    for (const struct doc *session = sessions->first; session && ranks; session = session->next) {
        double rank = doc_get_number(doc_get(session, "identity"), "rank");
        are_ranks &= !isnan(rank);
        ranks[count++] = are_ranks ? (long)rank : REPORT_NO_RANK;
    }
    if (!ranks || !are_ranks)
        return false;
    qsort(ranks, count, sizeof *ranks, compare);
    for (size_t i = 1; i < count; i++)
        are_ranks &= ranks[i] != ranks[i - 1];
    return are_ranks;
}

void report_session_begin(struct report_session *session, const char *kind)
{
    struct doc *sessions = (struct doc *)doc_get(session->payload->root, "sessions");
    report_payload_begin_session(session->payload);
    session->doc = doc_add_object(sessions, NULL);
    session->start = session->end = NAN;
    doc_add_string(session->doc, "name", session->name);
    if (session->path && !session->is_temporary)
        doc_add_string(session->doc, "file", session->path);
    doc_add_string(session->doc, "kind", kind);
    session->identity = doc_add_object(session->doc, "identity");
}

/* The rank that its name has goes before the one that its results have: files may be renamed. The
 * bare name of a command is not a title for the page, as a command line is. */
static void add_identity(struct report_session *session)
{
    const struct gput_results *known = session->results ? session->results : session->described;
    if (session->rank != REPORT_NO_RANK)
        doc_add_int(session->identity, "rank", session->rank);
    if (!known)
        return;
    struct gput_results results = *known;
    if (results.identity.exit_status >= 0 && !doc_get(session->identity, "exit_status"))
        doc_add_int(session->identity, "exit_status", (int64_t)results.identity.exit_status);
    if (results.identity.command[0])
        doc_add_string(session->identity, "program", results.identity.command);
    results.identity.exit_status = NAN;
    results.identity.command[0] = '\0';
    results_identity_add(&results, session->identity);
}

/* A correction is among the warnings, too: those of all sessions are shown together. */
static void add_clock(struct report_session *session)
{
    if (session->clock_note)
        doc_add_string(session->identity, "clock_note", session->clock_note);
    if (!session->clock_note || session->clock_offset_seconds == 0)
        return;
    CLEANUP_STR struct str text = {0};
    str_printf(&text, "Clock %s", session->clock_note);
    doc_add_string(
        report_session_list(session, &session->warnings, "warnings"), NULL, str_text(&text));
}

double report_session_seconds(const struct report_session *session)
{
    double seconds = session->end - session->start;
    if (!session->described)
        return seconds;
    const struct gput_identity *identity = &session->described->identity;
    double start = results_identity_seconds(identity->start);
    return fmax(seconds, results_identity_seconds(identity->end) - start);
}

/* Seconds since the epoch; NaN: nothing says it. */
static double known_start(const struct report_session *session)
{
    const struct gput_results *known = session->results ? session->results : session->described;
    return known ? results_identity_seconds(known->identity.start) : NAN;
}

double report_session_end_seconds(const struct report_session *session)
{
    double seconds =
        session->results ? session->results->elapsed_seconds : report_session_seconds(session);
    double before = session->start - known_start(session);
    if (!(before > 0 && before < seconds)) /* not known, or of another clock */
        return seconds;
    return fmax(seconds - before, session->end - session->start);
}

/* Adds when the session began and ended, and how long it took. */
static void add_times(struct report_session *session)
{
    const struct doc *seconds = doc_get(session->identity, "seconds");
    double end = report_session_end_seconds(session);
    double start = isnan(session->start) ? known_start(session) : session->start;
    if (!isnan(start) && !session->is_relative)
        doc_add_double(session->identity, "start_timestamp", start - session->clock_offset_seconds);
    if (isnan(session->start))
        return;
    if (!seconds)
        seconds = doc_add_double(session->identity, "seconds", report_session_seconds(session));
    if (end < doc_number(seconds))
        doc_add_double(session->identity, "end_s", end);
}

void report_session_end(struct report_session *session)
{
    add_times(session);
    if (session->results && !isnan(session->results->tracker.node_seconds))
        doc_add_double(session->identity, "node_seconds", session->results->tracker.node_seconds);
    add_identity(session);
    add_clock(session);
    gput_results_destroy(session->loaded_results);
    gput_results_destroy(session->described);
    session->described = NULL;
    gput_analysis_destroy(session->analysis);
    session->analysis = NULL;
    session->loaded_results = NULL;
    session->results = NULL;
}

int report_session_describe(struct report_session *session, struct gput_error *error)
{
    if (session->described)
        return GPUT_OK;
    session->described = calloc(1, sizeof *session->described);
    if (!session->described)
        return error_memory(error);
    results_forget(session->described);
    return GPUT_OK;
}

struct doc *report_session_list(struct report_session *session, struct doc **list, const char *key)
{
    if (!*list)
        *list = doc_add_array(session->doc, key);
    return *list;
}

double report_session_time(struct report_session *session, double seconds_since_epoch)
{
    if (isnan(session->start))
        session->start = session->end = seconds_since_epoch;
    session->end = fmax(session->end, seconds_since_epoch);
    return seconds_since_epoch - session->start;
}

int report_session_add_time(struct report_session *session, struct report_column *times,
    unsigned *index, struct gput_error *error)
{
    struct doc *list = report_session_list(session, &session->times, "times");
    *index = list ? (unsigned)list->count : 0;
    return report_payload_add_column(session->payload, list, NULL, times, error);
}

int report_session_add_series(struct report_session *session, const struct report_series *series,
    struct report_column *values, struct gput_error *error)
{
    struct doc *list = report_session_list(session, &session->series, "series");
    struct doc *object = doc_add_object(list, NULL);
    doc_add_string(object, "id", series->id);
    doc_add_string(object, "label", series->label);
    doc_add_string(object, "group", series->group);
    if (series->scope)
        doc_add_string(object, "scope", series->scope);
    doc_add_string(object, "unit", series->unit);
    if (!isnan(series->limit))
        doc_add_double(object, "limit", series->limit);
    if (series->time > 0)
        doc_add_int(object, "time", series->time);
    if (series->of_interval)
        doc_add_bool(object, "of_interval", true);
    if (!isnan(values->max))
        doc_add_double(object, "max", values->max);
    return report_payload_add_column(session->payload, object, "values", values, error);
}

struct doc *report_session_curve(const struct report_session *session, const char *id)
{
    struct doc *curve = session->series ? session->series->first : NULL;
    while (curve && strcmp(doc_get_string(curve, "id"), id) != 0)
        curve = curve->next;
    return curve;
}

void report_session_add_table(struct report_session *session, const char *id, const char *title,
    const struct gput_table *table)
{
    struct doc *list = report_session_list(session, &session->tables, "tables");
    report_table_add(list, id, title, table, NULL, NULL);
}

/* ---- What is said about it ---- */

/* What reads a file twice finds its damage twice, the first time with what that costs. */
static bool was_said(const struct report_session *session, const char *message)
{
    for (const struct doc *item = session->warnings ? session->warnings->first : NULL; item;
         item = item->next) {
        if (item->string && text_begins_with(item->string, message))
            return true;
    }
    return false;
}

void report_session_warn(struct report_session *session, const char *message)
{
    if (!message || was_said(session, message))
        return;
    doc_add_string(report_session_list(session, &session->warnings, "warnings"), NULL, message);
    if (session->options->warn)
        session->options->warn(session->options->user, message);
}

void report_session_note(struct report_session *session, const char *message)
{
    if (!was_said(session, message))
        doc_add_string(report_session_list(session, &session->warnings, "warnings"), NULL, message);
}

void report_session_warn_unfit(
    struct report_session *session, const char *label, uint64_t unfit_count)
{
    CLEANUP_STR struct str text = {0};
    if (unfit_count == 0)
        return;
    str_printf(&text, "%s: %s: %" PRIu64 " value%s cannot be drawn as a size and %s skipped.",
        session->path, label, unfit_count, unfit_count == 1 ? "" : "s",
        unfit_count == 1 ? "is" : "are");
    report_session_warn(session, str_text(&text));
}

void report_session_progress(const struct report_session *session, double done)
{
    if (session->options->progress)
        session->options->progress(
            session->options->user, session->progress_from + done * session->progress_span);
}

int report_session_refuse(const char *path, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_UNSUPPORTED,
        "%s is not a session: neither a tracking file, a sub-tracking file, results, a recording "
        "of power, a training profile, a profile of Python nor a trace.",
        path);
}
