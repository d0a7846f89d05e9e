/*
 * Readings of the machine on a timeline: each a counter; where one is low, an instant event that
 * shows all readings around it.
 */
#pragma once

#include "analysis/timeline/timeline_inputs.h"
#include "base/names.h"
#include "files/trace/system_metrics.h"

struct timeline_reading {
    int64_t time_us;
    double value;
    uint32_t label; /* "cpu0_CPUUtilization_algo-1" */
    bool low;
};

struct timeline_readings {
    struct timeline_reading *readings;
    size_t count;
    struct names labels;
    bool has_metric; /* there was a reading of the marked metric */
};

int timeline_readings_collect(struct timeline_readings *readings,
    const struct system_reading *reading, const struct low_marks *low, struct gput_error *error);

/* Sorts what was kept and adds it to the timeline. */
int timeline_readings_add(
    struct timeline_readings *readings, struct timeline *timeline, struct gput_error *error);

void timeline_readings_finish(struct timeline_readings *readings);
