#include "analysis/analyze/self_time.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The calls of a process or thread that were running at `now`, the last to start on top. */
struct track {
    double now;
    struct open_call {
        double stop;
        uint32_t lane;
    } * open;
    size_t n_open;
    size_t capacity;
};

/* Adds the time until `time` to the call on top. */
static void track_advance(struct track *track, double time, double *seconds)
{
    while (track->n_open > 0 && track->now < time) {
        const struct open_call *top = &track->open[track->n_open - 1];
        double until = top->stop < time ? top->stop : time;
        if (until > track->now) {
            seconds[top->lane] += until - track->now;
            track->now = until;
        }
        if (top->stop <= track->now)
            track->n_open--;
    }
}

/* Starts a call on top of those that run, to which the time until then is added. */
static int track_enter(
    struct track *track, const struct call *call, double *seconds, struct gput_error *error)
{
    track_advance(track, call->start, seconds);
    track->now = call->start;
    if (!ARRAY_RESERVE(track->open, track->n_open, track->capacity))
        return error_memory(error);
    track->open[track->n_open++] = (struct open_call){call->stop, call->lane};
    return GPUT_OK;
}

int self_time_compute(const struct call_table *table, double *seconds, struct gput_error *error)
{
    struct track *tracks = calloc(table->n_tracks + 1, sizeof *tracks);
    if (!tracks)
        return error_memory(error);
    memset(seconds, 0, table->n_lanes * sizeof *seconds);
    int code = GPUT_OK;
    for (size_t i = 0; i < table->n_calls && code == GPUT_OK; i++) {
        const struct call *call = &table->calls[i];
        code = track_enter(&tracks[table->lanes[call->lane].track], call, seconds, error);
    }
    for (size_t i = 0; i < table->n_tracks; i++) {
        track_advance(&tracks[i], INFINITY, seconds);
        free(tracks[i].open);
    }
    free(tracks);
    return code;
}
