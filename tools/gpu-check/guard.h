/*
 * Watches over the check from a thread of its own, so that what was found is written in any case:
 * when a call of the driver's library does not return, and on SIGINT, SIGTERM and SIGHUP.
 */
#pragma once

#include "check_run.h"

struct guard {
    struct check *check;
    pthread_t thread;
    _Atomic bool is_stopping;
};

/* Starts it, and blocks those signals in the caller. */
bool guard_start(struct guard *guard, struct check *check);
void guard_stop(struct guard *guard);
