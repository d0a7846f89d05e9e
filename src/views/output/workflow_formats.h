/*
 * The results of a session in the forms of workflow engines, so that their own reports show them.
 * What is not known is left out, or "NA".
 */
#pragma once

#include "base/str.h"
#include "model/results.h"

/* Nextflow's .command.trace: `nextflow.trace/v2` and a key a line. Percents are in tenths, memory
 * in KiB, time in milliseconds. */
void nextflow_trace_write(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text);

/* The table of Snakemake's `benchmark:`, two lines with tabs. Memory and bytes are in MiB. */
void snakemake_benchmark_write(const struct gput_results *results,
    const struct gput_results_render_options *options, struct str *text);
