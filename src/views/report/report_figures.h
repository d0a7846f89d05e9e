/*
 * The main figures of several sessions of a report, next to each other: what they are held against,
 * what ranks of a job have of them together, and the means of several runs of one thing.
 */
#pragma once

#include "base/doc.h"
#include "base/error.h"

#include <stdbool.h>

/* Adds `figures` to the findings, and `means` where sessions are runs of one thing. `sessions` is
 * the list of the document. Errors: GPUT_ERROR_MEMORY. */
int report_figures_add(
    struct doc *findings, const struct doc *sessions, bool are_ranks, struct gput_error *error);
