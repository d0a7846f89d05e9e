/*
 * Pairs stops with starts: see call_table.h for the rules.
 */
#pragma once

#include "analysis/analyze/call_table.h"

/*
 * Sorts the marks of every lane and pairs them up in place: afterwards times[2k] and times[2k + 1]
 * of a lane are start and stop of its call k. Lanes are sorted already.
 *
 * Errors: as call_table_pair().
 */
int call_pairing_run(struct call_table *table, struct gput_error *error);
