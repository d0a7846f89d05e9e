/*
 * The Python package gputracker does what the command has no library for: it writes Parquet and
 * Arrow files, and reads and writes pickles. Python is "python3", or what GPUT_PYTHON names.
 */
#pragma once

#include <gputracker/error.h>

#include <stddef.h>

/* A module of the package whose main() takes arguments, and what messages say where it is missing.
 */
struct python_module {
    const char *name;   /* "_table_files" */
    const char *does;   /* "reads and writes pickles" */
    const char *remedy; /* how to get it, the beginning of a sentence that ends with GPUT_PYTHON */
    const char *otherwise; /* a sentence: what does without */
};

/*
 * Replaces this process by Python, which calls the module's main() with the arguments, of which
 * NULL is the last.
 *
 * Returns only if that fails. Errors: GPUT_ERROR_NOT_FOUND (no Python), GPUT_ERROR_INVALID
 * (GPUT_PYTHON names something else), GPUT_ERROR_MEMORY.
 */
int python_package_execute(
    const struct python_module *module, const char *const *arguments, struct gput_error *error);

/*
 * Runs the same in another process and waits for it, with `input` (which may be NULL) as its
 * standard input. Python is ended once `stop_fd` can be read (-1: never). What it prints is the
 * caller's `*output`, with a NUL after it.
 *
 * Errors: as above; GPUT_ERROR_FORMAT with what it said where it failed, GPUT_ERROR_IO.
 */
int python_package_run(const struct python_module *module, const char *const *arguments,
    const char *input, size_t length, int stop_fd, char **output, size_t *output_length,
    struct gput_error *error);
