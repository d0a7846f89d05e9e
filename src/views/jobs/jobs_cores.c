/* Cores that ranks may use, alone and together. Ranks, pods or elements that may each use a
 * whole machine have no more than that machine together. */
#include "views/jobs/jobs.h"

#include "base/cleanup.h"
#include "base/number.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>

/* No machine has more CPUs. */
#define MAX_CPUS 8192

/* Counts the CPUs, each once, that the ranks on the machine with that clock may run on. NaN:
 * unknown for one of them. */
static double count_cpus(const struct gput_jobs *jobs, size_t from, size_t count, size_t clock)
{
    uint64_t has[MAX_CPUS / 64] = {0};
    double sum = 0, first, last;
    for (size_t i = from; i < from + count; i++) {
        const char *at = jobs->ranks[i].cpus;
        if (jobs->machines[jobs->ranks[i].machine].clock != clock)
            continue;
        if (at[0] < '0' || at[0] > '9')
            return NAN;
        while (jobs_next_ranks(&at, &first, &last)) {
            for (double cpu = fmax(first, 0); cpu <= last && cpu < MAX_CPUS; cpu++)
                has[(size_t)cpu / 64] |= 1ull << ((size_t)cpu % 64);
        }
    }
    for (size_t i = 0; i < MAX_CPUS / 64; i++)
        sum += __builtin_popcountll(has[i]);
    return sum > 0 ? sum : NAN;
}

/*
 * Returns how many cores the ranks of a machine may use together: the union of the CPUs that they
 * are bound to, no more than a control group that they share allows, and no more than Slurm's
 * allocation.
 */
static double cores_of(const struct gput_jobs *jobs, size_t from, size_t count)
{
    const struct jobs_rank *first = &jobs->ranks[from];
    double sum = NAN, slurm = NAN, shared = NAN, highest = NAN;
    bool is_one_group = true;
    for (size_t i = from; i < from + count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (rank->is_retried && count > 1) /* its restarted session takes its place */
            continue;
        number_add_known(&sum, rank->cores);
        highest = fmax(highest, rank->cores);
        slurm = fmax(slurm, rank->slurm_cores);
        shared = fmax(shared, rank->shared_cores);
        is_one_group &= rank->cgroup == first->cgroup;
    }
    double cores = fmin(sum, count_cpus(jobs, from, count, jobs->machines[first->machine].clock));
    if (is_one_group)
        cores = fmin(cores, shared);
    cores = fmin(fmin(cores, slurm), first->system_cores);
    return fmax(cores, isnan(slurm) ? highest : NAN);
}

/* ---- Elements of an array, which have their cores while they run ---- */

struct change {
    double time, cores;
    struct jobs_rank *rank;
};

static int compare_changes(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    ORDER_BY(a->time, b->time);
    return ORDER(a->cores, b->cores);
}

/* Returns the core-seconds of elements that together have at most `most` cores at each moment.
 * Sets `share_cores` of each to its mean share of them. */
static double add_over_time(struct change *changes, size_t count, double most)
{
    double core_seconds = NAN, cores = 0, parts = 0; /* in seconds */
    qsort(changes, count, sizeof *changes, compare_changes);
    for (size_t i = 0; i < count; i++) {
        struct jobs_rank *rank = changes[i].rank;
        if (changes[i].cores > 0)
            rank->share_cores = parts;
        else
            rank->share_cores = (parts - rank->share_cores) / rank->seconds * -changes[i].cores;
        if (i + 1 == count)
            break;
        cores += changes[i].cores;
        double seconds = changes[i + 1].time - changes[i].time, had = fmin(cores, most);
        number_add_known(&core_seconds, had * seconds);
        parts += cores > had ? had / cores * seconds : seconds;
    }
    return core_seconds;
}

/* Returns the core-seconds of the ranks on the machine with that clock. */
static double core_seconds_of(struct gput_jobs *jobs, size_t first, size_t count, size_t clock)
{
    size_t n_changes = 0;
    double most = count_cpus(jobs, first, count, clock), system = NAN;
    CLEANUP_FREE struct change *changes = calloc(2 * count, sizeof *changes);
    jobs->failed |= !changes;
    for (size_t i = first; changes && i < first + count; i++) {
        struct jobs_rank *rank = &jobs->ranks[i];
        double cores = cores_of(jobs, i, 1), start = isnan(rank->start) ? 0 : rank->start;
        if (jobs->machines[rank->machine].clock != clock || !(rank->seconds > 0) || !(cores > 0))
            continue;
        changes[n_changes++] = (struct change){start, cores, rank};
        changes[n_changes++] = (struct change){start + rank->seconds, -cores, rank};
        system = fmax(system, rank->system_cores);
    }
    return changes ? add_over_time(changes, n_changes, fmin(most, system)) : NAN;
}

/* Adds the cores of a job whose elements have theirs while they run. `cores` of a machine is a
 * mean. */
static void add_elements(struct gput_jobs *jobs, struct jobs_job *job)
{
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        struct jobs_machine *machine = &jobs->machines[i];
        double had = core_seconds_of(jobs, machine->first, machine->count, machine->clock);
        machine->cores = machine->seconds > 0 ? had / machine->seconds : NAN;
    }
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        if (jobs->machines[i].clock ==
            i) /* after the machines: shares count all elements with that clock */
            number_add_known(&job->core_seconds, core_seconds_of(jobs, job->first, job->count, i));
    }
}

/* ---- Ranks, which have theirs together ---- */

/* Returns how many ranks of a machine run at once: a restarted rank counts once. */
static double places_of(const struct gput_jobs *jobs, const struct jobs_machine *machine)
{
    double count = 0;
    for (size_t i = machine->first; i < machine->first + machine->count; i++)
        count += !jobs->ranks[i].is_retried;
    return fmax(count, 1);
}

/* Adds the cores of the machines with one clock, which are one machine. */
static void add_clock(struct gput_jobs *jobs, struct jobs_job *job, size_t clock)
{
    double own = NAN, system = NAN;
    for (size_t i = clock; i < job->first_machine + job->n_machines; i++) {
        const struct jobs_machine *machine = &jobs->machines[i];
        if (machine->clock != clock)
            continue;
        number_add_known(&own, machine->cores);
        system = fmax(system, jobs->ranks[machine->first].system_cores);
    }
    double cores = fmin(fmin(own, system), count_cpus(jobs, job->first, job->count, clock));
    number_add_known(&job->cores, cores);
    for (size_t i = job->first; i < job->first + job->count; i++) {
        struct jobs_rank *rank = &jobs->ranks[i];
        const struct jobs_machine *machine = &jobs->machines[rank->machine];
        double share = cores / own * machine->cores / places_of(jobs, machine);
        if (machine->clock == clock)
            rank->share_cores = fmin(rank->cores, share);
    }
}

void jobs_add_cores(struct gput_jobs *jobs, struct jobs_job *job)
{
    job->cores = job->core_seconds = NAN;
    if (job->is_array || job->is_list) {
        add_elements(jobs, job);
        return;
    }
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        struct jobs_machine *machine = &jobs->machines[i];
        machine->cores = cores_of(jobs, machine->first, machine->count);
    }
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        if (jobs->machines[i].clock == i)
            add_clock(jobs, job, i);
    }
}
