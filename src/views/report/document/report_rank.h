/*
 * The rank of a session in a parallel job, by the name of the session or of its file.
 */
#pragma once

#include "base/doc.h"

#include <stdbool.h>
#include <stddef.h>

#define REPORT_NO_RANK (-1L)

/*
 * The number after "rank" or "r" as a word: 3 of "rank3.csv", "job-7.rank_3.csv", "run.r3.sqlite"
 * and "rank=3". The last one counts. REPORT_NO_RANK where there is none.
 */
long report_rank_of(const char *name);

/* Whether names are those of the ranks of one job: several, each with a rank, and all different.
 * `ranks`, with a place for each name, is filled in then. */
bool report_ranks_of(const char *const *names, size_t count, long *ranks);

/* Whether the sessions of a document are the ranks of one job: several, each with a rank of its
 * own.
 */
bool report_are_ranks(const struct doc *sessions);
