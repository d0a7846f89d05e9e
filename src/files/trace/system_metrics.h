/*
 * Readings of the machine as SageMaker's profiler keeps them: one JSON object a line.
 */
#pragma once

#include "base/error.h"
#include "files/trace/byte_source.h"
#include "files/trace/read_report.h"

#include <stdint.h>

struct system_reading {
    int64_t time_us;       /* since the epoch, cut to whole microseconds */
    double value;          /* NaN when the file has none */
    const char *type;      /* "cpu", "gpu", "memory", "i/o", "network" */
    const char *name;      /* "cpu0"; "" when missing */
    const char *dimension; /* "CPUUtilization"; may be "" */
    const char *node;      /* "algo-1"; may be "" */
};

/* Called for each reading, whose texts are valid until it returns. */
typedef int system_visitor(
    void *user, const struct system_reading *reading, struct gput_error *error);

/*
 * Reads a file. Lines that are not readings are skipped and counted, blank ones are only skipped; a
 * last line that is incomplete counts as truncated. Adds to `report`, with one warning for the
 * file.
 */
int system_metrics_read(const char *path, system_visitor *visit, void *user,
    struct read_report *report, struct gput_error *error);

/* The same from a source, which it closes. */
int system_metrics_read_source(struct byte_source *source, const char *name, system_visitor *visit,
    void *user, struct read_report *report, struct gput_error *error);
