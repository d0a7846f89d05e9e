#include "machine/process/process_archive.h"

#include "base/order.h"
#include "machine/process/process_figures.h"

#include <math.h>
#include <stdlib.h>

/* Slack above `max_kept`, so that few ends cause a new ranking. */
#define MIN_SLACK 64

/* Sums up a process that will not be kept. */
static void add_to_others(struct process_others *others, const struct process *process)
{
    others->count++;
    if (process->cpu_ns > 0)
        others->cpu_ns += process->cpu_ns;
    if (process->peak.rss_bytes > others->peak_rss_bytes)
        others->peak_rss_bytes = process->peak.rss_bytes;
    if (isnan(others->peak_gpu_ram_bytes) ||
        process->peak.gpu_ram_bytes > others->peak_gpu_ram_bytes)
        others->peak_gpu_ram_bytes = process->peak.gpu_ram_bytes;
    struct task_counts counts = process_counts(process);
    task_counts_add(&others->counts, &counts);
}

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

/* Marks about `max_kept` of them as kept: half for their CPU time, half for their peaks of RSS and
 * GPU RAM. Changes their order. */
static void mark_kept(struct process **processes, size_t count, size_t max_kept)
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

/* Replaces a parent that is not kept by the nearest ancestor that is. */
static void replace_parent(struct process *process)
{
    while (process->parent && !process->parent->is_kept && !process->parent->is_main)
        process->parent = process->parent->parent;
}

/* Frees those that are not worth keeping. */
static void drop_lesser(struct process_archive *archive, const struct process_table *table)
{
    struct process_list *ended = &archive->kept;
    struct process *process;
    mark_kept(ended->processes, ended->count, archive->max_kept);
    for (process = process_table_first(table); process;
         process = process_table_next(table, process))
        process->is_kept = true;
    for (process = process_table_first(table); process;
         process = process_table_next(table, process))
        replace_parent(process);
    for (size_t i = 0; i < ended->count; i++)
        replace_parent(ended->processes[i]);
    size_t kept = 0;
    for (size_t i = 0; i < ended->count; i++) {
        process = ended->processes[i];
        if (process->is_kept || process->is_main) {
            ended->processes[kept++] = process;
        } else {
            add_to_others(&archive->others, process);
            process_free(process);
        }
    }
    ended->count = kept;
}

void process_archive_add(struct process_archive *archive, struct process_table *table,
    struct process *process, bool wanted)
{
    if (wanted && !process_list_append(&archive->kept, process))
        return;
    if (!process->is_main)
        process_free_threads(process);
    process_table_remove(table, process);
    if (!wanted) {
        add_to_others(&archive->others, process);
        process_free(process);
    } else if (archive->kept.count >= 2 * archive->max_kept + MIN_SLACK) {
        drop_lesser(archive, table);
    }
}

struct task_counts process_archive_counts(const struct process_archive *archive)
{
    struct task_counts sum = archive->others.counts;
    for (size_t i = 0; i < archive->kept.count; i++) {
        struct task_counts counts = process_counts(archive->kept.processes[i]);
        task_counts_add(&sum, &counts);
    }
    return sum;
}

void process_archive_init(struct process_archive *archive, size_t max_kept)
{
    *archive =
        (struct process_archive){.max_kept = max_kept, .others = {.peak_gpu_ram_bytes = NAN}};
}

void process_archive_finish(struct process_archive *archive)
{
    for (size_t i = 0; i < archive->kept.count; i++)
        process_free(archive->kept.processes[i]);
    process_list_finish(&archive->kept);
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = at(left)->number, b = at(right)->number;
    return ORDER(a, b);
}

void process_list_sort(struct process **processes, size_t count)
{
    if (count > 1)
        qsort(processes, count, sizeof(void *), by_number);
}
