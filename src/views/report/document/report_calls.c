#include "views/report/document/report_calls.h"

#include "base/array.h"

#include <stdlib.h>

/* Makes space for a track. False without memory. */
static bool reach(struct report_lanes *lanes, size_t track)
{
    if (track < lanes->count)
        return true;
    size_t count = track * 2 + 1;
    if (!ARRAY_RESIZE(lanes->tracks, count))
        return false;
    for (size_t i = lanes->count; i < count; i++)
        lanes->tracks[i] = (struct report_track){0};
    lanes->count = count;
    return true;
}

/* Adds a lane to a track. False without memory. */
static bool add_lane(struct report_track *track)
{
    if (!ARRAY_EXTEND(track->ends, track->count))
        return false;
    track->count++;
    return true;
}

uint32_t report_lanes_add(struct report_lanes *lanes, size_t number, double start, double stop)
{
    if (!reach(lanes, number))
        return REPORT_NO_DEPTH;
    struct report_track *track = &lanes->tracks[number];
    uint32_t depth = 0;
    while (depth < track->count && track->ends[depth] > start && depth < REPORT_MAX_DEPTH - 1)
        depth++;
    if (depth == track->count && !add_lane(track))
        return REPORT_NO_DEPTH;
    track->ends[depth] = stop;
    return depth;
}

void report_lanes_finish(struct report_lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; i++)
        free(lanes->tracks[i].ends);
    free(lanes->tracks);
    *lanes = (struct report_lanes){0};
}

void report_calls_init(struct report_calls *calls, struct report_session *session)
{
    *calls = (struct report_calls){.session = session};
    for (int i = REPORT_CALL_NAME; i < REPORT_CALL_COLUMNS; i++)
        report_column_init(&calls->columns[i], &session->payload->spool, REPORT_STEP_WHOLE);
    report_calls_set_step(calls, REPORT_STEP_CALL);
}

void report_calls_set_step(struct report_calls *calls, double step)
{
    for (int i = REPORT_CALL_START; i <= REPORT_CALL_MOMENTS; i++)
        report_column_init(&calls->columns[i], &calls->session->payload->spool, step);
}

int report_calls_add(
    struct report_calls *calls, const struct report_call *call, struct gput_error *error)
{
    uint32_t depth = report_lanes_add(&calls->lanes, call->track, call->start, call->stop);
    if (depth == REPORT_NO_DEPTH)
        return error_memory(error);
    bool has_ended = isfinite(call->stop);
    report_session_time(
        calls->session, calls->session->start + (has_ended ? call->stop : call->start));
    calls->has_links |= call->link != 0;
    const double values[REPORT_CALL_COLUMNS] = {[REPORT_CALL_START] = call->start,
        [REPORT_CALL_STOP] = has_ended ? call->stop : NAN,
        [REPORT_CALL_MOMENTS] = call->start,
        [REPORT_CALL_NAME] = call->name,
        [REPORT_CALL_PROCESS] = call->process,
        [REPORT_CALL_THREAD] = (double)call->thread,
        [REPORT_CALL_LINK] = call->link ? (double)call->link : NAN,
        [REPORT_CALL_DEPTH] = depth};
    for (int i = 0; i < REPORT_CALL_COLUMNS; i++)
        TRY(report_column_add(&calls->columns[i], values[i], error));
    return report_column_add(&calls->columns[REPORT_CALL_MOMENTS], values[REPORT_CALL_STOP], error);
}

int report_calls_end(struct report_calls *calls, const int64_t *pids, struct gput_error *error)
{
    static const char *const keys[REPORT_CALL_COLUMNS] = {
        "start", "stop", NULL, "name", "process", "thread", "link", "depth"};
    struct report_payload *payload = calls->session->payload;
    struct report_column *columns = calls->columns, *start = columns, *stop = columns + 1;
    if (start->count == 0)
        return GPUT_OK;
    struct doc *object = doc_add_object(calls->session->doc, "calls");
    calls->doc = object;
    report_payload_add_names(object, "names", &calls->names);
    struct doc *processes = doc_add_array(object, "processes");
    for (uint32_t i = 0; i < calls->processes.count; i++) {
        struct doc *process = doc_add_object(processes, NULL);
        if (pids)
            doc_add_int(process, "pid", pids[i]);
        doc_add_string(process, "label", names_text(&calls->processes, i));
    }

    /* Calls that follow each other are short, and so is what is between them: then differences from
     * a start to its stop and on to the next start take fewer bytes than those from start to start.
     */
    struct report_column *moments = &columns[REPORT_CALL_MOMENTS];
    bool is_delta = start->encoding == REPORT_DELTA && stop->encoding == REPORT_DELTA;
    bool is_interleaved =
        is_delta && moments->bytes.length < start->bytes.length + stop->bytes.length;
    if (is_interleaved)
        TRY(report_payload_add_interleaved(payload, object, keys, 2, moments, error));
    for (int i = is_interleaved ? REPORT_CALL_NAME : REPORT_CALL_START; i < REPORT_CALL_COLUMNS;
         i++) {
        if (keys[i] && (i != REPORT_CALL_LINK || calls->has_links))
            TRY(report_payload_add_column(payload, object, keys[i], &columns[i], error));
    }
    return GPUT_OK;
}

void report_calls_finish(struct report_calls *calls)
{
    for (int i = 0; i < REPORT_CALL_COLUMNS; i++)
        report_column_finish(&calls->columns[i]);
    names_finish(&calls->names);
    names_finish(&calls->processes);
    report_lanes_finish(&calls->lanes);
}
