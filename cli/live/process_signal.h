/*
 * A signal to one process that was seen before, and to no other: a pid may have been given to
 * another process meanwhile.
 */
#pragma once

#include "process_rows.h"

#include <gputracker/error.h>

/*
 * Sends it by a pidfd, after the start of the process that this one is of was compared. Errors:
 * GPUT_ERROR_NOT_FOUND (that process has ended), GPUT_ERROR_PERMISSION, GPUT_ERROR_UNSUPPORTED (the
 * kernel has no pidfds: before Linux 5.3), GPUT_ERROR_IO.
 */
int process_signal_send(const struct process_id *process, int number, struct gput_error *error);
