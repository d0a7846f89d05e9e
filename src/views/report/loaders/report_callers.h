/*
 * Stacks of what cProfile counted. It counts who called whom, not whole stacks: what a function
 * called is divided among its own callers by the time that it took for each of them.
 */
#pragma once

#include "base/error.h"
#include "files/import/cprofile.h"
#include "views/report/document/report_calls.h"

/* Appends the name of a function: "json/encoder.py:183(encode)". */
void report_callers_name(const struct cprofile *profile, uint32_t function, struct str *name);

/* Adds a call for each stack that took at least a five-thousandth of the whole, below those that
 * no function called, the longest first. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_callers_add(
    struct report_calls *calls, const struct cprofile *profile, struct gput_error *error);
