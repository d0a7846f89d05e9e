/*
 * What can be put on a timeline, each read and added event by event.
 */
#pragma once

#include "analysis/timeline/step_search.h"
#include "analysis/timeline/timeline.h"
#include "base/error.h"
#include "base/names.h"
#include "files/trace/read_report.h"
#include "files/trace/trace_root.h"

/* The dimension that is marked by default. */
#define DEFAULT_LOW_METRIC "GPUUtilization"

struct low_marks {
    const char *metric; /* a dimension ("GPUUtilization") or a name ("cpu0"); NULL: not at all */
    double threshold;
};

struct timeline_inputs {
    struct timeline *timeline;
    struct read_report report;
    struct trace_choice choice; /* of the files of a trace root */
    struct low_marks low;
    bool without_readings; /* of the system of a trace root */
    uint64_t unended;      /* of the unusable events: slices without an end, which were named */
    struct step_search *search; /* not NULL: search for steps and add nothing */
    struct names sources;       /* nodes and files; they distinguish equal thread numbers */
    uint32_t trace_files;       /* how many trace files there are in all */
    uint32_t trace_file;        /* how many were added */
};

/* A trace root: the events of its framework, and its system's readings as counters. */
int timeline_add_root(struct timeline_inputs *inputs, const char *path, struct gput_error *error);

/* A file of framework events alone ("…_pythontimeline.json"). */
int timeline_add_framework_file(
    struct timeline_inputs *inputs, const struct trace_file *file, struct gput_error *error);

/* A trace of PyTorch's profiler, or any other in the Chrome form. */
int timeline_add_trace(struct timeline_inputs *inputs, const char *path, struct gput_error *error);

/*
 * A file of a tracked session: the samples of a tracking file as counters, the calls of a
 * sub-tracking file as slices. The columns show which of the two it is.
 */
int timeline_add_session(
    struct timeline_inputs *inputs, const char *path, struct gput_error *error);

/* Whether it is one, by its name and its columns: others may be in a folder. */
bool timeline_is_session(const char *path);
