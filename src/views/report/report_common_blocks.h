/*
 * Code blocks that all of several sessions have: one more, or another name, is no reason to compare
 * none.
 */
#pragma once

#include "analysis/analyze/comparison.h"

/* Leaves these in all runs, and appends what was left out, in words, to `rest`. Where there is no
 * such block, all stay. Errors: GPUT_ERROR_MEMORY. */
int report_common_blocks_keep(
    struct gput_comparison *comparison, struct str *rest, struct gput_error *error);
