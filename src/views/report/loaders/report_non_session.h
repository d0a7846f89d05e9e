/*
 * Files that gpu-tracker writes itself and that are not sessions: analyses and comparisons.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>

/* Whether a file is one of them, by its beginning; then the error says what to name instead. */
bool report_non_session_is(const char *path, struct gput_error *error);
