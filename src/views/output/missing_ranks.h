/*
 * Which ranks of a job are missing, as text.
 */
#pragma once

#include "base/str.h"

/*
 * Appends those numbers from 0 to below `world_size` that `present` lacks, as "3, 7-9"; of many
 * ranges the first ones. Sorts `present`, `count` numbers.
 */
void missing_ranks_list(double *present, size_t count, double world_size, struct str *list);
