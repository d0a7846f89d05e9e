/*
 * What traces of PyTorch's profiler have of a program that used no GPU: its threads, operators by
 * their own time, data loading, and the time between operators.
 */
#pragma once

#include "base/table.h"

#include <gputracker/profile.h>

/* Fills the table of a view (not DIFF), and warns that it is of the CPU. Errors:
 * GPUT_ERROR_NOT_FOUND (neither is in any trace), those of reading. */
int kineto_host_make(enum gput_kineto_view view, const struct gput_kineto_options *options,
    struct gput_tables *tables, struct gput_error *error);
