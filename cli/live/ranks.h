/*
 * The ranks of a job while they run, each from its own place: the files of a folder, or the page of
 * metrics of each rank. Threads read them, so that one that does not answer costs its row alone.
 */
#pragma once

#include "meter.h"

#include <gputracker/error.h>

#include <stdbool.h>
#include <stddef.h>

/* How a rank is, the worst last. */
enum rank_state { RANK_RUNS, RANK_ENDED, RANK_STRAGGLER, RANK_FAILED, RANK_SILENT };

/* A figure is NaN while it is not known. */
struct rank_row {
    char name[96];             /* "3", or its page */
    char machine[65], pid[24]; /* "": not known */
    enum rank_state state;
    double seconds;              /* since it started */
    double cpu_seconds;          /* used since then */
    double cores, allowed_cores; /* allowed: with files, its share of what ranks may use together */
    double machine_cores;        /* all that its machine has */
    double ram_bytes, capacity_bytes, gpu_percent;
    struct activity waited; /* seconds, all its threads together, since it started */
    double wall_seconds;    /* of all its threads */
    struct activity shares; /* of its time: of the last seconds, or of all of it */
    char note[200];         /* why it stands out */
};

struct ranks;

/*
 * Begins to read `source`: a folder (or file), else pages, "HOST:PORT,HOST:PORT". Errors:
 * GPUT_ERROR_INVALID (it is neither), GPUT_ERROR_MEMORY, GPUT_ERROR_IO. The caller calls
 * ranks_close().
 */
int ranks_open(const char *source, struct ranks **ranks, struct gput_error *error);
void ranks_close(struct ranks *ranks);

/* Copies what is known now, the worst first. False: nothing has changed since the last call, or no
 * memory. The caller frees `*rows`. `*message`: why there is none, or "". */
bool ranks_copy(struct ranks *ranks, struct rank_row **rows, size_t *count, char message[200]);

/* ---- parts, for tests ---- */

/* Reads a page of metrics: what it does not have is NaN. False: it is no page of gpu-tracker. */
bool rank_parse_page(const char *text, struct rank_row *row);

/* Sets the rates of the time since `before`; without a sample since then, these stay. Of another
 * process, they are those since its start. */
void rank_compare(const struct rank_row *before, struct rank_row *row);

/* Finds those that are held up or work far more than the others, says why, and sorts the worst
 * first. */
void ranks_judge(struct rank_row *rows, size_t count);
