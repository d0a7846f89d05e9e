/*
 * One line about a session that runs.
 */
#pragma once

#include "base/str.h"

#include "model/results.h"

/* Appends what is known now as one line without a newline: time, cores in use, RAM now and at its
 * highest, GPUs. */
void results_progress_write(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text);
