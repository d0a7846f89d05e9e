/*
 * Loads results of an analysis from files.
 */
#pragma once

#include "analysis/analyze/analysis.h"

/* More measurements are refused: looking up each in each code block would take too long. */
#define ANALYSIS_MEASUREMENTS_MAX 256

/*
 * Each reads a whole file's content, which a NUL follows; `name` is used in messages. On success
 * the caller owns
 * `*analysis`; on failure it is NULL. Errors: GPUT_ERROR_FORMAT, GPUT_ERROR_MEMORY.
 */
int analysis_read(const char *bytes, size_t length, const char *name,
    struct gput_analysis **analysis, struct gput_error *error);
int analysis_read_json(const char *bytes, size_t length, const char *name,
    struct gput_analysis **analysis, struct gput_error *error);
