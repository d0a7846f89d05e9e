/*
 * The ranks of a job on the terminal: the job's CPU and memory against what there is, then a row
 * for each rank, the worst first.
 */
#pragma once

#include <gputracker/error.h>

/* Shows them until the user quits or a signal says so. Errors: GPUT_ERROR_UNSUPPORTED (there is no
 * terminal), those of ranks_open(). */
int ranks_view_run(const char *source, struct gput_error *error);
