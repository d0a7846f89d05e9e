/*
 * Where regions of unmodified programs come from: a row a kind of annotation, with the library of
 * ours that takes them in and how a program comes to load it.
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

/* Their names, with blanks between. */
#define REGION_SOURCE_WORDS "nvtx itt ompt roctx mpi python"

struct region_sources {
    bool wanted[REGION_SOURCES];
    bool are_named;       /* they are not the usual ones */
    char functions[1024]; /* of Python: patterns with commas between */
};

/*
 * Reads a list, "nvtx,itt"; "" is all that need no more words. After "python:" come patterns of
 * functions. Errors: GPUT_ERROR_INVALID with the valid words.
 */
int region_sources_read(const char *list, struct region_sources *sources, struct gput_error *error);

/*
 * Sets the environment so that commands started from here on load the library of that source.
 * False: they will not, and `why` says it in a sentence, as when the variable belongs to another
 * tool already.
 */
bool region_source_enable(size_t source, char *why, size_t size);
