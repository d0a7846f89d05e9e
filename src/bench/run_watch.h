/*
 * Watches a run from a thread of its own: when the main process ends, to the microsecond, while the
 * session is still busy with its first samples; and what the command prints.
 */
#pragma once

#include "base/error.h"

#include <pthread.h>
#include <regex.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The end of the standard error that a failure shows. */
#define RUN_WATCH_TAIL 2048
/* The longest line that is searched for units of work. */
#define RUN_WATCH_LINE 4096

/* A pipe that the command writes to. It stays open from run to run: a daemon that a command leaves
 * must not die of writing to it. */
struct run_stream {
    int read_fd, write_fd; /* -1: there is none */
    char line[RUN_WATCH_LINE];
    size_t line_length;
    char tail[RUN_WATCH_TAIL]; /* a ring */
    size_t written;            /* bytes of this run */
};

struct run_watch {
    struct run_stream output, errors;
    const regex_t *work; /* NULL: nothing is searched for */
    double work_value;   /* the last number found; NaN: none */

    pthread_t thread;
    pthread_mutex_t lock; /* of both streams and the value */
    bool has_thread, is_open;
    int wake[2];    /* a pipe: the descriptor of the next process, or -1 to end */
    int process_fd; /* a pidfd; -1: none */
    int64_t ended_ns;
    sem_t is_over;
};

/* With `captures_output` the standard output is read, too; with `captures_errors` the error. On
 * success the caller calls run_watch_finish(). Errors: GPUT_ERROR_FILES, GPUT_ERROR_MEMORY. */
int run_watch_init(struct run_watch *watch, bool captures_output, bool captures_errors,
    const regex_t *work, struct gput_error *error);
void run_watch_finish(struct run_watch *watch);

/* Forgets the run before. */
void run_watch_clear(struct run_watch *watch);

/* Begins with a process that nobody has waited for. `ended_ns`: when it ended, if it already has,
 * so that the thread need not wake; else 0. Without pidfds nothing is watched. */
void run_watch_begin(struct run_watch *watch, pid_t pid, int64_t ended_ns);

/* Call it once after a run, when the process has ended: it reads the rest of the output. Returns
 * when the process ended (monotonic clock); 0: not known. */
int64_t run_watch_end(struct run_watch *watch);

/* The end of what a stream had in this run, without the last newline; a file that is cut begins
 * with a whole line. Returns `text`, of RUN_WATCH_TAIL bytes or more. */
const char *run_stream_tail(const struct run_stream *stream, char *text);
