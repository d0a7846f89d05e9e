/*
 * The inputs of a timeline: each function reads one and adds its events.
 */
#pragma once

#include "analysis/timeline/step_search.h"
#include "analysis/timeline/timeline.h"
#include "base/error.h"
#include "base/names.h"
#include "files/trace/read_report.h"
#include "files/trace/trace_root.h"

/* Default of low_marks.metric. */
#define DEFAULT_LOW_METRIC "GPUUtilization"

struct low_marks {
    const char *metric; /* a dimension ("GPUUtilization") or a name ("cpu0"); NULL: mark nothing */
    double threshold;
};

struct timeline_inputs {
    struct timeline *timeline;
    struct read_report report;
    struct trace_choice choice; /* selection of the files of a trace root */
    struct low_marks low;
    bool without_readings; /* skip the system readings of a trace root */
    uint64_t unended;      /* number of unusable events that are slices without an end, which were
                              already named */
    struct step_search *search; /* not NULL: only search for steps, add nothing */
    struct names sources;       /* nodes and files, which distinguish equal thread numbers */
    uint32_t trace_files;       /* total number of trace files */
    uint32_t trace_file;        /* number of trace files added so far */
};

/* Adds a trace root: the events of its framework, and its system readings as counters. */
int timeline_add_root(struct timeline_inputs *inputs, const char *path, struct gput_error *error);

/* Adds a single file of framework events ("…_pythontimeline.json"). */
int timeline_add_framework_file(
    struct timeline_inputs *inputs, const struct trace_file *file, struct gput_error *error);

/* Adds a trace of PyTorch's profiler, or another one in Chrome's format. */
int timeline_add_trace(struct timeline_inputs *inputs, const char *path, struct gput_error *error);

/*
 * Adds a file of a tracked session: the samples of a tracking file as counters, or the calls of a
 * sub-tracking file as slices. The columns show which of the two it is.
 */
int timeline_add_session(
    struct timeline_inputs *inputs, const char *path, struct gput_error *error);

/* Whether the file is one of a session, by its name and its columns; a folder may have other
 * files. */
bool timeline_is_session(const char *path);
