/*
 * A comparison as a picture: the main figures and the time of code blocks, a bar for each session.
 */
#pragma once

#include "analysis/analyze/comparison.h"

#include <gputracker/format.h>

/* Result and errors: those of gput_comparison_render(). */
int comparison_render_picture(const struct gput_comparison *comparison,
    const struct gput_comparison_options *options, enum gput_format format, char **bytes,
    size_t *length, struct gput_error *error);
