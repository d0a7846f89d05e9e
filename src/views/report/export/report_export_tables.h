/*
 * The tables of a report, one after the other: what of its document is which table.
 */
#pragma once

#include "views/report/export/report_rows.h"

/* Writes one table, which it does not keep. Anything but GPUT_OK ends it. */
typedef int report_table_receiver(void *user, struct report_rows *rows, struct gput_error *error);

/*
 * Passes each table that has rows: "sessions", then of each session "samples" (a table for each
 * time axis), "series", "calls", "blocks", "processes", "steps", "figures", "sources" and the
 * tables of the page. With several sessions names begin with the number of theirs: "2-samples".
 * Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO, and those of the receiver.
 */
int report_export_tables(const struct report_payload *payload, report_table_receiver *receive,
    void *user, struct gput_error *error);
