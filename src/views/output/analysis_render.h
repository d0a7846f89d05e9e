/*
 * An analysis in its formats. What it says is a document, which JSON shows and text lays out.
 */
#pragma once

#include "analysis/analyze/analysis.h"
#include "base/doc.h"
#include "base/str.h"

/* Appends the whole analysis; without memory `text` turns failed. */
void analysis_write_pickle(const struct gput_analysis *analysis, struct str *text);

/* Adds "missing_timepoints" and "energy" where the analysis has such, of a block or of the whole
 * session. `parent` may be NULL: memory ran out. */
void analysis_add_missing(const struct gput_analysis *analysis, struct doc *parent,
    const struct gput_statistics *statistics);
void analysis_add_energy(
    const struct gput_analysis *analysis, struct doc *parent, const double *energy);

/* Adds a block's exact figures: an object of unit, total and mean for each. */
void analysis_add_exact(
    const struct gput_analysis *analysis, const struct gput_code_block *block, struct doc *parent);

/* The blocks with their figures, to be made while `array` is written: all at once they would take
 * some 10 kB each. */
struct doc_items analysis_block_items(const struct gput_analysis *analysis, struct doc *array);

/* Appends a table of the blocks that took longest, at most `max`; names are cut to `width` columns
 * (0: they are not). */
void analysis_write_longest(
    const struct gput_analysis *analysis, size_t max, unsigned width, struct str *text);
