#include "machine/energy/other_cpu.h"

#include "base/clock.h"

/* Older activity of others is little evidence for now. */
#define MAX_STRETCH_NS (10 * NS_PER_SECOND)
/* Half a tick, since seeing none is likely even when half a one was used: so shares of few ticks
 * are too high as often as too low. */
#define UNSEEN_SECONDS 0.005
/* The weight of time in which the tracked ones were idle: as if they had used this many CPUs. */
#define IDLE_WEIGHT 0.01

/* Returns the reading at that place in the ring; 0 is the oldest. */
static struct other_cpu_reading *reading(struct other_cpu *others, size_t i)
{
    return &others->readings[(others->first + i) % OTHER_CPU_READINGS];
}

static void drop_first(struct other_cpu *others)
{
    others->first = (others->first + 1) % OTHER_CPU_READINGS;
    others->count--;
}

void other_cpu_begin(struct other_cpu *others, int64_t now_ns)
{
    *others = (struct other_cpu){0};
    others->readings[0].time_ns = now_ns;
    others->count = 1;
}

void other_cpu_read(
    struct other_cpu *others, int64_t now_ns, double busy_seconds, double tracked_seconds)
{
    const struct other_cpu_reading *before = reading(others, others->count - 1);
    if (now_ns <= before->time_ns)
        return;
    double interval = clock_seconds_of_ns(now_ns - before->time_ns);
    double tracked = tracked_seconds - before->tracked_seconds;
    double weight = tracked / interval + IDLE_WEIGHT;
    const struct other_cpu_reading now = {.time_ns = now_ns,
        .busy_seconds = busy_seconds,
        .tracked_seconds = tracked_seconds,
        .weighted_use =
            before->weighted_use + weight * (busy_seconds - before->busy_seconds - tracked),
        .weighted_time = before->weighted_time + weight * interval};
    if (others->count == OTHER_CPU_READINGS)
        drop_first(others);
    *reading(others, others->count++) = now;

    /* The shortest interval with enough ticks is kept, or the longest one; at least the last one.
     */
    while (others->count > 2 &&
           (busy_seconds - reading(others, 1)->busy_seconds >= OTHER_CPU_ENOUGH_SECONDS ||
               now_ns - reading(others, 0)->time_ns > MAX_STRETCH_NS))
        drop_first(others);

    const struct other_cpu_reading *start = reading(others, 0);
    double use = now.weighted_use - start->weighted_use;
    /* The machine's ticks can lag behind our own clocks. */
    if (use < 0)
        use = 0;
    if (busy_seconds - start->busy_seconds < OTHER_CPU_ENOUGH_SECONDS)
        use += weight * UNSEEN_SECONDS;
    others->seconds += interval * use / (now.weighted_time - start->weighted_time);
}
