/* Sorting: files of one session are put together, sessions become ranks of jobs. */
#include "fleet/fleet.h"

#include "base/array.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* No job has as many ranks. */
#define MAX_RANK 10000000.0
/* A rank that starts so long after another one of its machine has ended is of a later run. */
#define LATER_RUN_SECONDS 5.0

static int compare_numbers(double left, double right)
{
    if (isnan(left) || isnan(right))
        return isnan(left) - isnan(right);
    return (left > right) - (left < right);
}

/* ---- Files of one session ---- */

static bool has_identity(const struct fleet_rank *rank)
{
    return rank->start_text[0] && rank->boot_id[0] && !isnan(rank->pid);
}

static int compare_identity(const void *left, const void *right)
{
    const struct fleet_rank *a = left, *b = right;
    int order = strcmp(a->boot_id, b->boot_id);
    if (order == 0)
        order = compare_numbers(a->pid, b->pid);
    if (order == 0)
        order = strcmp(a->start_text, b->start_text);
    if (order == 0)
        order = (a->files > b->files) - (a->files < b->files);
    return order == 0 ? strcmp(a->path, b->path) : order;
}

static bool is_same_session(const struct fleet_rank *a, const struct fleet_rank *b)
{
    return has_identity(a) && has_identity(b) && strcmp(a->boot_id, b->boot_id) == 0 &&
           a->pid == b->pid && strcmp(a->start_text, b->start_text) == 0;
}

/* The samples of a copy have no identity next to them: those of one session are known by what they
 * have. */
static int compare_samples(const void *left, const void *right)
{
    const struct fleet_rank *a = left, *b = right;
    int order = (a->samples_hash > b->samples_hash) - (a->samples_hash < b->samples_hash);
    if (order == 0)
        order = has_identity(b) - has_identity(a);
    return order == 0 ? strcmp(a->path, b->path) : order;
}

static bool is_copy(const struct fleet_rank *rank, const struct fleet_rank *next)
{
    return next->files == FLEET_SAMPLES && !has_identity(next) && next->samples_hash != 0 &&
           next->samples_hash == rank->samples_hash &&
           !(rank->rank != next->rank && !isnan(next->rank));
}

static void take(double *figure, double other)
{
    if (isnan(*figure))
        *figure = other;
}

/* What `from` knows and `rank`, which is the better file, does not. The file to show is that with
 * samples. */
static void put_together(struct fleet_rank *rank, struct fleet_rank *from)
{
    if (!(rank->files & FLEET_SAMPLES) && (from->files & FLEET_SAMPLES)) {
        char *path = rank->path;
        rank->path = from->path;
        from->path = path;
    }
    rank->files |= from->files;
    if (rank->samples_hash == 0)
        rank->samples_hash = from->samples_hash;
    take(&rank->samples, from->samples);
    rank->rows_lost = fmax(rank->rows_lost, from->rows_lost);
    take(&rank->end, from->end);
    take(&rank->exit_status, from->exit_status);
    take(&rank->signal, from->signal);
    take(&rank->seconds, from->seconds);
    take(&rank->cpu_seconds, from->cpu_seconds);
    take(&rank->system_busy_cores, from->system_busy_cores);
    take(&rank->max_ram_bytes, from->max_ram_bytes);
    take(&rank->max_gpu_ram_bytes, from->max_gpu_ram_bytes);
    take(&rank->gpu_percent, from->gpu_percent);
}

/* Ranks that are put together leave gaps; figures of GPUs follow their ranks. */
static void drop_empty(struct gput_fleet *fleet)
{
    size_t kept = 0;
    for (size_t i = 0; i < fleet->n_ranks; i++) {
        if (fleet->ranks[i].path)
            fleet->ranks[kept++] = fleet->ranks[i];
    }
    fleet->n_ranks = kept;
}

static void unite(struct gput_fleet *fleet, size_t *alias,
    bool (*is_same)(const struct fleet_rank *, const struct fleet_rank *))
{
    for (size_t i = 1, at = 0; i < fleet->n_ranks; i++) {
        struct fleet_rank *rank = &fleet->ranks[at], *next = &fleet->ranks[i];
        if (!is_same(rank, next)) {
            at = i;
            continue;
        }
        if (rank->files & next->files)
            fleet_find(fleet, NAN, "twice", rank->path,
                "%s is of a session that another file is of, too: it counts once", next->path);
        put_together(rank, next);
        alias[next->machine] = rank->machine;
        free(next->path);
        next->path = NULL;
    }
    drop_empty(fleet);
}

/* ---- Jobs ---- */

/* The element of an array; the job's own id ends before it. NULL: it is none. */
static const char *element_of(const struct fleet_rank *rank)
{
    const char *line = strrchr(rank->job_id, '_');
    bool is_alone = isnan(rank->world_size) || rank->world_size == 1;
    return line && is_alone && line[1] && strspn(line + 1, "0123456789") == strlen(line + 1) ? line
                                                                                             : NULL;
}

static void name_job(const struct fleet_rank *rank, char *name, size_t size)
{
    const char *element = element_of(rank);
    bool has_step = rank->step[0] && strcmp(rank->launcher, "Slurm") == 0;
    if (element)
        text_fit(name, size, "%.*s (array)", (int)(element - rank->job_id), rank->job_id);
    else if (rank->job_id[0])
        text_fit(
            name, size, "%s%s%s", rank->job_id, has_step ? "." : "", has_step ? rank->step : "");
    else
        text_fit(name, size, "%s", rank->launcher[0] ? rank->launcher : "without a launcher");
}

static int compare_jobs(const void *left, const void *right)
{
    const struct fleet_rank *a = left, *b = right;
    char name[160], other[160];
    name_job(a, name, sizeof name);
    name_job(b, other, sizeof other);
    int order = strcmp(name, other);
    if (order == 0)
        order = compare_numbers(a->start, b->start);
    if (order == 0)
        order = compare_numbers(a->rank, b->rank);
    return order == 0 ? strcmp(a->path, b->path) : order;
}

/* What the current run of a job has. */
struct run {
    bool *ranks; /* owned; by number */
    size_t capacity;
    char name[160];
    size_t first, number; /* its first session; how many runs of that name were before it */
};

static bool has_rank(const struct run *run, double rank)
{
    return rank >= 0 && rank < (double)run->capacity && run->ranks[(size_t)rank];
}

static void note_rank(struct gput_fleet *fleet, struct run *run, double rank)
{
    if (!(rank >= 0 && rank < MAX_RANK))
        return;
    size_t needed = (size_t)rank + 1, before = run->capacity;
    if (needed > before) {
        if (!ARRAY_RESIZE(run->ranks, 2 * needed)) {
            fleet->failed = true;
            return;
        }
        run->capacity = 2 * needed;
        memset(run->ranks + before, 0, run->capacity - before);
    }
    run->ranks[(size_t)rank] = true;
}

/* Ranks start together: one that starts long after another one of its machine has ended does not
 * belong to it. */
static bool is_later_run(const struct gput_fleet *fleet, const struct run *run, size_t index)
{
    const struct fleet_rank *rank = &fleet->ranks[index];
    if (has_rank(run, rank->rank))
        return true;
    if (isnan(rank->world_size) || rank->world_size <= 1)
        return false;
    const struct fleet_rank *before = &fleet->ranks[run->first];
    return strcmp(before->boot_id, rank->boot_id) == 0 && rank->boot_id[0] &&
           rank->start - before->end > LATER_RUN_SECONDS;
}

static void begin_job(struct gput_fleet *fleet, struct run *run, size_t index, const char *name)
{
    bool is_next = fleet->n_jobs > 0 && strcmp(run->name, name) == 0;
    run->number = is_next ? run->number + 1 : 0;
    run->first = index;
    text_fit(run->name, sizeof run->name, "%s", name);
    if (run->ranks)
        memset(run->ranks, 0, run->capacity);
    if (!ARRAY_EXTEND(fleet->jobs, fleet->n_jobs)) {
        fleet->failed = true;
        return;
    }
    struct fleet_job *job = &fleet->jobs[fleet->n_jobs++];
    *job = (struct fleet_job){.first = index};
    if (run->number > 0)
        text_fit(job->name, sizeof job->name, "%s, run %zu", name, run->number + 1);
    else
        text_fit(job->name, sizeof job->name, "%s", name);
}

static void split_into_jobs(struct gput_fleet *fleet)
{
    struct run run = {0};
    char name[160];
    for (size_t i = 0; i < fleet->n_ranks && !fleet->failed; i++) {
        struct fleet_rank *rank = &fleet->ranks[i];
        const char *element = element_of(rank);
        name_job(rank, name, sizeof name);
        if (element)
            rank->rank = strtod(element + 1, NULL);
        if (fleet->n_jobs == 0 || strcmp(name, run.name) != 0 || is_later_run(fleet, &run, i))
            begin_job(fleet, &run, i, name);
        if (fleet->failed)
            break;
        note_rank(fleet, &run, rank->rank);
        rank->job = fleet->n_jobs - 1;
        fleet->jobs[rank->job].count++;
    }
    free(run.ranks);
}

/* ---- Machines ---- */

static int compare_machines(const void *left, const void *right)
{
    const struct fleet_rank *a = left, *b = right;
    int order = (a->job > b->job) - (a->job < b->job);
    if (order == 0)
        order = strcmp(a->node, b->node);
    if (order == 0)
        order = strcmp(a->boot_id, b->boot_id);
    if (order == 0)
        order = compare_numbers(a->rank, b->rank);
    return order == 0 ? strcmp(a->path, b->path) : order;
}

static void split_into_machines(struct gput_fleet *fleet)
{
    for (size_t i = 0; i < fleet->n_ranks && !fleet->failed; i++) {
        struct fleet_rank *rank = &fleet->ranks[i];
        const struct fleet_rank *before = i > 0 ? &fleet->ranks[i - 1] : NULL;
        if (!before || before->job != rank->job || strcmp(before->node, rank->node) != 0 ||
            strcmp(before->boot_id, rank->boot_id) != 0) {
            if (!ARRAY_EXTEND(fleet->machines, fleet->n_machines)) {
                fleet->failed = true;
                return;
            }
            fleet->machines[fleet->n_machines++] =
                (struct fleet_machine){.job = rank->job, .first = i};
            fleet->jobs[rank->job].n_machines++;
        }
        rank->machine = fleet->n_machines - 1;
        fleet->machines[rank->machine].count++;
    }
}

/* While ranks move, `machine` is the number that GPUs know a rank by. */
static size_t *number_ranks(struct gput_fleet *fleet)
{
    size_t *alias = calloc(fleet->n_ranks + 1, sizeof *alias);
    fleet->failed |= !alias;
    for (size_t i = 0; alias && i < fleet->n_ranks; i++)
        alias[i] = fleet->ranks[i].machine = i;
    return alias;
}

/* GPUs get the places that ranks have now. */
static void move_gpus(struct gput_fleet *fleet, const size_t *alias, size_t n_numbers)
{
    size_t *places = calloc(n_numbers + 1, sizeof *places);
    fleet->failed |= !places;
    for (size_t i = 0; places && i < fleet->n_ranks; i++)
        places[fleet->ranks[i].machine] = i;
    for (size_t i = 0; places && i < fleet->n_gpus; i++)
        fleet->gpus[i].rank = places[alias[fleet->gpus[i].rank]];
    free(places);
}

static void sort_ranks(struct gput_fleet *fleet, int (*compare)(const void *, const void *))
{
    if (fleet->n_ranks > 1)
        qsort(fleet->ranks, fleet->n_ranks, sizeof *fleet->ranks, compare);
}

void fleet_sort(struct gput_fleet *fleet)
{
    size_t n_numbers = fleet->n_ranks, *alias = number_ranks(fleet);
    if (!alias)
        return;
    sort_ranks(fleet, compare_identity);
    unite(fleet, alias, is_same_session);
    sort_ranks(fleet, compare_samples);
    unite(fleet, alias, is_copy);
    sort_ranks(fleet, compare_jobs);
    split_into_jobs(fleet);
    sort_ranks(fleet, compare_machines);
    move_gpus(fleet, alias, n_numbers);
    free(alias);
    size_t first = 0;
    for (size_t i = 0; i < fleet->n_jobs; i++) {
        fleet->jobs[i].first = first;
        first += fleet->jobs[i].count;
    }
    split_into_machines(fleet);
    for (size_t i = 0; i < fleet->n_machines; i++) {
        const struct fleet_rank *rank = &fleet->ranks[fleet->machines[i].first];
        fleet->machines[i].name = rank->node;
        fleet->machines[i].boot_id = rank->boot_id;
        fleet->machines[i].clock = rank->clock;
    }
}
