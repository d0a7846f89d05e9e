/* Files of one session: its results, its samples, copies of them, and what was kept so far. */
#include "views/jobs/jobs.h"

#include "base/cleanup.h"
#include "base/order.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int jobs_compare_numbers(double left, double right)
{
    if (isnan(left) || isnan(right))
        return isnan(left) - isnan(right);
    return ORDER(left, right);
}

void jobs_sort_ranks(struct gput_jobs *jobs, int (*compare)(const void *, const void *))
{
    if (jobs->n_ranks > 1)
        qsort(jobs->ranks, jobs->n_ranks, sizeof *jobs->ranks, compare);
}

static bool has_identity(const struct jobs_rank *rank)
{
    return rank->start_text[0] && rank->boot_id[0] && !isnan(rank->pid);
}

/* Orders sessions by their machine and process. */
static int compare_identity(const void *left, const void *right)
{
    const struct jobs_rank *a = left, *b = right;
    ORDER_BY_TEXT(a->boot_id, b->boot_id);
    ORDER_BY_RESULT(jobs_compare_numbers(a->pid, b->pid));
    ORDER_BY_TEXT(a->start_text, b->start_text);
    return strcmp(a->path, b->path);
}

static void fill_missing(double *figure, double other)
{
    if (isnan(*figure))
        *figure = other;
}

/* Raises figures to those of a later file. Results so far are written once a second, so samples
 * can be later and have the peak that ended the tracker. */
static void raise_to_later(struct jobs_rank *rank, const struct jobs_rank *from)
{
    rank->seconds = fmax(rank->seconds, from->seconds);
    rank->cpu_seconds = fmax(rank->cpu_seconds, from->cpu_seconds);
    rank->max_ram_bytes = fmax(rank->max_ram_bytes, from->max_ram_bytes);
    rank->ram_of_limit_bytes = fmax(rank->ram_of_limit_bytes, from->ram_of_limit_bytes);
    rank->max_gpu_ram_bytes = fmax(rank->max_gpu_ram_bytes, from->max_gpu_ram_bytes);
}

/* Completes `rank`, which is the better file, by figures that only `from` has. The file to show
 * becomes the one with samples. */
static void put_together(struct jobs_rank *rank, struct jobs_rank *from)
{
    if (!(rank->files & JOBS_SAMPLES) && (from->files & JOBS_SAMPLES)) {
        free(rank->report);
        rank->report = rank->path;
        rank->path = from->path;
        from->path = NULL;
    }
    if (rank->files == JOBS_KEPT)
        raise_to_later(rank, from);
    rank->files |= from->files;
    if (rank->samples_hash == 0) {
        rank->samples_hash = from->samples_hash;
        rank->first_row = from->first_row;
    }
    fill_missing(&rank->samples, from->samples);
    rank->rows_lost = fmax(rank->rows_lost, from->rows_lost);
    rank->missing_seconds = fmax(rank->missing_seconds, from->missing_seconds);
    fill_missing(&rank->end, from->end);
    fill_missing(&rank->exit_status, from->exit_status);
    fill_missing(&rank->signal, from->signal);
    fill_missing(&rank->seconds, from->seconds);
    fill_missing(&rank->cpu_seconds, from->cpu_seconds);
    fill_missing(&rank->mpi_seconds, from->mpi_seconds);
    if (isnan(rank->time_went.seconds))
        rank->time_went = from->time_went;
    fill_missing(&rank->system_busy_cores, from->system_busy_cores);
    rank->ram_is_at_least &= from->ram_is_at_least || isnan(from->max_ram_bytes);
    if (isnan(rank->max_ram_bytes)) {
        rank->ram_is_at_least = from->ram_is_at_least;
        rank->max_ram_bytes = from->max_ram_bytes;
        rank->ram_of_limit_bytes = from->ram_of_limit_bytes;
    }
    fill_missing(&rank->max_gpu_ram_bytes, from->max_gpu_ram_bytes);
    fill_missing(&rank->read_bytes, from->read_bytes);
    fill_missing(&rank->written_bytes, from->written_bytes);
    fill_missing(&rank->gpu_percent, from->gpu_percent);
}

void jobs_drop_empty(struct gput_jobs *jobs)
{
    size_t kept = 0;
    for (size_t i = 0; i < jobs->n_ranks; i++) {
        if (jobs->ranks[i].path)
            jobs->ranks[kept++] = jobs->ranks[i];
    }
    jobs->n_ranks = kept;
}

/* True for two names of one file. Workflow engines publish files as links. */
static bool is_same_file(const char *path, const char *other)
{
    struct stat info, other_info;
    return stat(path, &info) == 0 && stat(other, &other_info) == 0 &&
           info.st_dev == other_info.st_dev && info.st_ino == other_info.st_ino;
}

/* A file and the session that it belongs to. */
struct part {
    size_t of, rank;
    unsigned kind;
    bool is_copy;
};

/* Orders files by session, the most complete one of each first. */
static int compare_parts(const void *left, const void *right)
{
    const struct part *a = left, *b = right;
    ORDER_BY(a->of, b->of);
    ORDER_BY(a->is_copy, b->is_copy);
    ORDER_BY(a->kind, b->kind);
    return ORDER(a->rank, b->rank);
}

/* Lists the files by the sessions that the catalogue says they are of. NULL without memory. */
static struct part *list_parts(const struct gput_jobs *jobs)
{
    CLEANUP_FREE struct catalogue_file *files = calloc(jobs->n_ranks + 1, sizeof *files);
    struct part *parts = calloc(jobs->n_ranks + 1, sizeof *parts);
    for (size_t i = 0; files && i < jobs->n_ranks; i++) {
        /* Describe the file of a rank to the catalogue. */
        catalogue_file_init(&files[i], jobs->ranks[i].path,
            (enum catalogue_kind)jobs->ranks[i].files, jobs->ranks[i].folder);
        bool has_samples = jobs->ranks[i].files == JOBS_SAMPLES;
        files[i].rank = jobs->ranks[i].rank;
        files[i].pid = jobs->ranks[i].pid;
        files[i].start = has_samples ? jobs->ranks[i].first_sample : jobs->ranks[i].start;
        files[i].end = jobs->ranks[i].start + jobs->ranks[i].seconds;
        files[i].first_sample = jobs->ranks[i].first_sample;
        files[i].has_ended = !isnan(jobs->ranks[i].end);
        files[i].extent = has_samples ? jobs->ranks[i].samples : jobs->ranks[i].seconds;
        files[i].first_row = jobs->ranks[i].first_row;
        files[i].hash = jobs->ranks[i].samples_hash;
        if (has_identity(&jobs->ranks[i]))
            text_fit(files[i].session, sizeof files[i].session, "%s %.0f %s",
                jobs->ranks[i].boot_id, jobs->ranks[i].pid, jobs->ranks[i].start_text);
    }
    if (!files || !parts || catalogue_unite(files, jobs->n_ranks, NULL) != GPUT_OK) {
        free(parts);
        return NULL;
    }
    for (size_t i = 0; i < jobs->n_ranks; i++)
        parts[i] = (struct part){files[i].of, i, files[i].kind, files[i].is_copy};
    if (jobs->n_ranks > 1)
        qsort(parts, jobs->n_ranks, sizeof *parts, compare_parts);
    return parts;
}

void jobs_unite_files(struct gput_jobs *jobs, size_t *alias)
{
    CLEANUP_FREE struct part *parts = list_parts(jobs);
    jobs->failed |= !parts;
    for (size_t i = 1, first = 0; parts && i < jobs->n_ranks; i++) {
        struct jobs_rank *rank = &jobs->ranks[parts[first].rank];
        struct jobs_rank *next = &jobs->ranks[parts[i].rank];
        if (parts[i].of != parts[first].of) {
            first = i;
            continue;
        }

        /* Exchange two files of a session if only `next` has an identity: the first file is the one
         * to keep. */
        if (!has_identity(rank) && has_identity(next)) {
            struct jobs_rank known = *next, longer = *rank;
            char *path = known.path;
            known.path = longer.path;
            longer.path = path;
            raise_to_later(&known, &longer);
            known.samples = longer.samples;
            *rank = known;
            *next = longer;
        }

        if (!(rank->files & next->files))
            put_together(rank, next);
        else if (!is_same_file(rank->path, next->path))
            jobs_add_finding(jobs, NAN, "twice", rank->path,
                "%s belongs to the same session as another file: it counts once", next->path);
        alias[next->machine] = rank->machine;
        free(next->path);
        free(next->report);
        next->path = next->report = NULL;
    }
    jobs_drop_empty(jobs);
    jobs_sort_ranks(jobs, compare_identity);

    /* A report has the figures of these seconds. */
    for (size_t i = 0; i < jobs->n_ranks; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (rank->missing_seconds > 0 && isnan(rank->cpu_seconds) && !(rank->files & JOBS_REPORT))
            jobs_add_finding(jobs, NAN, "damaged", NULL,
                "%s has no samples of the last %.1f s, so its CPU time is not known and its RAM "
                "may have been more",
                rank->path, rank->missing_seconds);
    }
}
