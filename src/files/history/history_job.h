/*
 * The ranks of a job, which add one row together: each leaves its own in a folder of the job, and
 * the one that ends last makes one row of all. Nodes of a cluster agree where they share the folder
 * of the history.
 */
#pragma once

#include "files/history/history_folder.h"
#include "files/history/history_row.h"

#include <stdbool.h>

/* Result of adding a rank's row. */
enum history_job_part {
    HISTORY_NO_RANK,      /* it is no rank of a job, and adds its own row */
    HISTORY_WAITS,        /* other ranks are still to come, or there is nothing to agree by */
    HISTORY_JOB_COMPLETE, /* it was the last one: the row is that of the job now */
};

/* Leaves a rank's row for the others, or makes it the job's. `rank`: its number; NaN: it is none.
 * `restarts`: how often its job was started again before; NaN: not known. Errors: those of the
 * system. */
int history_job_add(const struct history_folder *folder, struct history_row *row, double rank,
    double restarts, enum history_job_part *part, struct gput_error *error);

/* Removes what was left by jobs of which a rank never came, for 30 days. */
void history_job_forget_old(const struct history_folder *folder);
