/*
 * A comparison in its formats. What it says is a document, which JSON shows and text lays out.
 */
#pragma once

#include "analysis/analyze/comparison.h"
#include "base/doc.h"

/* Writes the document of a comparison, as that of JSON, as an object of the Python package. */
void comparison_write_pickle(const struct doc *root, struct str *text);
