/*
 * A summary of a session for people, in about ten lines: what it needed, whether it was near a
 * limit, what was wasted, and what could not be measured.
 */
#ifndef GPUTRACKER_SUMMARY_H
#define GPUTRACKER_SUMMARY_H

#include <gputracker/error.h>
#include <gputracker/processes.h>
#include <gputracker/results.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is not in the results, and how to format the text. May be all zeroes. */
struct gput_summary_options {
    const char *const
        *command; /**< the command with its arguments, NULL at the end; NULL: not shown */
    bool has_status;
    int status;     /**< of the command, as of wait(2) */
    bool color;     /**< ANSI escape sequences, for a terminal */
    unsigned width; /**< columns that the command is cut to; 0: it is not cut */
    /** The processes of the session, for advice, and shown as a tree at the end. NULL: not known.
     */
    const struct gput_processes *processes;
};

/**
 * The summary as text of several lines, with figures in suitable units (decimal prefixes: 1 GB is
 * 1e9 bytes). A figure that is a lower bound says "at least". `options` may be NULL.
 *
 * Returns: GPUT_OK and in `*text` a terminated string that the caller frees with free().
 * Errors: GPUT_ERROR_MEMORY.
 */
GPUT_API int gput_summary_render(const struct gput_results *results,
    const struct gput_summary_options *options, char **text, struct gput_error *error);

/**
 * What is known while a session runs (gput_session_results_so_far()) as one line without a newline:
 * time, cores in use, RAM now and at its highest, GPUs. `width`: columns that it is cut to; 0: it
 * is not.
 *
 * Returns and errors as gput_summary_render().
 */
GPUT_API int gput_summary_render_line(
    const struct gput_results *results, unsigned width, char **text, struct gput_error *error);

#ifdef __cplusplus
}
#endif

#endif
