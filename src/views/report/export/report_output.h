/*
 * Text on its way to a receiver: it is collected, and passed on in pieces that are worth a call.
 */
#pragma once

#include "base/str.h"
#include "views/report/document/report_bytes.h"

/* Begins as {.receive = receive, .user = user}. */
struct report_output {
    report_receiver *receive;
    void *user;
    struct str text; /* append to it; what was not passed on yet */
};

void report_output_finish(struct report_output *output);

/* After each addition: passes the text on once there is enough. Errors: GPUT_ERROR_MEMORY, and
 * those of the receiver. */
int report_output_pass(struct report_output *output, struct gput_error *error);

/* At the end: passes on what is left. Errors as above. */
int report_output_pass_rest(struct report_output *output, struct gput_error *error);
