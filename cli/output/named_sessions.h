/*
 * The sessions that 'report' and 'plot' are given: SESSION or NAME=SESSION. Without any it is the
 * newest tracking file of the working directory.
 */
#pragma once

#include "options/arguments.h"

#include <gputracker/error.h>
#include <gputracker/report.h>

struct named_sessions {
    struct gput_report_session *sessions;
    const struct gput_report_session **list; /* the same, as options of reports have them */
    char **names;                            /* of "NAME=SESSION"; NULL: none */
    char *newest;                            /* the file that was found, where none was named */
    size_t count;
};

/* Whatever the outcome, the caller frees what was read by named_sessions_free(). Errors:
 * GPUT_ERROR_MEMORY; GPUT_ERROR_INVALID where a session is the output; those of
 * newest_file_of_samples(). */
int named_sessions_read(struct named_sessions *read, const struct arguments *arguments,
    enum option_id output, struct gput_error *error);

void named_sessions_free(struct named_sessions *read);

/*
 * Finds the newest results that a session keeps while it runs (.gpu-tracker_*). `*name` is the
 * caller's; NULL on failure. Errors: GPUT_ERROR_NOT_FOUND with the way out, GPUT_ERROR_IO,
 * GPUT_ERROR_MEMORY.
 */
int newest_file_of_results(char **name, struct gput_error *error);
