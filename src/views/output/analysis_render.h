/*
 * An analysis in formats of its own; gput_analysis_render() has them all.
 */
#pragma once

#include "analysis/analyze/analysis.h"
#include "base/doc.h"
#include "base/str.h"

/* Appends a table of the blocks that took longest, at most `max`; names are cut to `width` columns
 * (0: they are not). */
void analysis_write_longest(
    const struct gput_analysis *analysis, size_t max, unsigned width, struct str *text);

/* The blocks with their figures, to be made while `array` is written. */
struct doc_items analysis_block_items(const struct gput_analysis *analysis, struct doc *array);
