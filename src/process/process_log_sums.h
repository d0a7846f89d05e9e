/*
 * What the processes of a log came to together: what process_log.h tells of all of them is here.
 */
#ifndef PROCESS_PROCESS_LOG_SUMS_H
#define PROCESS_PROCESS_LOG_SUMS_H

#include "process/process_log.h"

/* A process has ended, and nothing more will be told about it: adds it to those that have. It is
 * not in the table of the living any more. */
void process_log_sums_add(struct process_log *log, const struct process_record *record);

#endif
