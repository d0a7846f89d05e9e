/*
 * CPU percents of a sample: CPU time since the sample before, divided by the time that passed.
 */
#pragma once

#include "machine/process/cpu_totals.h"

#include <gputracker/measurement.h>

#include <stdint.h>

struct cpu_percents {
    uint32_t system_core_count, n_expected_cores;
    int64_t interval_ns; /* between ticks */

    /* The two samples before. */
    struct cpu_mark {
        int64_t time_ns, main_ns, descendants_ns;
    } last, before_last;
};

/* Sets those of main, descendants and both in `values` of a sample. If no time has passed since the
 * sample before, they stay as they are. */
void cpu_percents_put(
    struct cpu_percents *percents, double *values, const struct cpu_totals *totals, int64_t now_ns);

/* Of the machine; `sum_percent` is that of all cores. NaN: not known. */
void cpu_percents_put_system(
    const struct cpu_percents *percents, double *values, double sum_percent);

void cpu_percents_drop(double *values);
