/*
 * Merges command line, config file and environment into the library's options.
 */
#pragma once

#include "common/message.h"
#include "options/arguments.h"
#include "output/python_package.h"
#include "regions/region_recording.h"
#include "torch/torch_trace.h"
#include "track/html_report.h"
#include "track/outputs.h"
#include "track/report.h"

#include <gputracker/gputracker.h>
#include <gputracker/results.h>

#include <stdbool.h>

struct tracking;

struct kept_history {
    bool is_wanted;
    char **size_of; /* files of --size-of, NULL at the end; the array is owned; NULL: none */
};

struct tracking {
    struct gput_session_options options; /* with all in place */
    struct gput_limits limits;           /* those of the options */
    struct gput_config *config;          /* owns strings of the options; NULL: there is no file */
    bool disable_logs;                   /* print no warnings */
    pid_t process_id;                    /* to attach to, of the config; 0: not given */
    enum gput_format format;             /* of the report */
    struct report_units units;           /* of the report, as they were asked for */
    const char *output;                  /* path of the report; NULL: the screen */
    const char *html_path;               /* of --report; NULL: none is wanted */
    const char *log_to;                  /* "mlflow" of --log-to; NULL: nowhere */
    struct python_process logger;        /* which logs there */
    struct html_report html;             /* next to it, at the end */
    struct region_recording regions;     /* of the command */
    struct torch_trace torch;            /* of the command */
    struct kept_history history;         /* where the session is kept at its end */
    struct outputs outputs;              /* owns the names of files */
    const char *spool_root;              /* of --spool; NULL: nothing is spooled */
    bool is_older_form;                  /* -e */
    char *labels;                        /* of --label, with commas between; owned */
    char *kept;                          /* folder of results so far; NULL: not chosen; owned */
    char *marks;                         /* where the environment has the command mark; owned */
    bool lists_processes;                /* in the report, too */
    bool quiet;                          /* no report on the screen */
    bool shows_progress;                 /* a line on the terminal while the command runs */
    bool also_summarizes;                /* a summary on the screen next to the report in a file */
    bool shows_live;                     /* a view on the terminal while the command runs */
    /* The sub-tracking file whose open code blocks the live view shows, or NULL. */
    const char *live_marks;
    /* Drops warnings for now: the report will say what is missing, and standard error then has it
     * alone. */
    _Atomic bool leaves_warnings_to_report;
    struct held_messages messages; /* warnings, also of the sampling thread */
};

/*
 * Command line over config file over defaults. `is_older_form`: a report is text if -f does not say
 * otherwise. The environment gives the roots: GPUT_PROCFS, GPUT_SYSFS, GPUT_NVML. Warnings are
 * printed through `tracking`, which must not move. On success to be freed by tracking_finish().
 * Errors: GPUT_ERROR_INVALID with the option and its valid values, those of gput_config_load(), and
 * those of report_check_output().
 */
int tracking_read(const struct arguments *arguments, bool is_older_form, struct tracking *tracking,
    struct gput_error *error);
void tracking_finish(struct tracking *tracking);

/* Warns of what the config file says of a process, where a command is tracked. */
void tracking_warn_of_process(struct tracking *tracking);

/* Finds the file for marks that GPUT_BLOCKS_FILE names for a command, also for the live view. Warns
 * where it is there already. */
void tracking_name_marks(struct tracking *tracking);

/* Says on the standard error where a session serves its metrics, if it does. */
void tracking_say_address(struct tracking *tracking, const struct gput_session *session);

/* Sets the options of a session that were given; see `setting` of struct option. Errors:
 * GPUT_ERROR_INVALID with what the option has to be. */
int tracking_set(const struct arguments *arguments, struct gput_session_options *options,
    struct gput_error *error);

/* Reads the operand of a command that takes a process ID; without one `*pid` stays. Errors:
 * GPUT_ERROR_INVALID, which says how a command is started where it seems to be one. */
int tracking_read_pid(const struct arguments *arguments, pid_t *pid, struct gput_error *error);

/* Reads a number. False when the text is not a number, or is below `min`. */
bool tracking_read_number(const char *text, double min, double *seconds);

/* Joins what --label gave; the caller frees *labels, which is NULL before, by free(). Errors:
 * GPUT_ERROR_MEMORY. */
int tracking_read_labels(
    const struct arguments *arguments, char **labels, struct gput_error *error);

/* Adds the session, after its reports were written. A failure is one warning, unless warnings are
 * not wanted. `command` with its arguments; NULL: a process that was attached to. `stop_fd`: see
 * screen.h. */
void kept_history_add(const struct tracking *tracking, const struct gput_results *results,
    const char *const *command, int stop_fd);
