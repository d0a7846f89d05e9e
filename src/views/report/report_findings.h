/*
 * What the sessions of a report say together: how each ended, which figures they have in common,
 * whether runs differ by more than chance, and which ranks of a job stand out. The page shows it,
 * and decides nothing of it.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_payload.h"

#include <gputracker/report.h>

/* Adds `ending` to each session of the document, and `findings` to a document of several. Errors:
 * GPUT_ERROR_MEMORY, GPUT_ERROR_IO (the temporary file). */
int report_findings_add(struct report_payload *payload, struct gput_error *error);

/* Warns of them, on the page, too, where all of its sessions are ranks of one job and say how many
 * there are. */
int report_missing_warn(struct report_payload *payload, const struct gput_report_options *options,
    struct gput_error *error);
