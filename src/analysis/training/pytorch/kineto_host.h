/*
 * Views of traces whose program used no GPU: its threads, operators by own time, data loading, and
 * the time between operators.
 */
#pragma once

#include "base/table.h"

#include <gputracker/profile.h>

/* Fills the table of a view (not DIFF), and warns that it shows the CPU. Errors:
 * GPUT_ERROR_NOT_FOUND (no trace has activity of a GPU or a CPU), those of reading. */
int kineto_host_make(enum gput_kineto_view view, const struct gput_kineto_options *options,
    struct gput_tables *tables, struct gput_error *error);
