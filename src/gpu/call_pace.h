/*
 * When a driver may be asked again for what costs it much: on some GPUs reading the energy counter
 * takes milliseconds of CPU time. Such calls take at most a two-hundredth of one core's time, those
 * for all GPUs together.
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

/* Before and after a call; both by the same thread. `n_gpus`: that have such a call each. */
void call_pace_begin(struct call_pace *pace, int64_t now_ns);
void call_pace_end(struct call_pace *pace, uint32_t n_gpus);
