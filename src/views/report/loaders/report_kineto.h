/*
 * What GPUs did, or else CPUs, in a trace of PyTorch's profiler, as tables. A build without
 * training profiles has none: report_without_training.c.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_session.h"

/* Adds the tables of session->path; nothing where it has no activity. Errors: GPUT_ERROR_MEMORY. */
int report_kineto_add(struct report_session *session, struct gput_error *error);

/* Adds to the comparison of a document what two traces have more or less of, by name; nothing where
 * they have no activity. Errors: GPUT_ERROR_MEMORY. */
int report_kineto_add_difference(
    struct doc *root, const char *const paths[2], const char *folder, struct gput_error *error);
