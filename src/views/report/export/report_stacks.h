/*
 * The calls of a session as stacks of each thread: opened and closed like brackets, whatever the
 * calls are. Calls that overlap without being nested are in stacks of their own.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"
#include "views/report/document/report_payload.h"

#include <stdbool.h>
#include <stdint.h>

/* One stack of calls. */
struct report_stack {
    const char *process; /* its label */
    int64_t thread;
    uint32_t number;   /* of the stack in its thread, from 0 */
    double begin, end; /* when the session's calls begin, and when all have ended */
};

/* What is called while the calls of a thread are walked, in the order of time. Anything but GPUT_OK
 * ends it. */
struct report_stack_visitor {
    int (*begin)(void *user, const struct report_stack *stack, struct gput_error *error);
    /* A call of that name, a place in the names of the session, is opened or closed: the latest. */
    int (*call)(void *user, bool is_open, uint32_t name, double at, struct gput_error *error);
    int (*end)(void *user, struct gput_error *error); /* of the stack */
    void *user;
};

/* Without a call there is no stack. Errors: GPUT_ERROR_NOT_FOUND. */
int report_stacks_check(const struct report_payload *payload, struct gput_error *error);

/*
 * Walks the calls of a session of the document. Those that have not ended end with the session.
 * Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO, and those of the visitor.
 */
int report_stacks_walk(const struct report_payload *payload, const struct doc *session,
    const struct report_stack_visitor *visitor, struct gput_error *error);
