/*
 * The result of a benchmark as one document, of which every format is made.
 *
 *     bench        version, date, how it ran and why it stopped
 *     machine      what explains a difference from another day
 *     figures      those that some run has: key, label, unit, meaning
 *     missing      those that none has, and why
 *     variants     name, command, parameters, runs, and of each figure mean, interval, spread
 *     comparisons  of each variant with the first, figure by figure: change, interval, verdict
 *     null         the first variant's own runs, odd against even
 *     baseline     the same comparisons with an earlier day; what differs of the machine
 *     causes       what disturbed runs: how many, and what would help
 *     runs         each run in order: figures, causes, whether it was left out
 *     notes        sentences for people
 */
#pragma once

#include "analysis/bench/bench_data.h"
#include "analysis/bench/bench_statistics.h"

/* `baseline` may be NULL; `baseline_name` is its file. NULL: no memory. The caller frees it. */
struct doc *bench_document(
    const struct bench_data *data, const struct bench_data *baseline, const char *baseline_name);
