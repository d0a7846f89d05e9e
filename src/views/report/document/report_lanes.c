#include "views/report/document/report_lanes.h"

#include "base/array.h"

#include <stdbool.h>
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
