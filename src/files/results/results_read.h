/*
 * Results from a file, in either form: what a session kept while it ran (results_file.h), or its
 * report as JSON (results_read_json.h). The beginning of the file says which.
 */
#pragma once

#include "base/error.h"
#include "files/results/results_read_json.h"
#include "model/results.h"

#include <stdbool.h>
#include <stddef.h>

/* Larger files are refused: reports have some 100 kB. */
#define RESULTS_MAX_BYTES ((size_t)64 << 20)

enum results_form {
    RESULTS_NONE,
    RESULTS_KEPT,
    RESULTS_REPORT,
};

/*
 * Reads the file at `path` into results that are all zero; what it lacks is not known. `form` may
 * be NULL. On failure, too, the caller ends them by results_finish(). Errors:
 * GPUT_ERROR_UNSUPPORTED (a file of another kind), GPUT_ERROR_FORMAT (damaged), GPUT_ERROR_INVALID
 * (too large), GPUT_ERROR_NOT_FOUND, GPUT_ERROR_PERMISSION, GPUT_ERROR_IO, GPUT_ERROR_MEMORY.
 */
int results_read(const char *path, struct gput_results *results, enum results_form *form,
    struct gput_error *error);

/* Reads many files: what they share is made once. One for each thread. */
struct results_reader {
    struct results_line_table table;
    struct str content;
};

/* The caller frees it by results_reader_finish(), also after a failure. Errors:
 * GPUT_ERROR_MEMORY. */
int results_reader_init(struct results_reader *reader, struct gput_error *error);
void results_reader_finish(struct results_reader *reader);

/* As results_read(). */
int results_reader_read(struct results_reader *reader, const char *path,
    struct gput_results *results, enum results_form *form, struct gput_error *error);

/* The same, but of a report the beginning alone: whose results they are, when that was, and how
 * long it took. */
int results_reader_read_identity(struct results_reader *reader, const char *path,
    struct gput_results *results, struct gput_error *error);

/* Whether a file begins as every report in JSON does. False, too, where it cannot be read. */
bool results_is_report(const char *path);
