/*
 * The log of a command's phases: code blocks called "token:NAME", of which one runs at a time.
 */
#pragma once

#include "phase_matcher.h"

#include <gputracker/blocks.h>
#include <gputracker/error.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Further names are "(other names)". */
enum { PHASE_LOG_NAMES = 10000 };

struct phase_log {
    pthread_mutex_t lock;
    struct gput_blocks *blocks; /* NULL: nothing is recorded */
    struct gput_block_call call;
    char current[PHASE_NAME_SIZE + 8]; /* "": no phase runs */
    uint64_t *hashes;                  /* of the names; 0: free */
    size_t n_names;
    uint64_t n_phases;
};

/* One that records nothing. */
#define PHASE_LOG_NONE                                                                             \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Creates the file of an empty log; marks are those of process `pid`. On failure nothing is
 * recorded. Errors: those of gput_blocks_open(). */
int phase_log_open(struct phase_log *log, const char *path, pid_t pid, struct gput_error *error);

/* A phase begins, and the one before ends. `is_redrawn`: it goes on if it is the one before. Any
 * thread. */
void phase_log_begin(struct phase_log *log, const char *name, bool is_redrawn);

/* Ends the last phase, and completes the file. Nothing is recorded any more. */
void phase_log_close(struct phase_log *log);
