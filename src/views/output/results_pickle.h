/*
 * The report of a session as a pickle of the Python package's Tracker, after its stop().
 */
#pragma once

#include "base/doc.h"
#include "base/str.h"

/*
 * Appends the pickle. What the Python gpu_tracker documents is in its data classes, as
 * `tracker.resource_usage`; `tracker.details` is the whole report as dictionaries, and `text` what
 * it says as text. Python's gpu_tracker, which knows neither, keeps them as plain attributes.
 */
void results_write_pickle(const struct doc *report, const char *report_text, struct str *text);
