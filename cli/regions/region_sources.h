/*
 * The sources of regions of unmodified programs: for each kind of annotation, the library that
 * records it and how a program is made to load it.
 */
#pragma once

#include <gputracker/error.h>

#include <stdbool.h>
#include <stddef.h>

enum {
    REGION_NVTX,
    REGION_ITT,
    REGION_OMPT,
    REGION_ROCTX,
    REGION_MPI,
    REGION_PYTHON,
    REGION_SOURCES
};

/* Their names, separated by blanks. */
#define REGION_SOURCE_WORDS "nvtx itt ompt roctx mpi python"

struct region_sources {
    bool wanted[REGION_SOURCES];
    bool are_named;       /* they were named, so they may not be the default ones */
    char functions[1024]; /* patterns of Python functions, separated by commas */
};

/*
 * Reads a list of sources, "nvtx,itt"; "" stands for the default ones. "python:" is followed by
 * patterns of functions. Errors: GPUT_ERROR_INVALID with the valid words.
 */
int region_sources_read(const char *list, struct region_sources *sources, struct gput_error *error);

/*
 * Sets the environment so that commands started from now on load the library of that source.
 * Returns false if they will not; `why` is set to a sentence, for example because another tool
 * already uses the variable.
 */
bool region_source_enable(size_t source, char *why, size_t size);
