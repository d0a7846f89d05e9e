#include "process/process_archive.h"

#include "process/process_ranking.h"

#include <math.h>
#include <stdlib.h>

/* Slack above `max_kept`, so that few ends cause a new ranking. */
#define MIN_SLACK 64

/* Sums up a record that will not be kept. */
static void add_to_others(struct process_others *others, const struct process_record *record)
{
    others->count++;
    if (record->cpu_ns > 0)
        others->cpu_ns += record->cpu_ns;
    if (record->peak_rss_bytes > others->peak_rss_bytes)
        others->peak_rss_bytes = record->peak_rss_bytes;
    if (isnan(others->peak_gpu_ram_bytes) ||
        record->peak_gpu_ram_bytes > others->peak_gpu_ram_bytes)
        others->peak_gpu_ram_bytes = record->peak_gpu_ram_bytes;
    struct task_counts counts = process_record_counts(record);
    task_counts_add(&others->counts, &counts);
}

/* A record that is freed must not stay the parent of another. */
static void replace_parent(const struct process_archive *archive,
    const struct process_table *living, const struct process_record *gone)
{
    for (struct process_record *record = process_table_first(living); record;
         record = process_table_next(living, record)) {
        if (record->parent == gone)
            record->parent = gone->parent;
    }
    for (size_t i = 0; i < archive->kept.count; i++) {
        if (archive->kept.records[i]->parent == gone)
            archive->kept.records[i]->parent = gone->parent;
    }
}

static void mark_living(const struct process_table *living)
{
    for (struct process_record *record = process_table_first(living); record;
         record = process_table_next(living, record))
        record->is_kept = true;
}

static void replace_dropped_parents(
    const struct process_record_list *ended, const struct process_table *living)
{
    for (struct process_record *record = process_table_first(living); record;
         record = process_table_next(living, record))
        process_ranking_replace_parent(record);
    for (size_t i = 0; i < ended->count; i++)
        process_ranking_replace_parent(ended->records[i]);
}

static void drop_lesser(struct process_archive *archive, const struct process_table *living)
{
    struct process_record_list *ended = &archive->kept;
    process_ranking_mark(ended->records, ended->count, archive->max_kept);
    mark_living(living);
    replace_dropped_parents(ended, living);
    size_t kept = 0;
    for (size_t i = 0; i < ended->count; i++) {
        struct process_record *record = ended->records[i];
        if (record->is_kept || record->is_main) {
            ended->records[kept++] = record;
        } else {
            add_to_others(&archive->others, record);
            process_record_free(record);
        }
    }
    ended->count = kept;
}

void process_archive_add(struct process_archive *archive, const struct process_table *living,
    struct process_record *record, bool wanted)
{
    if (wanted && process_record_list_append(&archive->kept, record)) {
        if (archive->kept.count >= 2 * archive->max_kept + MIN_SLACK)
            drop_lesser(archive, living);
        return;
    }
    add_to_others(&archive->others, record);
    if (wanted)
        replace_parent(archive, living, record); /* no memory to keep it */
    process_record_free(record);
}

struct task_counts process_archive_counts(const struct process_archive *archive)
{
    struct task_counts sum = archive->others.counts;
    for (size_t i = 0; i < archive->kept.count; i++) {
        struct task_counts counts = process_record_counts(archive->kept.records[i]);
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
        process_record_free(archive->kept.records[i]);
    process_record_list_finish(&archive->kept);
}
