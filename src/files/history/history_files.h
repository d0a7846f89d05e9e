/*
 * Sessions from what they wrote, as if they were in a history: reports in JSON, what was kept of
 * killed ones, tracking files, and manifests (".session.json"). The catalogue says which files are
 * of one session.
 *
 * Files are read twice: all of them as far as is needed to choose sessions and to order them, and
 * those of the chosen ones for their figures. So memory is some hundred bytes a file.
 */
#pragma once

#include "files/history/history_database.h"
#include "files/history/history_part.h"

#include <gputracker/history.h>

/* Errors: those of the receiver, and of a file that is named itself. One in a folder that cannot be
 * read is a warning of the query. */
int history_files_read(const char *const *paths, size_t count,
    const struct gput_history_query *query, const struct history_filter *filter,
    struct history_part *part, struct gput_error *error);
