/*
 * An analysis as a document, which JSON shows and text lays out.
 */
#pragma once

#include "analysis/analyze/analysis.h"
#include "base/doc.h"

/* Makes the document, all but the blocks: these are made one by one while they are written, since
 * all at once would take some 10 kB each. NULL without memory. */
struct doc *analysis_create_doc(const struct gput_analysis *analysis, struct doc_items *blocks);

/* The blocks with their figures, to be made while `array` is written. */
struct doc_items analysis_block_items(const struct gput_analysis *analysis, struct doc *array);
