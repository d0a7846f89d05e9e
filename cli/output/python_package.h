/*
 * The Python package gputracker does what the command has no library for: it writes Parquet and
 * Arrow files, and reads and writes pickles. Python is "python3", or what GPUT_PYTHON names.
 */
#pragma once

#include <gputracker/error.h>

#include <stddef.h>
#include <sys/types.h>

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

/* Python in another process. All zeroes: there is none. */
struct python_process {
    pid_t pid;
    int streams[3]; /* its standard input, output and error: files in memory, none can fill up */
};

/*
 * Starts the same in another process, which signals from the terminal do not reach. Its standard
 * input is empty. To be ended by python_package_finish() or python_package_stop(). Errors: as
 * above; GPUT_ERROR_IO.
 */
int python_package_start(const struct python_module *module, const char *const *arguments,
    struct python_process *process, struct gput_error *error);

/* Makes `input` its standard input, sends it SIGUSR1, and waits for its end as
 * python_package_run() does. */
int python_package_finish(struct python_process *process, const char *input, size_t length,
    int stop_fd, char **output, size_t *output_length, struct gput_error *error);

/* Ends it, if there is one. */
void python_package_stop(struct python_process *process);

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
