/*
 * Which session a file is of, by what is in it.
 */
#pragma once

#include <stdbool.h>

struct report_origin {
    /* The machine, the process and the time it began: of one session only. Empty: not known. */
    char session[128];
    double rank; /* NaN: not known */
    double pid;  /* the process that was tracked, or the first that marked; NaN: not known */
    /* The time of a session by its results; that of the first sample, or mark, of other files. In
     * seconds since the epoch, NaN: not known. */
    double start, end;
    /* How far it goes: its session has ended; bytes of a tracking file, seconds of results. */
    bool has_ended;
    double extent;
};

void report_origin_init(struct report_origin *origin);

/* Of what cannot be read nothing is known. */
void report_origin_of_results(const char *path, struct report_origin *origin);
void report_origin_of_tracking(const char *path, struct report_origin *origin);
void report_origin_of_marks(const char *path, struct report_origin *origin);

/* Of two files of one kind and one session: a copy that was made later has more. */
bool report_origin_is_more_complete(
    const struct report_origin *file, const struct report_origin *than);

/* Whether results may be of the session of a tracking file: nothing that is known of both says
 * otherwise. */
bool report_origin_fits(const struct report_origin *results, const struct report_origin *tracking);
