#include "machine/process/process_ranking.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>

static const struct process *at(const void *element)
{
    return *(struct process *const *)element;
}

static int by_cpu(const void *left, const void *right)
{
    int64_t a = at(left)->cpu_ns, b = at(right)->cpu_ns;
    return ORDER(b, a);
}

static double memory_of(const struct process *process)
{
    double gpu_bytes = process->peak.gpu_ram_bytes;
    return (double)process->peak.rss_bytes + (isnan(gpu_bytes) ? 0 : gpu_bytes);
}

static int by_peak(const void *left, const void *right)
{
    double a = memory_of(at(left)), b = memory_of(at(right));
    return ORDER(b, a);
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = at(left)->number, b = at(right)->number;
    return ORDER(a, b);
}

void process_ranking_mark(struct process **processes, size_t count, size_t max_kept)
{
    size_t for_cpu = max_kept / 2 < count ? max_kept / 2 : count;
    size_t for_peak = max_kept < count ? max_kept - for_cpu : count - for_cpu;

    if (count > 1)
        qsort(processes, count, sizeof(void *), by_cpu);
    size_t rest = count - for_cpu;
    if (rest > 1)
        qsort(processes + for_cpu, rest, sizeof(void *), by_peak);
    for (size_t i = 0; i < count; i++)
        processes[i]->is_kept = i < for_cpu + for_peak;
}

void process_ranking_replace_parent(struct process *process)
{
    while (process->parent && !process->parent->is_kept && !process->parent->is_main)
        process->parent = process->parent->parent;
}

void process_ranking_sort(struct process **processes, size_t count)
{
    if (count > 1)
        qsort(processes, count, sizeof(void *), by_number);
}
