/*
 * What happened while trace files were read: how much was there, what was left out, and one warning
 * a file that was not whole.
 */
#ifndef TRACE_READ_REPORT_H
#define TRACE_READ_REPORT_H

#include <stdint.h>

struct read_report {
    uint64_t files;
    uint64_t events;   /* whole events or readings met */
    uint64_t damaged;  /* places or lines that could not be read */
    uint64_t torn;     /* files that end too early */
    uint64_t unusable; /* events without what they need: a time, a duration, a partner */
    void (*warn)(void *user, const char *message); /* NULL: nobody listens */
    void *user;
};

static inline void read_report_warn(const struct read_report *report, const char *message)
{
    if (report->warn && message)
        report->warn(report->user, message);
}

#endif
