/*
 * One session of a report while it is loaded: what is known of it so far, and the members that it
 * has in the document.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"
#include "model/results.h"
#include "views/report/document/report_column.h"
#include "views/report/document/report_payload.h"

#include <gputracker/analysis.h>
#include <gputracker/processes.h>
#include <gputracker/report.h>
#include <gputracker/table.h>

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define REPORT_NO_RANK (-1L)

/*
 * The number after "rank" or "r" as a word: 3 of "rank3.csv", "job-7.rank_3.csv", "run.r3.sqlite"
 * and "rank=3". The last one counts. REPORT_NO_RANK where there is none.
 */
long report_rank_of(const char *name);

/* Whether names are those of the ranks of one job: several, each with a rank, and all different.
 * `ranks`, with a place for each name, is filled in then. */
bool report_ranks_of(const char *const *names, size_t count, long *ranks);

/* Whether the sessions of a document are the ranks of one job: several, each with a rank of its
 * own.
 */
bool report_are_ranks(const struct doc *sessions);

/* Steps of columns, by unit. */
#define REPORT_STEP_WHOLE 1.0      /* bytes, counts */
#define REPORT_STEP_FRACTION 0.001 /* percent, watts */
#define REPORT_STEP_TIME 1e-6      /* seconds */
#define REPORT_STEP_CALL 1e-9      /* seconds of what may be shorter */

struct report_session {
    struct report_payload *payload;
    const struct gput_report_options *options;
    struct gput_results_render_options
        known;        /* what is not in results: processes, command, status */
    bool curves_only; /* figures and statistics are not wanted */
    const char *name;
    long rank;                           /* in a parallel job; REPORT_NO_RANK: none is known */
    const char *path;                    /* NULL: there is no file */
    bool is_temporary;                   /* it will be gone when the report is read */
    const struct gput_results *results;  /* NULL: not known */
    struct gput_results *loaded_results; /* the same where they come from a file; owned */

    /* Whose samples these are, as their tracking file has it: of other figures nothing is known.
     * NULL: it does not; owned. */
    struct gput_results *described;

    bool has_samples; /* the following are known */
    struct gput_static_data static_data;
    double max[GPUT_MEASUREMENT_COUNT];  /* of the samples; NaN: there was none */
    double mean[GPUT_MEASUREMENT_COUNT]; /* likewise; rates by the time that they are of */
    double sample_seconds;               /* from one to the next, in the mean */
    double first_sample; /* seconds since the epoch of the earliest: a clock can be set back */

    struct gput_analysis *analysis; /* of its samples; NULL: not made; owned */

    double clock_offset_seconds; /* its clock is ahead of that of the others */
    const char *clock_note;      /* NULL: nothing is said of it */

    bool is_relative; /* its times count from a moment of its own, not from the epoch */
    double start;     /* seconds since the epoch of time 0; NaN until it is known */
    double end;       /* likewise, of the last thing in it */
    double progress_from, progress_span; /* its share of the work */

    struct doc *doc; /* in the document of the payload, as are the following; NULL: not there yet */
    struct doc *identity;
    struct doc *times;
    struct doc *series;
    struct doc *cards;
    struct doc *tables;
    struct doc *warnings;
};

/* Seconds by which what belongs to a session may seem to lie outside of it. */
#define REPORT_CLOCK_DOUBT 1.0

/* Times beyond this (the year 2255) are not times of a session. */
#define REPORT_LAST_SECOND 9e9

/* What a curve is of. Texts are copied. */
struct report_series {
    const char *id;    /* unique in the session */
    const char *label; /* for people */
    const char *group; /* those of one group share a chart */
    const char *scope; /* "main", "system", "gpu0" …; NULL: none */
    const char *unit;  /* "bytes", "percent" …; "" when it is not known */
    double limit;      /* NaN: none */
    unsigned time;     /* report_session_add_time() */
    bool of_interval;  /* each value is that of the time since the one before */
};

/* Begins a session of that kind at the end of the document's list. */
void report_session_begin(struct report_session *session, const char *kind);
/* Ends it: what only its end can say. */
void report_session_end(struct report_session *session);

/* Makes `described` where there is none; nothing is known of it. Errors: GPUT_ERROR_MEMORY. */
int report_session_describe(struct report_session *session, struct gput_error *error);

/* The list of that member, made when it is first asked for. */
struct doc *report_session_list(struct report_session *session, struct doc **list, const char *key);

/* A time of this session, in its seconds. The first one asked for is time 0 where none was set. */
double report_session_time(struct report_session *session, double seconds_since_epoch);

/* How long it took: what the session itself says, where samples end earlier. */
double report_session_seconds(const struct report_session *session);

/* When it ended, in its seconds: time 0 is that of the first sample, which is after the start. */
double report_session_end_seconds(const struct report_session *session);

/* Adds a column of times, and says its index. Takes the column. */
int report_session_add_time(struct report_session *session, struct report_column *times,
    unsigned *index, struct gput_error *error);

/* Adds a curve. Takes the column. */
int report_session_add_series(struct report_session *session, const struct report_series *series,
    struct report_column *values, struct gput_error *error);

/* The curve of that id in the document, or NULL. */
struct doc *report_session_curve(const struct report_session *session, const char *id);

/* Adds a table for people to read. */
void report_session_add_table(struct report_session *session, const char *id, const char *title,
    const struct gput_table *table);

/* Passes a warning on, and keeps it for the page. NULL is fine. */
void report_session_warn(struct report_session *session, const char *message);

/* The same for what is as it should be: the report alone has it. */
void report_session_note(struct report_session *session, const char *message);

/* How much of this session is done, 0 to 1. */
void report_session_progress(const struct report_session *session, double done);

/* The rows that did not fit a column are skipped: warns of them. */
void report_session_warn_unfit(
    struct report_session *session, const char *label, uint64_t unfit_count);

/* What probe() of a loader returns for a folder or file that cannot be of its kind. */
int report_session_refuse(const char *path, struct gput_error *error);
