/*
 * Programs that the check starts. Each has a session of its own, so that it can be ended with all
 * that it started, and a deadline.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

/* What programs_wait() returns where there is no exit status. */
enum { PROGRAM_LOST = -1, PROGRAM_ENDED_LATE = -2 };

enum { MAX_PROGRAMS = 8 };

struct programs {
    pthread_mutex_t lock;
    pid_t running[MAX_PROGRAMS];    /* 0: a free place */
    _Atomic uint64_t progressed_ns; /* monotonic: when something last went on as it should */
};

void programs_init(struct programs *programs);

/* Starts a command (it ends with NULL), its output appended to a file. -1: it could not be started.
 */
pid_t programs_start(struct programs *programs, const char *log_path, const char *const *command);

/*
 * Waits for so many seconds. Returns the exit status, 128 + N for signal N. A program that has not
 * ended by then is ended with all of its session: PROGRAM_ENDED_LATE, also where the kernel cannot
 * end it because it hangs in a driver.
 */
int programs_wait(struct programs *programs, pid_t pid, double seconds);

/* Ends it and its session now. */
void programs_end(struct programs *programs, pid_t pid);

/* Kills all that run, from any thread, without waiting. */
void programs_kill_all(struct programs *programs);
