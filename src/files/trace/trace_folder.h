/*
 * A folder of trace files, one for each rank.
 */
#pragma once

#include "base/error.h"
#include "files/trace/read_report.h"

#include <stddef.h>

#define MERGED_SUFFIX "_merged_timeline.json"

struct trace_paths {
    char **paths; /* owned, as are the texts */
    size_t count;
};

/* An empty list is all zeroes. */

/* Adds a file, or all trace files (.json, .json.gz, .json.zst) of a folder, by name. Merged
 * timelines are skipped with a warning to `report`: they repeat what is next to them. Errors:
 * GPUT_ERROR_NOT_FOUND; GPUT_ERROR_FORMAT for a folder without any. */
int trace_paths_add(struct trace_paths *list, const char *path, const struct read_report *report,
    struct gput_error *error);

void trace_paths_finish(struct trace_paths *list);
