/*
 * What GPUs did, or else CPUs, in a trace of PyTorch's profiler, as tables. A build without
 * training profiles has none: report_without_training.c.
 */
#pragma once

#include "base/error.h"
#include "views/report/document/report_session.h"

/* Adds the tables of session->path; nothing where it has no activity. Errors: GPUT_ERROR_MEMORY. */
int report_kineto_add(struct report_session *session, struct gput_error *error);
