/* Figures of machines and jobs. Figures of a whole machine count once, not once a rank. */
#include "views/jobs/jobs.h"

#include "base/cleanup.h"
#include "base/doubles.h"
#include "base/number.h"
#include "base/order.h"
#include "model/straggler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- GPUs ---- */

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

/* True where the driver did not tell a rank in time how many GPUs it has. */
static bool some_is_unknown(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    for (size_t i = job->first; i < job->first + job->count; i++)
        if (isnan(jobs->ranks[i].gpus))
            return true;
    return false;
}

/* Adds up the GPUs that the ranks of a job see. */
static void add_gpus(struct gput_jobs *jobs, struct jobs_job *job)
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

    /* Add GPUs of machines whose ranks list none. */
    const struct jobs_machine *machine = &jobs->machines[jobs->ranks[job->first].machine];
    for (size_t i = 0; i < job->n_machines; i++, machine++) {
        const char *name = machine_of(&jobs->ranks[machine->first]);
        double listed = 0;
        for (size_t j = 0; j < count; j++)
            listed += strcmp(seen[j].machine, name) == 0;

        /* Count the GPUs of ranks that have only samples, which do not name GPUs: at most those of
         * the machine that `listed` leaves. */
        double sum = 0, all = NAN;
        for (size_t k = machine->first; k < machine->first + machine->count; k++) {
            const struct jobs_rank *rank = &jobs->ranks[k];
            all = fmax(all, rank->system_gpus);
            if (rank->gpus > 0 && first_of(jobs, k) == first_of(jobs, k + 1))
                sum += rank->gpus;
        }
        double unlisted = fmax(0, fmin(sum, all - listed));

        job->gpus += unlisted;
        add_mean(&means, mean_of_ranks(jobs, machine), unlisted);
    }

    if (job->gpus == 0 && some_is_unknown(jobs, job))
        job->gpus = NAN;
    job->gpu_percent = means.count > 0 ? means.sum / means.count : NAN;
    free(seen);
}

/* ---- Cores ---- */

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

/* ---- Ranks, which have theirs together ---- */

/* Returns how many ranks of a machine run at once: a restarted rank counts once. */
static double places_of(const struct gput_jobs *jobs, const struct jobs_machine *machine)
{
    double count = 0;
    for (size_t i = machine->first; i < machine->first + machine->count; i++)
        count += !jobs->ranks[i].is_retried;
    return fmax(count, 1);
}

/* Computes the cores of a job, its machines and its ranks. `seconds` of machines
 * must be set. */
static void add_cores(struct gput_jobs *jobs, struct jobs_job *job)
{
    job->cores = job->core_seconds = NAN;
    if (job->is_array || job->is_list) {
        /* Add the cores of a job whose elements have theirs while they run. `cores` of a machine is
         * a mean. */
        for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
            struct jobs_machine *machine = &jobs->machines[i];
            double had = core_seconds_of(jobs, machine->first, machine->count, machine->clock);
            machine->cores = machine->seconds > 0 ? had / machine->seconds : NAN;
        }
        for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
            if (jobs->machines[i].clock ==
                i) /* after the machines: shares count all elements with that clock */
                number_add_known(
                    &job->core_seconds, core_seconds_of(jobs, job->first, job->count, i));
        }
        return;
    }
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        struct jobs_machine *machine = &jobs->machines[i];
        machine->cores = cores_of(jobs, machine->first, machine->count);
    }
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        if (jobs->machines[i].clock == i) {
            /* Add the cores of the machines with one clock, which are one machine. */
            double own = NAN, system = NAN;
            for (size_t k = i; k < job->first_machine + job->n_machines; k++) {
                const struct jobs_machine *machine = &jobs->machines[k];
                if (machine->clock != i)
                    continue;
                number_add_known(&own, machine->cores);
                system = fmax(system, jobs->ranks[machine->first].system_cores);
            }
            double cores = fmin(fmin(own, system), count_cpus(jobs, job->first, job->count, i));
            number_add_known(&job->cores, cores);
            for (size_t k = job->first; k < job->first + job->count; k++) {
                struct jobs_rank *rank = &jobs->ranks[k];
                const struct jobs_machine *machine = &jobs->machines[rank->machine];
                double share = cores / own * machine->cores / places_of(jobs, machine);
                if (machine->clock == i)
                    rank->share_cores = fmin(rank->cores, share);
            }
        }
    }
}

/* ---- Energy ---- */

struct jobs_energy {
    double joules, unread_seconds; /* read by its ranks; in which ranks ran and none read them */
};

/* Returns when a rank read the counters. A rank that takes over from another reads them until it
 * ends. */
static struct span reading_of(const struct jobs_rank *rank)
{
    struct span span = jobs_span_of(rank, rank->machine_joules);
    if (rank->node_seconds <= 0)
        span.value = NAN;
    else if (!isinf(span.end) && rank->node_seconds < rank->seconds)
        span.start = span.end - rank->node_seconds;
    return span;
}

/* Returns for how long ranks ran and none read the counters. NaN: not known. */
static double unread_seconds(
    struct span *readings, size_t n_readings, struct span *all, size_t n_all)
{
    size_t count = 0;
    for (size_t i = 0; i < n_readings; i++) {
        if (!isnan(readings[i].value))
            readings[count++] = readings[i];
    }
    for (size_t i = 0; i < count; i++) {
        if (isinf(readings[i].end))
            return NAN;
    }
    return count > 0
               ? fmax(0, spans_covered_seconds(all, n_all) - spans_covered_seconds(readings, count))
               : NAN;
}

/* Returns the joules of a machine's CPU and DRAM that `count` ranks from `first` on read, and for
 * how long none of them read the counters. Trackers of its ranks take turns in reading them, or
 * each reads them. */
static struct jobs_energy energy_of(
    struct gput_jobs *jobs, const char *boot_id, size_t first, size_t count)
{
    struct jobs_energy energy = {NAN, NAN};
    size_t n_readings = 0, n_all = 0;
    CLEANUP_FREE struct span *readings = calloc(count + 1, sizeof *readings);
    CLEANUP_FREE struct span *all = calloc(count + 1, sizeof *all);
    jobs->failed |= !readings || !all;
    for (size_t i = first; readings && all && i < first + count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (strcmp(rank->boot_id, boot_id) != 0)
            continue;
        readings[n_readings++] = reading_of(rank);
        struct span span = jobs_span_of(rank, NAN);
        if (!isinf(span.end))
            all[n_all++] = span;
    }
    if (readings && all) {
        energy.joules = spans_sum_covered_once(readings, n_readings);
        energy.unread_seconds = unread_seconds(readings, n_readings, all, n_all);
    }
    return energy;
}

/* If no rank uses more cores, the ranks do not wait for each other's computation. */
#define IDLE_CORES 0.1
/* A smaller share of waiting cannot be told from its CPU use. */
#define MIN_WAITED 0.05

/* ---- Machines ---- */

static double peak_of(const struct jobs_rank *rank)
{
    return rank->max_ram_bytes;
}

static double of_limit(const struct jobs_rank *rank)
{
    return rank->ram_of_limit_bytes;
}

/* Returns the highest sum at one moment: peaks of ranks that ran one after the other do not add
 * up. */
static double highest_ram(struct gput_jobs *jobs, const struct jobs_machine *machine,
    double (*ram)(const struct jobs_rank *rank))
{
    CLEANUP_FREE struct span *spans = calloc(2 * machine->count, sizeof *spans);
    jobs->failed |= !spans;
    for (size_t i = 0; spans && i < machine->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[machine->first + i];
        spans[i] = jobs_span_of(rank, ram(rank));
    }
    return spans ? spans_highest_at_once(spans, machine->count) : NAN;
}

/* Returns how much RAM the ranks of a machine may use together: the smaller of Slurm's
 * allocation and the limit of a control group that they share. If each has a group of its own, it
 * is the sum. Slurm's allocation counts for each element of an array separately. NaN: no limit, or
 * one is unknown. */
static double allowed_ram_of(
    const struct gput_jobs *jobs, const struct jobs_job *job, const struct jobs_machine *machine)
{
    const struct jobs_rank *first = &jobs->ranks[machine->first];
    double slurm = NAN, group = NAN, sum = 0;
    bool is_one_group = true, has_group_twice = false;
    for (size_t i = machine->first; i < machine->first + machine->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        slurm = fmax(slurm, rank->slurm_ram_bytes);
        group = fmax(group, rank->group_ram_bytes);
        is_one_group &= rank->cgroup == first->cgroup;
        has_group_twice |= i > machine->first && rank->cgroup == rank[-1].cgroup;
        sum += rank->allowed_ram_bytes;
    }
    double shared = fmin(job->is_array ? NAN : slurm, is_one_group ? group : NAN);
    if (machine->count == 1)
        return fmin(shared, first->allowed_ram_bytes);
    bool are_apart = isnan(slurm) && !has_group_twice && !job->is_list;
    return isnan(shared) && are_apart ? sum : shared;
}

/* How busy the machines with one clock, which are one machine, were while ranks ran there. */
struct machine_use {
    double seconds;     /* time in which any rank ran */
    double cores;       /* cores that the ranks may use */
    double own, system; /* cores kept busy by ranks, and by all processes; NaN: not known */
};

/* Adds up how busy the machines with that clock were. */
static struct machine_use use_of(struct gput_jobs *jobs, const struct jobs_job *job, size_t clock)
{
    struct machine_use use = {.own = NAN, .system = NAN};
    CLEANUP_FREE struct span *spans = calloc(job->count, sizeof *spans);
    double cpu_seconds = NAN, system_seconds = NAN, known_seconds = NAN;
    size_t count = 0;
    jobs->failed |= !spans;
    for (size_t k = clock; spans && k < job->first_machine + job->n_machines; k++) {
        const struct jobs_machine *machine = &jobs->machines[k];
        if (machine->clock != clock)
            continue;
        use.cores += machine->cores;
        for (size_t i = machine->first; i < machine->first + machine->count; i++) {
            const struct jobs_rank *rank = &jobs->ranks[i];
            double system = rank->system_busy_cores * rank->seconds;
            spans[count++] = jobs_span_of(rank, NAN);
            number_add_known(&cpu_seconds, rank->cpu_seconds);
            number_add_known(&system_seconds, system);
            number_add_known(&known_seconds, isnan(system) ? NAN : rank->seconds);
        }
    }
    use.seconds = spans ? spans_covered_seconds(spans, count) : NAN;
    use.own = cpu_seconds / use.seconds;
    use.system = system_seconds / known_seconds;
    return use;
}

/* Adds the cores of the ranks that other programs kept busy: those used beyond the cores that
 * are not the ranks'. Means are over the time in which ranks ran, also where they ran one after the
 * other. */
static void add_others(struct gput_jobs *jobs, struct jobs_job *job, size_t clock)
{
    const struct jobs_machine *machine = &jobs->machines[clock];
    struct machine_use use = use_of(jobs, job, clock);
    double unused = jobs->ranks[machine->first].system_cores - use.cores;
    double others = fmax(use.system - use.own - fmax(unused, 0), 0);
    if (!(use.seconds > 0) || isinf(use.seconds))
        return;
    job->other_cores += others;
    job->busy_core_seconds += (use.own + others) * use.seconds;
    job->known_core_seconds += use.cores * (job->is_array ? machine->seconds : use.seconds);
}

/* Adds up the figures of the ranks of a machine. */
static void add_up_machine(
    struct gput_jobs *jobs, const struct jobs_job *job, struct jobs_machine *machine)
{
    double start = NAN, end = NAN;
    machine->cpu_seconds = NAN;
    for (size_t i = machine->first; i < machine->first + machine->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        number_add_known(&machine->cpu_seconds, rank->cpu_seconds);
        machine->ram_is_at_least |= rank->ram_is_at_least;
        start = fmin(start, rank->start);
        end = fmax(end, rank->start + rank->seconds);
    }
    machine->seconds = end - start;
    machine->max_ram_bytes = highest_ram(jobs, machine, peak_of);
    machine->ram_of_limit_bytes = highest_ram(jobs, machine, of_limit);
    machine->allowed_ram_bytes = allowed_ram_of(jobs, job, machine);
    machine->ram_percent = 100 * machine->ram_of_limit_bytes / machine->allowed_ram_bytes;
    machine->energy_joules =
        energy_of(jobs, machine->boot_id, machine->first, machine->count).joules;
}

/* ---- Ranks ---- */

/* Returns the time of all sessions of a rank for its last session; NaN for the earlier ones. */
static double seconds_of(const struct jobs_rank *rank)
{
    return rank->is_retried ? NAN : rank->seconds + rank->tried_seconds;
}

/* Returns the CPU time of all sessions of a rank for its last session; NaN for the earlier ones.
 * Work before a failure may have been repeated, so CPU times are comparable only if no rank, or
 * every rank, failed on the way. */
static double work_of(const struct jobs_job *job, const struct jobs_rank *rank)
{
    if (rank->is_retried || (rank->has_failed_try && !job->all_had_failed_tries))
        return NAN;
    return rank->cpu_seconds + rank->tried_cpu_seconds;
}

/* True where no rank's end is known: the job ran longer than its files say. */
static bool have_no_end(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (!rank->is_retried && !(jobs_is_unfinished(rank) && rank->start_text[0]))
            return false;
    }
    return true;
}

/* False where all ranks lack an end and their known times differ: their trackers were killed, so
 * which rank took longer is unknown. */
static bool are_comparable(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    double shortest = NAN, longest = NAN;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        shortest = fmin(shortest, seconds_of(&jobs->ranks[i]));
        longest = fmax(longest, seconds_of(&jobs->ranks[i]));
    }
    return !straggler_is_far(longest, shortest, STRAGGLER_SLOW_FACTOR) || !have_no_end(jobs, job);
}

/* Returns how long a rank waited for others: from its regions, or else from how much less CPU it
 * used than the busiest rank. NaN where it looks as busy: libraries of MPI and NCCL spin while they
 * wait. */
static double waited_of(const struct jobs_rank *rank, double highest_busy)
{
    bool is_rank = !isnan(rank->rank) || rank->ranks[0];
    if (!isnan(rank->mpi_seconds))
        return fmin(rank->mpi_seconds, rank->seconds);
    /* A rank cannot be busier than its share of cores. */
    double idle = 1 - rank->busy_cores / fmin(highest_busy, rank->share_cores);
    if (!(highest_busy > IDLE_CORES) || isnan(rank->busy_cores) || (is_rank && idle < MIN_WAITED))
        return NAN;
    return rank->seconds * fmax(0, idle);
}

/* Compares a rank with the others of its job. */
static void compare_rank(
    const struct gput_jobs *jobs, const struct jobs_job *job, size_t index, double highest_busy)
{
    struct jobs_rank *rank = &jobs->ranks[index];
    double seconds = seconds_of(rank), cpu = work_of(job, rank);
    rank->efficiency_percent = 100 * rank->busy_cores / rank->share_cores;
    if (job->count > 1 && !job->are_independent)
        rank->waited_seconds = waited_of(rank, highest_busy);
    /* The times at which ranks failed say nothing about their work. */
    if (job->all_failed || !job->are_comparable || job->is_list)
        return;
    rank->is_straggler = straggler_is(seconds, job->median_seconds, cpu, job->median_cpu_seconds);
}

/* Returns the longest time, or the most CPU time, of any rank. */
static double highest_of(const struct gput_jobs *jobs, const struct jobs_job *job, bool of_cpu)
{
    double highest = NAN;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        highest = fmax(highest, of_cpu ? work_of(job, rank) : seconds_of(rank));
    }
    return highest;
}

/* Returns the median of the ranks' times, or CPU times. Ranks that failed did not finish their
 * work, so they count only if all failed. A rank that ran on counts as the highest. */
static double median_of(const struct gput_jobs *jobs, const struct jobs_job *job, bool of_cpu)
{
    size_t count = 0;
    double highest = highest_of(jobs, job, of_cpu);
    CLEANUP_FREE double *values = calloc(job->count + 1, sizeof *values);
    for (size_t i = job->first; values && i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        double value = of_cpu ? work_of(job, rank) : seconds_of(rank);
        bool counts = job->all_failed || !jobs_has_failed(rank);
        if (!isnan(value) && counts)
            values[count++] = (jobs_is_unfinished(rank) && rank->start_text[0] &&
                                  job->unfinished < (double)job->present)
                                  ? highest
                                  : value;
    }
    return values ? doubles_median(values, count) : NAN;
}

/* Compares the ranks of a job with each other. */
static void compare_ranks(struct gput_jobs *jobs, struct jobs_job *job)
{
    double highest = NAN;
    job->waited_seconds = NAN;

    /* Find the slowest and the busiest rank, and by how much they are above the median. */
    job->slowest_seconds = job->busiest_cpu_seconds = job->slowest_rank = job->busiest_rank = NAN;
    job->median_seconds = median_of(jobs, job, false);
    job->median_cpu_seconds = median_of(jobs, job, true);
    for (size_t i = job->first; i < job->first + job->count; i++) {
        double seconds = seconds_of(&jobs->ranks[i]), cpu = work_of(job, &jobs->ranks[i]);
        if (!(seconds <= job->slowest_seconds) && !isnan(seconds)) {
            job->slowest_seconds = seconds;
            job->slowest_rank = jobs->ranks[i].rank;
        }
        if (!(cpu <= job->busiest_cpu_seconds) && !isnan(cpu)) {
            job->busiest_cpu_seconds = cpu;
            job->busiest_rank = jobs->ranks[i].rank;
        }
    }
    double by_time = job->slowest_seconds / job->median_seconds - 1, by_cpu = NAN;
    if (job->busiest_cpu_seconds > job->median_cpu_seconds + STRAGGLER_MIN_SECONDS)
        by_cpu = job->busiest_cpu_seconds / job->median_cpu_seconds - 1;
    job->are_comparable = are_comparable(jobs, job);
    job->imbalance_percent = job->are_comparable ? 100 * fmax(by_time, by_cpu) : NAN;

    for (size_t i = job->first; i < job->first + job->count; i++) {
        struct jobs_rank *rank = &jobs->ranks[i];
        rank->busy_cores = rank->seconds > 0 ? rank->cpu_seconds / rank->seconds : NAN;
        highest = fmax(highest, rank->busy_cores);
    }
    for (size_t i = job->first; i < job->first + job->count; i++) {
        compare_rank(jobs, job, i, highest);
        number_add_known(&job->waited_seconds, jobs->ranks[i].waited_seconds);
    }
}

/* ---- The job ---- */

/* Counts the ranks of a session: "0-3,8" are five. NaN: the list was cut. */
static double count_ranks(const struct jobs_rank *rank)
{
    double count = isnan(rank->rank) ? 0 : 1, first, last;
    const char *at = rank->ranks;
    if (strlen(rank->ranks) == sizeof rank->ranks - 1)
        return NAN;
    while (jobs_next_ranks(&at, &first, &last))
        count += last - first + 1;
    return count;
}

/* Counts ranks by how they ended, and those that are missing. */
static void count_ends(const struct gput_jobs *jobs, struct jobs_job *job)
{
    bool has_rank = false, has_ranks_of_descendants = false;
    double known_ranks = 0;
    double world_size = NAN;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        world_size = fmax(world_size, rank->world_size);
        has_rank |= !isnan(rank->rank);
        known_ranks += count_ranks(rank);
        has_ranks_of_descendants |= rank->has_ranks_of_descendants;
        job->retried += rank->is_retried;
        job->unfinished += jobs_is_unfinished(rank) && !rank->is_retried;
    }
    job->world_size = world_size;
    job->known_ranks = has_ranks_of_descendants ? known_ranks : NAN;
    job->present = job->count - job->retried;
    if (has_rank && !has_ranks_of_descendants && world_size > (double)job->present)
        job->missing = world_size - (double)job->present;
}

/* Counts the ranks that failed. A restarted rank counts once if any of its sessions failed; a
 * restarted task only if its last one failed, because nothing waited for it. */
static void count_failed(const struct gput_jobs *jobs, struct jobs_job *job)
{
    job->all_failed = job->all_had_failed_tries = true;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        bool has_failed = jobs_has_failed(rank);
        if (rank->is_retried)
            continue;
        job->failed += has_failed || (rank->has_failed_try && !jobs_is_task(rank));
        job->all_failed &= has_failed;
        job->all_had_failed_tries &= rank->has_failed_try;
    }
}

/* Returns for how long at least one session of a job ran, without those whose clock is doubtful.
 * */
static double run_seconds_of(struct gput_jobs *jobs, const struct jobs_job *job)
{
    CLEANUP_FREE struct span *spans = calloc(2 * job->count + 1, sizeof *spans);
    size_t count = 0;
    jobs->failed |= !spans;
    for (size_t i = job->first; spans && i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (!isnan(rank->start + rank->seconds) && !jobs->machines[rank->machine].clock_is_doubtful)
            spans[count++] = jobs_span_of(rank, NAN);
    }
    return count > 0 ? spans_covered_seconds(spans, count) : NAN;
}

void jobs_add_up(struct gput_jobs *jobs, struct jobs_job *job)
{
    count_ends(jobs, job);
    count_failed(jobs, job);

    /* Add up the figures of the machines of a job. */
    job->cpu_seconds = job->max_ram_bytes = job->cpu_joules = NAN;
    job->ram_percent = job->machine_ram_bytes = job->allowed_ram_bytes = NAN;
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        struct jobs_machine *machine = &jobs->machines[i];
        add_up_machine(jobs, job, machine);
        if (machine->ram_percent > job->ram_percent || isnan(job->ram_percent)) {
            job->ram_percent = machine->ram_percent;
            job->machine_ram_bytes = machine->ram_of_limit_bytes;
            job->allowed_ram_bytes = machine->allowed_ram_bytes;
            job->fullest = machine->name;
        }
        number_add_known(&job->cpu_seconds, machine->cpu_seconds);
        machine->unread_seconds = NAN;
        if (machine->clock != i) /* machines with one boot id are one: its joules count once */
            continue;
        struct jobs_energy energy = energy_of(jobs, machine->boot_id, job->first, job->count);
        number_add_known(&job->cpu_joules, energy.joules);
        machine->unread_seconds = energy.unread_seconds;
    }
    add_cores(jobs, job);
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        if (jobs->machines[i].clock == i)
            add_others(jobs, job, i);
    }

    compare_ranks(jobs, job);
    add_gpus(jobs, job);

    /* Add up the figures of the ranks of a job. */
    double end = NAN;
    bool has_all_cpu = true;
    job->start = job->max_gpu_ram_bytes = job->energy_joules = job->time_limit_seconds = NAN;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (!jobs->machines[rank->machine].clock_is_doubtful) {
            job->start = fmin(job->start, rank->start);
            end = fmax(end, rank->start + rank->seconds);
        }
        job->ram_is_at_least |= rank->ram_is_at_least;
        job->time_limit_seconds = fmax(job->time_limit_seconds, rank->time_limit_seconds);
        if (!job->user || !job->user[0])
            job->user = rank->user;
        if (!job->command || !job->command[0])
            job->command = rank->command;
        if (!job->job_name || !job->job_name[0])
            job->job_name = rank->job_name;
        has_all_cpu &= !(isnan(rank->cpu_seconds) && rank->seconds > 0);
        job->max_ram_bytes = fmax(job->max_ram_bytes, rank->max_ram_bytes);
        job->max_gpu_ram_bytes = fmax(job->max_gpu_ram_bytes, rank->max_gpu_ram_bytes);
    }
    job->seconds = fmax(end - job->start, job->slowest_seconds);
    number_add_known(&job->energy_joules, job->cpu_joules);
    number_add_known(&job->energy_joules, job->gpu_joules);
    job->run_seconds = run_seconds_of(jobs, job);
    if (job->is_list)
        job->cores = job->run_seconds > 0 ? job->core_seconds / job->run_seconds : NAN;
    else if (job->is_array)
        job->cores = job->seconds > 0 ? job->core_seconds / job->seconds : NAN;
    else
        job->core_seconds = job->cores * job->seconds;
    job->efficiency_percent = has_all_cpu ? 100 * job->cpu_seconds / job->core_seconds : NAN;
}
