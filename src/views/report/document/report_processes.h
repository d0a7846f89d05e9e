/*
 * The processes of a session: from start to end, and what each used. From the table process_data of
 * a tracking file, or from the table "processes" of gput_processes_tables().
 */
#pragma once

#include "base/error.h"
#include "base/names.h"
#include "views/report/document/report_session.h"

#define REPORT_PROCESS_FIGURES 11

/* "SIGKILL"; NULL for one that does not end processes as a rule. Static text. */
const char *report_signal_name(int64_t number);

struct report_processes {
    struct report_session *session;
    struct names names;
    struct report_column name; /* index in `names` */
    struct report_column figures[REPORT_PROCESS_FIGURES];
};

void report_processes_init(struct report_processes *processes, struct report_session *session);

/* Adds rows of the table. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
int report_processes_add(
    struct report_processes *processes, const struct gput_table *part, struct gput_error *error);

/* Adds the list to the session, if there is any. */
int report_processes_end(struct report_processes *processes, struct gput_error *error);
void report_processes_finish(struct report_processes *processes);
