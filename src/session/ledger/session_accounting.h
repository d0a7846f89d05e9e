/*
 * What the kernel counted, as the accounting of the results.
 */
#pragma once

#include "machine/os/task_counts.h"
#include "model/results.h"

/* Sets bytes only where they are known. */
void session_accounting_set_counts(
    struct gput_accounting *accounting, const struct task_counts *counts);
void session_accounting_set_bytes(
    struct gput_accounting *accounting, const struct task_counts *counts);

/*
 * Makes user and system time add up to the total. The total was corrected for time that cannot be
 * split (children before tracking, truncated microseconds); it is divided in their proportion. The
 * kernel divides the time of each thread by clock ticks: where it is short, one part may be less
 * than that of our own threads. Parts that are unknown stay so.
 */
void session_accounting_fit_parts(struct gput_accounting *accounting);

/* Sets all figures to unknown. */
void session_accounting_clear(struct gput_accounting *accounting);
