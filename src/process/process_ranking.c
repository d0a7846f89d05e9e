#include "process/process_ranking.h"

#include <math.h>
#include <stdlib.h>

static const struct process_record *at(const void *element)
{
    return *(struct process_record *const *)element;
}

static int by_cpu(const void *left, const void *right)
{
    int64_t a = at(left)->cpu_ns, b = at(right)->cpu_ns;
    return (a < b) - (a > b);
}

static double memory_of(const struct process_record *record)
{
    double gpu_bytes = record->peak_gpu_ram_bytes;
    return (double)record->peak_rss_bytes + (isnan(gpu_bytes) ? 0 : gpu_bytes);
}

static int by_peak(const void *left, const void *right)
{
    double a = memory_of(at(left)), b = memory_of(at(right));
    return (a < b) - (a > b);
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = at(left)->number, b = at(right)->number;
    return (a > b) - (a < b);
}

void process_ranking_mark(struct process_record **records, size_t count, size_t max_kept)
{
    size_t for_cpu = max_kept / 2 < count ? max_kept / 2 : count;
    size_t for_peak = max_kept < count ? max_kept - for_cpu : count - for_cpu;

    if (count > 1)
        qsort(records, count, sizeof(void *), by_cpu);
    size_t rest = count - for_cpu;
    if (rest > 1)
        qsort(records + for_cpu, rest, sizeof(void *), by_peak);
    for (size_t i = 0; i < count; i++)
        records[i]->is_kept = i < for_cpu + for_peak;
}

void process_ranking_replace_parent(struct process_record *record)
{
    while (record->parent && !record->parent->is_kept && !record->parent->is_main)
        record->parent = record->parent->parent;
}

void process_ranking_sort(struct process_record **records, size_t count)
{
    if (count > 1)
        qsort(records, count, sizeof(void *), by_number);
}
