/*
 * What happened while trace files were read: how much was there, what was skipped, and one warning
 * a file that was not whole. It begins with who listens, and how many cores may read.
 */
#pragma once

#include "base/str.h"

#include <stdint.h>

struct read_report {
    uint64_t files;
    uint64_t events;    /* whole events or readings seen */
    uint64_t damaged;   /* places or lines that could not be read */
    uint64_t truncated; /* files that end too early */
    uint64_t unusable;  /* events without what they need: a time, a duration, a partner */
    void (*warn)(void *user, const char *message); /* NULL: no warnings */
    /* Called with how far reading is, from `progress_from` on to `progress_span` more; may be NULL.
     */
    void (*progress)(void *user, double done);
    double progress_from, progress_span;
    uint64_t bytes_total; /* of all files that are read */
    uint64_t bytes_read;  /* of those that were read to their end */
    void *user;
    unsigned cores; /* that may read */
};

/* Reports how far reading is: `bytes` into a file. */
static inline void read_report_progress(const struct read_report *report, uint64_t bytes)
{
    double done = (double)(report->bytes_read + bytes) / ((double)report->bytes_total + 1);
    if (report->progress)
        report->progress(
            report->user, report->progress_from + report->progress_span * (done < 1 ? done : 1));
}

/* Says that a file is going to be read: its size counts in how far reading is. */
void read_report_expect(struct read_report *report, const char *path);

static inline void read_report_warn(const struct read_report *report, const char *message)
{
    if (report->warn && message)
        report->warn(report->user, message);
}

/* Warns of the text and frees it; where memory ran out while it was made, of that. */
void read_report_warn_text(const struct read_report *report, struct str *text);

/* Says how many events of a file were of no use; nothing where all were. */
void read_report_warn_unusable(const struct read_report *report, const char *path, uint64_t count);
