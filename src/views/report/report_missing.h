/*
 * Ranks of a job of which a report has no session.
 */
#pragma once

#include "views/report/document/report_payload.h"

#include <gputracker/report.h>

/* Warns of them, on the page, too, where all of its sessions are ranks of one job and say how many
 * there are. */
int report_missing_warn(struct report_payload *payload, const struct gput_report_options *options,
    struct gput_error *error);
