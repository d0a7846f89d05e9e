/*
 * How the summary of a session begins: what ran, and of a rank where.
 */
#pragma once

#include "views/output/summary_rows.h"

/* "gpu-tracker: python train.py", and "  Host       node1; job 4711, rank 3 of 4" of a rank and in
 * files. */
void summary_heading_write(struct summary *summary);
