/*
 * The lines of GPUs in the summary of a session: all in one form, so that they can be compared.
 */
#pragma once

#include "views/output/summary_rows.h"

/* Those that count; of many the first ones, and how many there are. */
void summary_gpus_write(struct summary *summary);
