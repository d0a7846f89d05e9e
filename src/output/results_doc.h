/*
 * The results of a session as a document, which every format of a report walks.
 */
#pragma once

#include "base/doc.h"
#include "model/results.h"

/* `only_older`: only what the report of the older gpu_tracker has. The caller destroys it; NULL
 * without memory. */
struct doc *results_doc(const struct gput_results *results, bool only_older);

/* Whether a document is one of those: a report as JSON, also of the older gpu_tracker. */
bool results_doc_is_report(const struct doc *doc);

/*
 * Reads it back into results that are all zero; what the document lacks is not known. Errors:
 * GPUT_ERROR_INVALID (a unit), GPUT_ERROR_MEMORY.
 */
int results_read_doc(const struct doc *doc, struct gput_results *results, struct gput_error *error);
