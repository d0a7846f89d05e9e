/*
 * Which of the files of a report are of one session: results and sub-tracking files are put to the
 * tracking file that they are of.
 */
#pragma once

#include "views/report/report_plan.h"

/*
 * Puts results to the tracking file with the same session in it, wherever that is. Where a file
 * does not say its session, and for sub-tracking files, it is
 *
 *   1. the tracking file in the same folder whose name theirs continues
 *      ("rank0.csv", "rank0-blocks.csv"),
 *   2. the only one in the folder, unless a tracking file was skipped that they may be of,
 *   3. the only one in the folder with the rank of their name ("samples.r0.csv", "blocks.r0.csv"),
 *   4. of sub-tracking files, the only one in the folder of the process that marked, or that of the
 *      process that forked it, whose file theirs continues ("marks.0.csv", "marks.0-1234.csv"),
 *
 * and what matches none is a session by itself. Errors: GPUT_ERROR_MEMORY.
 */
int report_join(struct report_plan *plan, struct gput_error *error);

/* The session of a sub-tracking file among those that are named themselves, or NULL. */
struct report_planned *report_join_owner(struct report_plan *plan, const char *path);

/* Gives a session a sub-tracking file. Takes `path`, also on failure; NULL: out of memory. Errors:
 * GPUT_ERROR_MEMORY. */
int report_join_marks(struct report_planned *session, char *path, struct gput_error *error);
