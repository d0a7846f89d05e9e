#include "session/sampler/wait_sampler.h"

#include "base/clock.h"
#include "machine/process/wait_cause.h"

#include <math.h>

#define SHORTEST_PERIOD_NS (NS_PER_SECOND / 50)
/* Intervals of samples below this make no more moments: a period is as long after 13 s only. */
#define SHORTEST_INTERVAL_NS (NS_PER_SECOND / 5 * 2)
/* A period is at most this part of the time so far. */
#define PERIOD_PART 32
/* A moment costs so much for a process that sleeps, and a period is longer by the more. */
#define PERIOD_OF_PROCESS_NS (NS_PER_SECOND / 2000)
/* A GPU below this is idle. */
#define IDLE_GPU_PERCENT 5.0

/* The next number of a generator (xorshift64*), between 0 and 1. */
static double next_random(struct wait_sampler *waits)
{
    waits->random ^= waits->random >> 12;
    waits->random ^= waits->random << 25;
    waits->random ^= waits->random >> 27;
    return (double)((waits->random * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

static void begin_period(struct wait_sampler *waits, size_t processes, int64_t start_ns)
{
    int64_t longest_ns =
        waits->interval_ns > SHORTEST_INTERVAL_NS ? waits->interval_ns : SHORTEST_INTERVAL_NS;
    int64_t period_ns = (start_ns - waits->start_ns) / PERIOD_PART;
    int64_t shortest_ns = (int64_t)processes * PERIOD_OF_PROCESS_NS;
    if (shortest_ns < SHORTEST_PERIOD_NS)
        shortest_ns = SHORTEST_PERIOD_NS;
    if (period_ns < shortest_ns)
        period_ns = shortest_ns;
    waits->period_start_ns = start_ns;
    waits->period_ns = period_ns < longest_ns ? period_ns : longest_ns;
    waits->due_ns = start_ns + (int64_t)((double)waits->period_ns * next_random(waits));
}

void wait_sampler_init(struct wait_sampler *waits, int64_t start_ns, int64_t interval_ns)
{
    *waits = (struct wait_sampler){.start_ns = start_ns,
        .interval_ns = interval_ns,
        .random = (uint64_t)clock_monotonic_ns() | 1};
    begin_period(waits, 1, start_ns);
}

void wait_sampler_stop(struct wait_sampler *waits)
{
    waits->due_ns = INT64_MAX;
}

/* Returns the cause of the first thread of main. */
static enum wall_cause cause_of_main(const struct process_tree *tree)
{
    const struct process *main = process_tree_main(tree);
    const struct process_threads *list = main ? main->threads : NULL;
    if (!list || !list->has_causes || list->count == 0)
        return WALL_UNKNOWN;
    return process_state_cause(list->threads[0].cause);
}

/* Adds the causes of all threads but the first one of main. */
static void add_others(
    const struct process_tree *tree, int64_t period_ns, struct wall_samples *samples)
{
    for (size_t i = 0; i < tree->count; i++) {
        const struct process_threads *list = tree->processes[i]->threads;
        for (size_t k = 0; list && list->has_causes && k < list->count; k++) {
            const struct thread *thread = &list->threads[k];
            if (!thread->is_listed || (tree->processes[i]->is_main && k == 0))
                continue;
            samples->ns[process_state_cause(thread->cause)] += period_ns;
            samples->count++;
        }
    }
}

void wait_sampler_take(
    struct wait_sampler *waits, struct process_tree *tree, double gpu_percent, int64_t now_ns)
{
    int64_t period_ns = waits->period_ns, next_ns = waits->period_start_ns + period_ns;
    process_tree_sample_states(tree, period_ns);
    pipe_waits_sample(&waits->pipes, tree, period_ns);
    if (!isnan(gpu_percent))
        waits->gpu_ns += period_ns;
    if (gpu_percent < IDLE_GPU_PERCENT) {
        waits->while_gpu_idle.ns[cause_of_main(tree)] += period_ns;
        waits->while_gpu_idle.count++;
        add_others(tree, period_ns, &waits->others_while_gpu_idle);
    }
    /* After a pause (the machine was suspended) it goes on from now. */
    begin_period(waits, tree->count, next_ns + period_ns > now_ns ? next_ns : now_ns);
}
