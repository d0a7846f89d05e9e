/*
 * Whether the figures of a report contradict each other: a lower bound above an upper one, a part
 * above its whole, an exact figure next to one that says that something is missing.
 *
 * That would be a bug. If it happens anyway, contradicted figures must not be relied on.
 */
#pragma once

#include "model/results.h"

/*
 * Clears upper bounds that another figure is above (NaN), and relabels what is called exact and
 * cannot be (sampled); the source of each says that it was "contradicted", and by what. Reads
 * `results` alone. Returns how many contradictions were found; none remain. Where processes could
 * not be read for want of descriptors, nothing that fails for that reason counts.
 */
unsigned results_check(struct gput_results *results);
