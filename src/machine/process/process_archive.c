#include "machine/process/process_archive.h"

#include "machine/process/process_figures.h"
#include "machine/process/process_ranking.h"

#include <math.h>

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

static void mark_all(const struct process_table *table)
{
    for (struct process *process = process_table_first(table); process;
         process = process_table_next(table, process))
        process->is_kept = true;
}

static void replace_dropped_parents(
    const struct process_list *ended, const struct process_table *table)
{
    for (struct process *process = process_table_first(table); process;
         process = process_table_next(table, process))
        process_ranking_replace_parent(process);
    for (size_t i = 0; i < ended->count; i++)
        process_ranking_replace_parent(ended->processes[i]);
}

static void drop_lesser(struct process_archive *archive, const struct process_table *table)
{
    struct process_list *ended = &archive->kept;
    process_ranking_mark(ended->processes, ended->count, archive->max_kept);
    mark_all(table);
    replace_dropped_parents(ended, table);
    size_t kept = 0;
    for (size_t i = 0; i < ended->count; i++) {
        struct process *process = ended->processes[i];
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
