/*
 * Files that are copies of others. Of several files of one session the most complete one is the
 * original; results that are not put to a tracking file are copies of it. A tracking file without
 * the file next to it that says whose samples these are is known by what it has.
 */
#pragma once

#include "views/report/report_plan.h"

/*
 * The paths of the files that the sessions of a plan are copies of; NULL for those that are not
 * copies. Only tracking files with the same first time are read whole. The caller frees the list,
 * and not the paths, which are the plan's. Errors: GPUT_ERROR_MEMORY.
 */
int report_copies_find(
    const struct report_plan *plan, const char ***originals, struct gput_error *error);
