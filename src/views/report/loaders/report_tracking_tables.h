/*
 * The further tables of a tracking file that is a database: GPUs, energy, processes.
 */
#pragma once

#include "base/error.h"
#include "files/tracking/tracking_reader.h"
#include "views/report/document/report_session.h"

/* Adds what the file has of them. Tables that cannot be read are warned of. Errors:
 * GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_tracking_tables_load(
    struct report_session *session, struct tracking_reader *reader, struct gput_error *error);
