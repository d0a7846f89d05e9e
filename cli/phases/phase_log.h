/*
 * The log of a command's phases: code blocks "token:NAME", one of which runs at a time.
 */
#pragma once

#include "phase_matcher.h"

#include <gputracker/blocks.h>
#include <gputracker/error.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum number of names; further ones become "(other names)". */
enum { PHASE_LOG_NAMES = 10000 };

struct phase_log {
    pthread_mutex_t lock;
    struct gput_blocks *blocks; /* NULL: nothing is recorded */
    struct gput_block_call call;
    char current[PHASE_NAME_SIZE + 8]; /* "": no phase runs */
    uint64_t *hashes;                  /* hash table of the names; 0: free */
    size_t n_names;
    uint64_t n_phases;
};

/* Initializer of a log that records nothing. */
#define PHASE_LOG_NONE                                                                             \
    {                                                                                              \
        .lock = PTHREAD_MUTEX_INITIALIZER                                                          \
    }

/* Creates the file of an empty log; marks are those of process `pid`. On failure nothing is
 * recorded. Errors: those of gput_blocks_open(). */
int phase_log_open(struct phase_log *log, const char *path, pid_t pid, struct gput_error *error);

/* Begins a phase, which ends the previous one. `is_redrawn`: if it is the previous one, it
 * continues. May be called by any thread. */
void phase_log_begin(struct phase_log *log, const char *name, bool is_redrawn);

/* Ends the last phase and completes the file. Nothing is recorded any more. */
void phase_log_close(struct phase_log *log);
