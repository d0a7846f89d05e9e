/*
 * When a driver may be asked again for what costs it much. On some GPUs reading the energy counter
 * takes milliseconds of CPU time: such calls take at most a two-hundredth of one core's time, those
 * for all GPUs together. Lists of processes take at most a twentieth of the time, because drivers
 * hold locks meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Starts as zero: due at once. Times are of clock_monotonic_ns(). */
struct call_pace {
    int64_t due_ns;
    int64_t began_ns, began_cpu_ns;
};

bool call_pace_is_due(const struct call_pace *pace, int64_t now_ns);

/* Accounts for a call that began then and took that CPU time. `n_gpus`: that have such a call each.
 */
void call_pace_spend(struct call_pace *pace, int64_t began_ns, int64_t cost_ns, uint32_t n_gpus);

/* Before and after a call, by the same thread: measure its cost, and account for it. */
void call_pace_begin(struct call_pace *pace, int64_t now_ns);
void call_pace_end(struct call_pace *pace, uint32_t n_gpus);

/* Starts as zero. Times are of one clock, in nanoseconds. */
struct list_budget {
    int64_t paid_until_ns; /* until then all lists so far are a twentieth of the time */
};

/* Accounts for a list. Time that earlier lists left over is saved, up to a limit: one list that
 * came late on a busy machine then does not delay the next. */
void list_budget_spend(struct list_budget *budget, int64_t start_ns, int64_t cost_ns);
