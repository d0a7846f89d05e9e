/*
 * The result of a benchmark in every format: each walks the document that bench_document() made.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"
#include "base/str.h"

#include <gputracker/bench.h>

/* Appends the whole text. Errors: GPUT_ERROR_INVALID for a format that it does not have. */
int bench_render(const struct doc *document, const struct gput_bench_render_options *options,
    enum gput_format format, struct str *text, struct gput_error *error);
