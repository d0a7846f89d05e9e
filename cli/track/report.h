/*
 * The report: its format and its destination.
 */
#pragma once

#include "options/arguments.h"

#include <gputracker/processes.h>
#include <gputracker/results.h>

/* What the option of a format says, whose row says which formats there are. When it was not given:
 * the format of the extension of `output` (a path, "-" or NULL), where the option has it, else
 * `usual`. */
enum gput_format report_format(const struct arguments *arguments, enum option_id id,
    const char *output, enum gput_format usual);

/* The same, checked: warns where the extension is that of a format which the option has not.
 * Errors: GPUT_ERROR_INVALID, `"x" is not a valid format. Valid values are "text" or "json".`; that
 * of report_refuse_pickle() when a terminal would get one. */
int report_read_format(const struct arguments *arguments, enum option_id id, const char *output,
    enum gput_format usual, enum gput_format *format, struct gput_error *error);

/* The usual format of a session's report: a summary on the screen, in a file everything as text. */
enum gput_format report_usual_format(const char *output);

/* GPUT_ERROR_INVALID: a pickle is not for the screen. */
int report_refuse_pickle(struct gput_error *error);

/*
 * Whether a report can be written to `path` at all; to be called before tracking begins. NULL and
 * "-" are fine. Errors: GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION, GPUT_ERROR_INVALID.
 */
int report_check_output(const char *path, struct gput_error *error);

/* Of reports for people where there is no terminal. */
#define REPORT_COLUMNS 100

/* Whether an output is a file: it is neither NULL nor "-". */
bool report_is_file(const char *path);

/* Writes to `path`, completely or not at all; "-" is the standard output, NULL `screen_fd`. Errors:
 * GPUT_ERROR_STATE when the screen is a pipe that its reader has closed. */
int report_write_bytes(
    const char *path, int screen_fd, const char *bytes, size_t length, struct gput_error *error);
int report_write_text(const char *path, int screen_fd, const char *text, struct gput_error *error);

/* The units of a report that people asked for: a full report has them where its figures else have
 * units that fit. */
struct report_units {
    bool ram, gpu_ram, time, energy;
};

/* By the options of the command line. */
struct report_units report_units_asked_for(const struct arguments *arguments);

/* The report of a session: format, destination, and what is not in the results. */
struct report {
    enum gput_format format;
    const char *path;       /* "-" is the standard output, NULL `screen_fd` */
    const char *other_path; /* a file that is written where `path` cannot be; NULL: none */
    bool may_be_elsewhere;  /* where neither can be: in the working directory, by a free name */
    int screen_fd;
    int stop_fd;                     /* how long it waits for a reader; see screen.h */
    const char *const *command;      /* for a summary on the screen; NULL: not known */
    const char *const *file_command; /* for files, which others may read; NULL: not known */
    bool follows_command;            /* on a screen, what the command printed may be before it */
    bool has_status;
    int status;                          /* of the command, as of wait(2) */
    const char *attached;                /* how the attached process ended; NULL: it was started */
    const struct gput_analysis *regions; /* what the command's regions used; NULL: none */
    const char *const *region_notes;     /* lines about them, NULL at the end; NULL: none */
    const char *region_marks;            /* the file with their marks; NULL: none */
    const char *torch_trace;             /* the timeline of traces; NULL: none */
    const char *const *torch_notes;      /* lines about them, NULL at the end; NULL: none */
    const char *labels;                  /* of metrics; NULL: none */
    bool explains_time;                  /* for people it says where the time went */
    bool is_older_form;                  /* -e: JSON for programs of the older tool */
    struct report_units units;           /* that were asked for */
};

/*
 * Writes the report of a session, with its processes unless NULL: a file completely or not at all.
 * When the file cannot be written, the error is returned. So that the figures are not lost, the
 * report then goes to a file in the working directory, which the error names, or to the standard
 * error, for a pickle as text.
 */
int report_write(const struct report *report, const struct gput_results *results,
    const struct gput_processes *processes, struct gput_error *error);

/* The same of a session that has ended, with its processes when its options asked for them. */
int report_write_session(const struct report *report, struct gput_session *session,
    const struct gput_results *results, bool has_processes, struct gput_error *error);
