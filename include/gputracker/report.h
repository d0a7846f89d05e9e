/*
 * Reports: one HTML file about one or several sessions, which needs no network: curves of what was
 * used, lanes of code blocks and processes, figures with their bounds and sources.
 *
 *     struct gput_report_session session = gput_report_session_default();
 *     const struct gput_report_session *sessions[] = {&session};
 *     struct gput_report_options options = gput_report_options_default();
 *     session.path = "tracking.csv";
 *     options.sessions = sessions;
 *     options.n_sessions = 1;
 *     gput_report_write(&options, "report.html", &error);
 *
 * docs/report-format.md describes the data in the file. gput_report_export() writes it for other
 * programs.
 */
#ifndef GPUTRACKER_REPORT_H
#define GPUTRACKER_REPORT_H

#include <gputracker/error.h>
#include <gputracker/results.h>
#include <gputracker/sized.h>
#include <gputracker/table.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A session of a report. Sized: see gputracker/sized.h. */
struct gput_report_session {
    size_t size; /**< set by gput_report_session_default() */
    /**
     * One of these, or a folder of them; the content decides which it is. NULL: there is none.
     *
     * - a tracking file (.csv, .sqlite; of the Python gpu_tracker too), a sub-tracking file;
     * - results: a report in JSON, a resource usage file;
     * - a folder with a recording of power;
     * - a training profile: a folder that contains "system" or "framework";
     * - a trace of PyTorch's profiler or in Chrome's format.
     */
    const char *path;
    const char *name;                   /**< name on the page; NULL: the name of its file */
    const struct gput_results *results; /**< results of a session that has just ended; NULL: none */
    /** Processes, command and its status, which the results lack. NULL: unknown. */
    const struct gput_results_render_options *report;
    /** True: the file is temporary, and the page does not name it. */
    bool is_temporary;
    /** The pattern of the sub-tracking files of the processes in `report`, as for
     * gput_blocks_open(). Files that were written since the start of their process are shown. NULL:
     * not known. */
    const char *blocks_pattern;
    /** Seconds by which the clock of its machine is ahead of that of the other sessions; its start
     * is shown that much earlier. */
    double clock_offset_seconds;
    /** Machine of that clock and evidence of the offset, shown on the page: "of n2, …". NULL: none.
     */
    const char *clock_note;
};

/** Sets the defaults, all zero, in a struct of that size. */
GPUT_API void gput_report_session_init(struct gput_report_session *session, size_t size);

/** A session of which nothing is known. */
static inline struct gput_report_session gput_report_session_default(void)
{
    struct gput_report_session session;
    gput_report_session_init(&session, sizeof session);
    return session;
}

/** Sized: see gputracker/sized.h. */
struct gput_report_options {
    size_t size; /**< set by gput_report_options_default() */
    const struct gput_report_session *const *sessions;
    size_t n_sessions;
    /** Sub-tracking files (.csv, .sqlite, .gputblocks). They belong to the only session, or, when
     * there are as many as sessions, each to the session at its place. */
    const char *const *sub_tracking_files;
    size_t n_sub_tracking_files;
    const char *title; /**< title of the page; NULL: the names of the sessions */
    const char *page;  /**< file of a page to use instead of the built-in one; NULL: the built-in
                          one */
    /** Called with one line (no newline) for each warning. May be NULL. */
    void (*warn)(void *user, const char *message);
    /** Called now and then with the completed share of the work, 0 to 1. May be NULL. */
    void (*progress)(void *user, double done);
    void *user; /**< passed to warn() and progress() */
    /** gput_report_write() waits for the reader of a pipe until this descriptor is readable. -1,
     * the default: for ever. */
    int stop_fd;
    /** Sentences about the sessions together, with which the page begins. */
    const char *const *notes;
    size_t n_notes;
};

/** Sets the defaults, zero but for `stop_fd`, in a struct of that size. */
GPUT_API void gput_report_options_init(struct gput_report_options *options, size_t size);

/** No sessions, the title and page above. */
static inline struct gput_report_options gput_report_options_default(void)
{
    struct gput_report_options options;
    gput_report_options_init(&options, sizeof options);
    return options;
}

/** Whether this build has the page of reports. */
GPUT_API bool gput_report_is_built_in(void);

/** A sentence for people whose build has none: how to get one. Static text. */
GPUT_API const char *gput_report_remedy(void);

/**
 * Writes the report to `path`, or, "-", to the standard output. The file appears complete or not at
 * all. What cannot be shown of a session is skipped with a warning. Memory is bounded for any
 * number of samples. The rest goes to an unnamed temporary file, in the folder of `path`, or in
 * /var/tmp if that is not a regular file.
 *
 * Errors: GPUT_ERROR_UNSUPPORTED (a build without the page), GPUT_ERROR_INVALID (no sessions; marks
 * whose session is not clear), GPUT_ERROR_NOT_FOUND, GPUT_ERROR_FORMAT (a file of another kind),
 * GPUT_ERROR_IO, GPUT_ERROR_PERMISSION, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_report_write(
    const struct gput_report_options *options, const char *path, struct gput_error *error);

/** Formats of gput_report_export(). */
enum gput_report_format {
    GPUT_REPORT_JSON,       /**< one file: the document of a report, its columns as arrays */
    GPUT_REPORT_CSV,        /**< a folder: a file for each table */
    GPUT_REPORT_SPEEDSCOPE, /**< one file: calls of code blocks and events, for speedscope */
    GPUT_REPORT_COLLAPSED,  /**< one file: a line a stack of them, with its own microseconds */
};

/**
 * Writes what a report of these sessions shows for other programs; docs/report.md has the tables.
 * `path` is a file, "-" for the standard output, or a folder, which is made unless it is there.
 * Each file appears complete or not at all. Title and page of the options do not matter; a build
 * without the page exports all the same.
 *
 * Errors: those of gput_report_write(); GPUT_ERROR_INVALID also for tables to the standard
 * output, GPUT_ERROR_NOT_FOUND also for stacks of sessions that have no calls.
 */
GPUT_API int gput_report_export(const struct gput_report_options *options,
    enum gput_report_format format, const char *path, struct gput_error *error);

/**
 * Finds the files that make up these sessions, as a report about them does. Folders are searched,
 * and files of other kinds in them are skipped. Three tables:
 *
 *     sessions  session (from 1), path, kind ("tracking", …; "marks" for marks without a session),
 *               results, copy_of: the path of the file that this is a copy of, if only its samples
 *               show that
 *     marks     session, path: the sub-tracking files of each
 *     left_out  path: the files that are empty, damaged or not readable; each gives a warning
 *
 * On success the caller frees `*tables` by gput_tables_destroy(). Errors: GPUT_ERROR_INVALID,
 * GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION, GPUT_ERROR_FORMAT, GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_report_files(const struct gput_report_options *options,
    struct gput_tables **tables, struct gput_error *error);

/**
 * Passes the tables that gput_report_export() writes as GPUT_REPORT_CSV to `receive`, one after the
 * other. They come in parts of at most 65,536 rows: each call gives one table with the name of its
 * file. All numbers are of type double, in base units. `user` is passed to `receive`.
 *
 * Errors: those of gput_report_export(), and those of `receive`.
 */
GPUT_API int gput_report_tables(const struct gput_report_options *options,
    gput_table_receiver *receive, void *user, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
