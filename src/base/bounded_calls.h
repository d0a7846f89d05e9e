/*
 * Calls that may never return, such as a read of a file of procfs while its process waits for dead
 * storage. Each is made in another thread and waited for at most a second. One that does not return
 * by then is given up: its thread is left alone, and another thread makes the next calls.
 *
 * Calls have a subject, such as the process that is read. As long as a call is stuck, no other one
 * is made for its subject. So a subject costs one thread and one wait. Waits become shorter while
 * calls are stuck, and at most BOUNDED_CALLS_MAX_STUCK may be: all waits together take two seconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BOUNDED_CALLS_MAX_STUCK 16

struct bounded_calls;

/* The first member of a struct on the heap, with all that the call needs and gives. */
struct bounded_call {
    void (*run)(struct bounded_call *call);
    void (*destroy)(struct bounded_call *call); /* frees the struct */
};

/* No thread is started before the first call. The caller calls bounded_calls_destroy(). NULL
 * without memory. */
struct bounded_calls *bounded_calls_create(void);

/* True: the call has returned, and is the caller's. False: it was given up, and will be destroyed.
 * Any thread may call this. `calls` NULL, or no thread can be started at all (ulimit -u): it is
 * made here, without a bound. */
bool bounded_calls_make(struct bounded_calls *calls, long subject, struct bounded_call *call);

/* Threads so far started that have not ended, and their CPU time in calls that have returned. */
unsigned bounded_calls_threads(struct bounded_calls *calls);
int64_t bounded_calls_cpu_ns(struct bounded_calls *calls);

/* Ends the threads that are not stuck. What others use is freed when they return. */
void bounded_calls_destroy(struct bounded_calls *calls);
