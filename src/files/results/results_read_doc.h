/*
 * Results out of a report as JSON, which `gpu-tracker run -f json` writes and the older gpu_tracker
 * wrote.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"
#include "model/results.h"

/* Whether a document is such a report. */
bool results_doc_is_report(const struct doc *doc);

/*
 * Reads one into results that are all zero; what the document lacks is not known. Errors:
 * GPUT_ERROR_INVALID (a unit), GPUT_ERROR_MEMORY.
 */
int results_read_doc(const struct doc *doc, struct gput_results *results, struct gput_error *error);
