#include "views/report/document/report_calls.h"

void report_calls_init(struct report_calls *calls, struct report_session *session)
{
    struct report_spool *spool = &session->payload->spool;
    *calls = (struct report_calls){.session = session};
    report_calls_set_step(calls, REPORT_STEP_CALL);
    report_column_init(&calls->name, spool, REPORT_STEP_WHOLE);
    report_column_init(&calls->process, spool, REPORT_STEP_WHOLE);
    report_column_init(&calls->thread, spool, REPORT_STEP_WHOLE);
    report_column_init(&calls->depth, spool, REPORT_STEP_WHOLE);
    report_column_init(&calls->link, spool, REPORT_STEP_WHOLE);
}

void report_calls_set_step(struct report_calls *calls, double step)
{
    struct report_spool *spool = &calls->session->payload->spool;
    report_column_init(&calls->start, spool, step);
    report_column_init(&calls->stop, spool, step);
    report_column_init(&calls->moments, spool, step);
}

int report_calls_add(
    struct report_calls *calls, const struct report_call *call, struct gput_error *error)
{
    uint32_t depth = report_lanes_add(&calls->lanes, call->track, call->start, call->stop);
    if (depth == REPORT_NO_DEPTH)
        return error_memory(error);
    bool has_ended = isfinite(call->stop);
    double stop = has_ended ? call->stop : NAN;
    report_session_time(
        calls->session, calls->session->start + (has_ended ? call->stop : call->start));
    TRY(report_column_add(&calls->start, call->start, error));
    TRY(report_column_add(&calls->stop, stop, error));
    TRY(report_column_add(&calls->moments, call->start, error));
    TRY(report_column_add(&calls->moments, stop, error));
    TRY(report_column_add(&calls->name, call->name, error));
    TRY(report_column_add(&calls->process, call->process, error));
    TRY(report_column_add(&calls->thread, (double)call->thread, error));
    TRY(report_column_add(&calls->link, call->link ? (double)call->link : NAN, error));
    calls->has_links |= call->link != 0;
    return report_column_add(&calls->depth, depth, error);
}

/* Adds the names of calls and of their processes. */
static void add_texts(struct doc *object, struct report_calls *calls, const int64_t *pids)
{
    struct doc *names = doc_add_array(object, "names");
    for (uint32_t i = 0; i < calls->names.count; i++)
        doc_add_string(names, NULL, names_text(&calls->names, i));
    struct doc *processes = doc_add_array(object, "processes");
    for (uint32_t i = 0; i < calls->processes.count; i++) {
        struct doc *process = doc_add_object(processes, NULL);
        if (pids)
            doc_add_int(process, "pid", pids[i]);
        doc_add_string(process, "label", names_text(&calls->processes, i));
    }
}

/* Calls that follow each other are short, and so is what is between them: then differences from a
 * start to its stop and on to the next start take fewer bytes than those from start to start. */
static int add_times(struct report_calls *calls, struct doc *object, struct gput_error *error)
{
    struct report_payload *payload = calls->session->payload;
    struct report_column *start = &calls->start, *stop = &calls->stop;
    bool is_delta = start->encoding == REPORT_DELTA && stop->encoding == REPORT_DELTA;
    if (is_delta && calls->moments.bytes.length < start->bytes.length + stop->bytes.length) {
        static const char *const names[] = {"start", "stop"};
        return report_payload_add_interleaved(payload, object, names, 2, &calls->moments, error);
    }
    TRY(report_payload_add_column(payload, object, "start", start, error));
    return report_payload_add_column(payload, object, "stop", stop, error);
}

int report_calls_end(struct report_calls *calls, const int64_t *pids, struct gput_error *error)
{
    struct report_payload *payload = calls->session->payload;
    if (calls->start.count == 0)
        return GPUT_OK;
    struct doc *object = doc_add_object(calls->session->doc, "calls");
    calls->doc = object;
    add_texts(object, calls, pids);
    TRY(add_times(calls, object, error));
    TRY(report_payload_add_column(payload, object, "name", &calls->name, error));
    TRY(report_payload_add_column(payload, object, "process", &calls->process, error));
    TRY(report_payload_add_column(payload, object, "thread", &calls->thread, error));
    if (calls->has_links)
        TRY(report_payload_add_column(payload, object, "link", &calls->link, error));
    return report_payload_add_column(payload, object, "depth", &calls->depth, error);
}

void report_calls_finish(struct report_calls *calls)
{
    struct report_column *columns[] = {&calls->start, &calls->stop, &calls->moments, &calls->name,
        &calls->process, &calls->thread, &calls->depth, &calls->link};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        report_column_finish(columns[i]);
    names_finish(&calls->names);
    names_finish(&calls->processes);
    report_lanes_finish(&calls->lanes);
}
