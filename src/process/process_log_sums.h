/*
 * Sums over the processes of a log: implements the functions of process_log.h that concern all of
 * them.
 */
#ifndef PROCESS_PROCESS_LOG_SUMS_H
#define PROCESS_PROCESS_LOG_SUMS_H

#include "process/process_log.h"

/* Adds a process that has ended and for which no more events or exit records will come. It must not
 * be in the table of the living any more. */
void process_log_sums_add(struct process_log *log, const struct process *process);

#endif
