/* Figures of machines and jobs. Figures of a whole machine count once, not once a rank. */
#include "views/jobs/jobs.h"

#include "base/cleanup.h"
#include "base/doubles.h"
#include "base/number.h"
#include "model/straggler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
        jobs_energy_of(jobs, machine->boot_id, machine->first, machine->count).joules;
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

/* True where this rank's end is unknown and another's is known: it ran longer than its files
 * say. */
static bool went_on(const struct jobs_job *job, const struct jobs_rank *rank)
{
    return jobs_is_unfinished(rank) && rank->start_text[0] &&
           job->unfinished < (double)job->present;
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
            values[count++] = went_on(job, rank) ? highest : value;
    }
    return values ? doubles_median(values, count) : NAN;
}

/* Finds the slowest and the busiest rank, and by how much they are above the median. */
static void find_slowest(const struct gput_jobs *jobs, struct jobs_job *job)
{
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
}

/* Compares the ranks of a job with each other. */
static void compare_ranks(struct gput_jobs *jobs, struct jobs_job *job)
{
    double highest = NAN;
    job->waited_seconds = NAN;
    find_slowest(jobs, job);
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

/* Adds up the figures of the machines of a job. */
static void add_machines(struct gput_jobs *jobs, struct jobs_job *job)
{
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
        struct jobs_energy energy = jobs_energy_of(jobs, machine->boot_id, job->first, job->count);
        number_add_known(&job->cpu_joules, energy.joules);
        machine->unread_seconds = energy.unread_seconds;
    }
    jobs_add_cores(jobs, job);
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        if (jobs->machines[i].clock == i)
            add_others(jobs, job, i);
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

/* Adds up the figures of the ranks of a job. */
static void add_ranks(struct gput_jobs *jobs, struct jobs_job *job)
{
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

void jobs_add_up(struct gput_jobs *jobs, struct jobs_job *job)
{
    count_ends(jobs, job);
    count_failed(jobs, job);
    add_machines(jobs, job);
    compare_ranks(jobs, job);
    jobs_add_gpus(jobs, job);
    add_ranks(jobs, job);
}
