/*
 * Pickles, which the Python package reads and writes (python_package.h): a pickle is a program for
 * Python, and what is in one are Python's classes. Here it is only a file of bytes.
 */
#pragma once

#include "common/temporary_folder.h"

#include <gputracker/error.h>

#include <stddef.h>

/* Whether pickles can be written: to be asked before a command runs for hours. Errors: those of
 * python_package_run(). */
int pickles_check(struct gput_error *error);

/*
 * Makes a pickle of what was rendered as JSON: of an "analysis", a "comparison", or a "session",
 * whose report as text follows a NUL. The bytes are the caller's.
 */
int pickles_make(const char *kind, const char *json, size_t length, char **bytes,
    size_t *bytes_length, struct gput_error *error);

/* A file as JSON, in place of a pickle. All zeroes: the file is no pickle. */
struct pickle_copy {
    struct temporary_folder folder;
    char *path;
};

/*
 * Where `*path` is a pickle, makes a copy as JSON that has the same name, and lets `*path` name
 * that. There are two kinds: results of an analysis, and the resource usage that the older
 * gpu_tracker keeps; other pickles than that are left alone. Whatever the outcome, the caller
 * finishes the copy. Errors: those of python_package_run(), of temporary_folder_make() and of
 * writing.
 */
int pickle_copy_of_analysis(struct pickle_copy *copy, const char **path, struct gput_error *error);
int pickle_copy_of_usage(struct pickle_copy *copy, const char **path, struct gput_error *error);

void pickle_copy_finish(struct pickle_copy *copy);
