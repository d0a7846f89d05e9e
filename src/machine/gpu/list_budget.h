/*
 * When a driver may be asked for its processes again: such lists take at most a twentieth of the
 * time, because drivers hold locks meanwhile. Time that earlier lists left over is saved, up to a
 * limit: one list that came late on a busy machine then does not delay the next.
 */
#pragma once

#include <stdint.h>

/* Starts as zero. Times are of one clock, in nanoseconds. */
struct list_budget {
    int64_t paid_until_ns; /* until then all lists so far are a twentieth of the time */
};

/* Accounts for a list. */
void list_budget_spend(struct list_budget *budget, int64_t start_ns, int64_t cost_ns);
