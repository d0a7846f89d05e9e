/* GPUs of a job, each once: ranks of one machine may see the same ones. */
#include "views/jobs/jobs.h"

#include "base/number.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A GPU as a rank saw it. Without a UUID it is named by its PCI address, which is unique on its
 * machine alone. */
struct seen {
    const char *machine, *uuid;
    const struct jobs_rank *rank;
    double joules, percent;
};

static int compare_seen(const void *left, const void *right)
{
    const struct seen *a = left, *b = right;
    ORDER_BY_TEXT(a->machine, b->machine);
    return strcmp(a->uuid, b->uuid);
}

static const char *machine_of(const struct jobs_rank *rank)
{
    return rank->boot_id[0] ? rank->boot_id : rank->node;
}

/* Returns the first GPU of that rank or a later one: GPUs are in the order of ranks. */
static size_t first_of(const struct gput_jobs *jobs, size_t rank)
{
    size_t low = 0, high = jobs->n_gpus;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (jobs->gpus[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Lists the GPUs that ranks of the job report, sorted by machine and UUID. NULL without memory.
 * */
static struct seen *list_seen(
    const struct gput_jobs *jobs, const struct jobs_job *job, size_t *count)
{
    size_t first = first_of(jobs, job->first), end = first_of(jobs, job->first + job->count);
    struct seen *seen = calloc(end - first + 1, sizeof *seen);
    *count = seen ? end - first : 0;
    for (size_t i = 0; i < *count; i++) {
        const struct jobs_gpu *gpu = &jobs->gpus[first + i];
        const struct jobs_rank *rank = &jobs->ranks[gpu->rank];
        seen[i] = (struct seen){machine_of(rank), gpu->uuid, rank, gpu->joules, gpu->percent};
    }
    if (*count > 1)
        qsort(seen, *count, sizeof *seen, compare_seen);
    return seen;
}

/* Unites the entries of each GPU, with its joules and its mean use while ranks ran. `spans` has
 * space for all entries. Returns the number of GPUs. */
static size_t unite(struct seen *seen, size_t count, struct span *spans)
{
    size_t kept = 0;
    for (size_t i = 0, next; i < count; i = next) {
        struct seen gpu = seen[i];
        double sum = 0, known = 0;
        for (next = i; next < count && compare_seen(&seen[i], &seen[next]) == 0; next++) {
            double seconds = seen[next].rank->seconds > 0 ? seen[next].rank->seconds : 0;
            spans[next - i] = jobs_span_of(seen[next].rank, seen[next].joules);
            sum += isnan(seen[next].percent) ? 0 : seen[next].percent * seconds;
            known += isnan(seen[next].percent) ? 0 : seconds;
        }
        gpu.joules = spans_sum_covered_once(spans, next - i);
        gpu.percent = known > 0 ? sum / known : NAN;
        seen[kept++] = gpu;
    }
    return kept;
}

/* Counts the GPUs of ranks that have only samples, which do not name GPUs: at most those of the
 * machine that `listed` leaves. */
static double count_unlisted(
    const struct gput_jobs *jobs, const struct jobs_machine *machine, double listed)
{
    double sum = 0, all = NAN;
    for (size_t i = machine->first; i < machine->first + machine->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        all = fmax(all, rank->system_gpus);
        if (rank->gpus > 0 && first_of(jobs, i) == first_of(jobs, i + 1))
            sum += rank->gpus;
    }
    return fmax(0, fmin(sum, all - listed));
}

/* Returns the mean use of a machine's GPUs, from the means of its ranks. */
static double mean_of_ranks(const struct gput_jobs *jobs, const struct jobs_machine *machine)
{
    double sum = 0, gpus = 0;
    for (size_t i = machine->first; i < machine->first + machine->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (rank->gpus > 0 && !isnan(rank->gpu_percent)) {
            sum += rank->gpu_percent * rank->gpus;
            gpus += rank->gpus;
        }
    }
    return gpus > 0 ? sum / gpus : NAN;
}

/* A weighted mean over GPUs, being added up. */
struct means {
    double sum, count;
};

static void add_mean(struct means *means, double percent, double count)
{
    means->sum += isnan(percent) ? 0 : percent * count;
    means->count += isnan(percent) ? 0 : count;
}

/* Adds GPUs of machines whose ranks list none. */
static void add_unlisted(const struct gput_jobs *jobs, struct jobs_job *job,
    const struct seen *seen, size_t count, struct means *means)
{
    const struct jobs_machine *machine = &jobs->machines[jobs->ranks[job->first].machine];
    for (size_t i = 0; i < job->n_machines; i++, machine++) {
        const char *name = machine_of(&jobs->ranks[machine->first]);
        double listed = 0;
        for (size_t j = 0; j < count; j++)
            listed += strcmp(seen[j].machine, name) == 0;
        double unlisted = count_unlisted(jobs, machine, listed);
        job->gpus += unlisted;
        add_mean(means, mean_of_ranks(jobs, machine), unlisted);
    }
}

/* True where the driver did not tell a rank in time how many GPUs it has. */
static bool some_is_unknown(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    for (size_t i = job->first; i < job->first + job->count; i++)
        if (isnan(jobs->ranks[i].gpus))
            return true;
    return false;
}

void jobs_add_gpus(struct gput_jobs *jobs, struct jobs_job *job)
{
    size_t count;
    struct means means = {0};
    struct seen *seen = list_seen(jobs, job, &count);
    struct span *spans = calloc(count + 1, sizeof *spans);
    jobs->failed |= !seen || !spans;
    count = seen && spans ? unite(seen, count, spans) : 0;
    free(spans);
    job->gpus = (double)count;
    job->gpu_joules = NAN;
    for (size_t i = 0; i < count; i++) {
        number_add_known(&job->gpu_joules, seen[i].joules);
        add_mean(&means, seen[i].percent, 1);
    }
    add_unlisted(jobs, job, seen, count, &means);
    if (job->gpus == 0 && some_is_unknown(jobs, job))
        job->gpus = NAN;
    job->gpu_percent = means.count > 0 ? means.sum / means.count : NAN;
    free(seen);
}
