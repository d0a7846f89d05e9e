/*
 * Progress and problems of reading trace files: how much was read, what was skipped, and one
 * warning for each damaged file. The caller sets the callbacks and how many cores may read.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

struct read_report {
    uint64_t files;
    uint64_t events;    /* complete events or readings */
    uint64_t damaged;   /* places or lines that could not be read */
    uint64_t truncated; /* files that end too early */
    uint64_t unusable;  /* events without a time, a duration or a partner */
    void (*warn)(void *user, const char *message); /* NULL: no warnings */
    /* Called with the progress of reading, which goes from `progress_from` to `progress_from +
     * progress_span`; may be NULL. */
    void (*progress)(void *user, double done);
    double progress_from, progress_span;
    uint64_t bytes_total; /* size of all files that are to be read */
    uint64_t bytes_read;  /* size of the files that were read to their end */
    void *user;
    unsigned cores; /* number of cores that may read */
};

/* Reports the progress when `bytes` of the current file were read. */
static inline void read_report_progress(const struct read_report *report, uint64_t bytes)
{
    double done = (double)(report->bytes_read + bytes) / ((double)report->bytes_total + 1);
    if (report->progress)
        report->progress(
            report->user, report->progress_from + report->progress_span * (done < 1 ? done : 1));
}

/* Adds the size of a file that is going to be read to the total of the progress. */
void read_report_expect(struct read_report *report, const char *path);

static inline void read_report_warn(const struct read_report *report, const char *message)
{
    if (report->warn && message)
        report->warn(report->user, message);
}

/* Warns with the text and frees it. If memory ran out while it was made, warns of that. */
void read_report_warn_text(const struct read_report *report, struct str *text);

/* Warns that `count` events of a file were skipped as unusable; does nothing if there were none. */
void read_report_warn_unusable(const struct read_report *report, const char *path, uint64_t count);
