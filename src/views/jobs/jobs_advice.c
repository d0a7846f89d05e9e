/* The findings of a job, each with its evidence. */
#include "views/jobs/jobs.h"

#include "analysis/why/why_rules.h"
#include "analysis/why/why_shares.h"
#include "base/cleanup.h"
#include "base/human.h"
#include "base/order.h"
#include "base/text.h"
#include "model/straggler.h"
#include "views/output/missing_ranks.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of names in a sentence. */
#define MAX_NAMED 8

/* Where the time of all ranks of a job went, as far as it is known. */
struct jobs_walls {
    struct gput_wall sum; /* without its `samples` */
    size_t count;         /* number of ranks in the sum */
};

double jobs_cpu_wait_percent(const struct jobs_rank *rank)
{
    const struct gput_wall *wall = &rank->time_went;
    if (!(wall->seconds > 0))
        return NAN;
    return why_percent(wall, WALL_CPU) + why_percent(wall, WALL_QUOTA);
}

/* Returns where the time of a rank went. NULL if that is not known, or only for the last session
 * of a restarted rank. */
static const struct gput_wall *wall_of(const struct jobs_rank *rank)
{
    bool is_whole = !rank->is_retried && !(rank->tried_seconds > 0);
    return is_whole && why_is_telling(&rank->time_went) ? &rank->time_went : NULL;
}

/* Adds up where the time of the ranks of a job went. */
static struct jobs_walls add_walls(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    struct jobs_walls walls = {0};
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct gput_wall *wall = wall_of(&jobs->ranks[i]);
        if (!wall)
            continue;
        walls.count++;
        walls.sum.seconds += wall->seconds;
        for (int k = 0; k < WALL_CAUSE_COUNT; k++)
            walls.sum.seconds_of[k] += fmax(wall->seconds_of[k], 0); /* NaN: none */
    }
    return walls;
}

/* Returns the mean of the other ranks. `seconds` is 0 if nothing is known of them. */
static struct gput_wall mean_of_others(const struct jobs_walls *walls, const struct gput_wall *wall)
{
    struct gput_wall mean = {0};
    double n_others = (double)walls->count - 1;
    if (!(n_others > 0))
        return mean;
    mean.seconds = (walls->sum.seconds - wall->seconds) / n_others;
    for (int k = 0; k < WALL_CAUSE_COUNT; k++)
        mean.seconds_of[k] =
            fmax(walls->sum.seconds_of[k] - fmax(wall->seconds_of[k], 0), 0) / n_others;
    return mean;
}

/* Appends "waiting for a CPU for 41 % of its time (41 s), the others for 3 % (1.5 s)". */
static void write_share(const struct gput_wall *wall, const struct gput_wall *others,
    enum wall_cause cause, struct str *text)
{
    char own[HUMAN_SIZE], other[HUMAN_SIZE];
    str_printf(text, "%s for %.0f %% of its time (%s), the others for %.0f %% (%s)",
        why_word(cause), why_percent(wall, cause), human_seconds(wall->seconds_of[cause], own),
        why_percent(others, cause), human_seconds(others->seconds_of[cause], other));
}

/* Appends the cause that took more of this rank's time than of the others' time; nothing where
 * that is unknown. */
static void append_slower_cause(
    const struct jobs_rank *rank, const struct jobs_walls *walls, struct str *text)
{
    struct why_share shares[WALL_CAUSE_COUNT];
    const struct gput_wall *wall = wall_of(rank);
    struct gput_wall others = wall ? mean_of_others(walls, wall) : (struct gput_wall){0};
    size_t count = others.seconds > 0 ? why_shares(wall, shares) : 0;
    double most = STRAGGLER_MIN_SECONDS;
    enum wall_cause cause = WALL_UNKNOWN;
    for (size_t i = 0; i < count; i++) {
        enum wall_cause next = shares[i].cause;
        double more = wall->seconds_of[next] - others.seconds_of[next];
        bool is_sure = more > shares[i].half_width / 100 * wall->seconds;
        if (next == WALL_UNKNOWN || !is_sure || !(more > most))
            continue;
        most = more;
        cause = next;
    }
    if (cause == WALL_UNKNOWN)
        return;
    str_append(text, "; ");
    write_share(wall, &others, cause, text);
}

/* Returns the cause that holds a rank up, such as waiting for a CPU. WALL_UNKNOWN: none. */
static enum wall_cause cause_of_hold(const struct gput_wall *wall, const struct gput_wall *others)
{
    enum wall_cause cause = WALL_UNKNOWN;
    double most = 0;
    for (int i = 0; i < WALL_CAUSE_COUNT; i++) {
        enum wall_cause next = (enum wall_cause)i;
        double more = why_percent(wall, next) - why_percent(others, next);
        if (!(more > why_held_points(next) && more > most))
            continue;
        most = more;
        cause = next;
    }
    return cause;
}

/* Finds ranks that waited for a CPU, storage or memory far longer than the others. */
static void find_held(struct gput_jobs *jobs, const struct jobs_job *job)
{
    CLEANUP_STR struct str list = {0};
    size_t n_held = 0;
    struct jobs_walls walls = add_walls(jobs, job);
    for (size_t i = job->first; i < job->first + job->count && !job->is_list; i++) {
        char name[96], busy[HUMAN_SIZE];
        const struct jobs_rank *rank = &jobs->ranks[i];
        const struct gput_wall *wall = wall_of(rank);
        struct gput_wall others = wall ? mean_of_others(&walls, wall) : (struct gput_wall){0};
        enum wall_cause cause = others.seconds > 0 ? cause_of_hold(wall, &others) : WALL_UNKNOWN;
        if (cause == WALL_UNKNOWN || n_held++ >= MAX_NAMED)
            continue;
        jobs_name_rank(rank, name, sizeof name);
        str_printf(&list, "%s%s: ", n_held > 1 ? "; " : "", name);
        write_share(wall, &others, cause, &list);
        if (cause == WALL_CPU && rank->system_busy_cores > 0 && rank->system_cores > 0)
            str_printf(&list, ". All programs there used %s of %g cores",
                human_cores(rank->system_busy_cores, busy), rank->system_cores);
    }
    if (n_held > 0)
        jobs_add_finding(jobs, (double)(job - jobs->jobs), "held_ranks", str_text(&list),
            "%zu %s%s held up far longer than the others%s", n_held, job->noun,
            n_held > 1 ? "s were" : " was", job->are_independent ? "" : ", which may wait for it");
}

#define LOW_CPU_PERCENT 50.0
/* The job and other programs used so much of its cores that none were left. */
#define BUSY_PERCENT 90.0
#define LOW_GPU_PERCENT 15.0
#define LOW_RAM_PERCENT 25.0
#define HIGH_RAM_PERCENT 90.0
/* Pages that ranks share may count twice, so a sum slightly above the limit is still near it. */
#define EXCESS_RAM_PERCENT 105.0
#define IMBALANCE_PERCENT 20.0
#define WAITING_PERCENT 20.0
/* Shorter jobs get no advice. */
#define SHORT_SECONDS 2.0
/* A tracker needs a moment to start: shorter gaps are not reported. */
#define UNREAD_SECONDS 0.1
/* The usual maximum interval between results so far, and between samples. */
#define RECORDS_APART_SECONDS 2.0

#define FIND(kind, evidence, ...) jobs_add_finding(jobs, (double)index, kind, evidence, __VA_ARGS__)

static size_t end_of(const struct jobs_job *job)
{
    return job->first + job->count;
}

/* Begins the entry of a rank in a list: its name after "; ". Returns false once enough are
 * named. Counts the rank in any case. */
static bool begin_entry(const struct jobs_rank *rank, struct str *list, size_t *count)
{
    char name[96];
    if ((*count)++ >= MAX_NAMED)
        return false;
    jobs_name_rank(rank, name, sizeof name);
    str_printf(list, "%s%s", *count > 1 ? "; " : "", name);
    return true;
}

/* ---- Ranks that are missing, failed or unfinished ---- */

/* True where some rank ran on the machine of that number. */
static bool has_node(const struct gput_jobs *jobs, const struct jobs_job *job, double number)
{
    for (size_t i = 0; i < job->n_machines; i++) {
        if (jobs->ranks[jobs->machines[job->first_machine + i].first].node_rank == number)
            return true;
    }
    return false;
}

/* Appends which machines have no files, where the launcher says how many machines there are. */
static void say_missing_machines(
    const struct gput_jobs *jobs, const struct jobs_job *job, struct str *text)
{
    double expected = NAN, missing;
    size_t named = 0;
    bool are_numbered = true;
    for (size_t i = 0; i < job->n_machines; i++) {
        const struct jobs_rank *rank = &jobs->ranks[jobs->machines[job->first_machine + i].first];
        expected = fmax(expected, rank->node_count);
        are_numbered &= rank->node_rank >= 0;
    }
    missing = expected - (double)job->n_machines;
    if (!(missing > 0))
        return;
    str_printf(text, "; %.0f of %.0f machines have no files", missing, expected);
    for (double i = 0; i < expected && are_numbered && named < MAX_NAMED; i++) {
        if (!has_node(jobs, job, i))
            str_printf(text, "%s%.0f", named++ ? ", " : ": those with the numbers ", i);
    }
    str_append(text, are_numbered && (double)named < missing ? " and more" : "");
}

/* Finds ranks that have no file. */
static void find_missing(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    CLEANUP_STR struct str list = {0};
    CLEANUP_STR struct str evidence = {0};
    if (!(job->missing > 0))
        return;

    /* List the missing ranks of a job whose world size is known: "3, 7-9". */
    size_t count = 0;
    CLEANUP_FREE double *present = calloc(job->count, sizeof *present);
    for (size_t i = job->first; present && i < end_of(job); i++) {
        if (!isnan(jobs->ranks[i].rank))
            present[count++] = jobs->ranks[i].rank;
    }
    if (present)
        missing_ranks_list(present, count, job->world_size, &list);

    str_printf(&evidence, "the world size is %.0f, and there are files of %zu %s%s",
        job->world_size, job->present, job->noun, job->present > 1 ? "s" : "");
    say_missing_machines(jobs, job, &evidence);
    FIND("missing_ranks", str_text(&evidence), "%.0f %s%s missing: %s", job->missing, job->noun,
        job->missing > 1 ? "s are" : " is", str_text(&list));
}

static double end_of_rank(const struct jobs_rank *rank)
{
    return rank->start + rank->seconds;
}

static int compare_ends(const void *left, const void *right)
{
    const struct jobs_rank *const *a = left, *const *b = right;
    ORDER_BY_RESULT(jobs_compare_numbers(end_of_rank(*a), end_of_rank(*b)));
    return ORDER(*a, *b);
}

/* Lists the ranks that failed, sorted by their ends where those are known. The first to fail is
 * usually the cause: launchers then end the others. */
static const struct jobs_rank **list_failed(
    struct gput_jobs *jobs, const struct jobs_job *job, size_t *count, bool *are_in_order)
{
    const struct jobs_rank **failed = calloc(job->count, sizeof *failed);
    jobs->failed |= !failed;
    *count = 0;
    *are_in_order = true;
    for (size_t i = job->first; failed && i < end_of(job); i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (!jobs_has_failed(rank) || (rank->is_retried && jobs_is_task(rank)))
            continue;
        failed[(*count)++] = rank;
        *are_in_order &=
            !jobs->machines[rank->machine].clock_is_doubtful && !isnan(end_of_rank(rank));
    }
    if (*count > 1 && *are_in_order)
        qsort(failed, *count, sizeof *failed, compare_ends);
    return failed;
}

/* True where all ranks were restarted, as torchrun does when one fails: the next run continues
 * this one. */
static bool is_started_again(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    const struct jobs_job *next = job + 1;
    double restarts = 0, next_restarts = INFINITY;
    if (next == jobs->jobs + jobs->n_jobs || !next->is_next_run)
        return false;
    for (size_t i = job->first; i < end_of(job); i++)
        restarts = fmax(restarts, jobs->ranks[i].restarts);
    for (size_t i = next->first; i < end_of(next); i++)
        next_restarts = fmin(next_restarts, fmax(jobs->ranks[i].restarts, 0));
    return next_restarts > restarts &&
           strcmp(jobs->ranks[job->first].run, jobs->ranks[next->first].run) == 0;
}

/* Returns the first rank whose records stop, without an end, before `failed` ended: its tracker
 * was killed, and the launcher then ended the others by SIGTERM. Where `failed` ended
 * otherwise, the records must stop some time earlier, because they are a second apart. NULL:
 * there is none. */
static const struct jobs_rank *first_killed(
    const struct gput_jobs *jobs, const struct jobs_job *job, const struct jobs_rank *failed)
{
    const struct jobs_rank *first = NULL;
    bool is_by_launcher = failed->signal == SIGTERM || failed->exit_status == 128 + SIGTERM;
    double earliest = end_of_rank(failed) - (is_by_launcher ? 0 : RECORDS_APART_SECONDS);
    for (size_t i = job->first; i < end_of(job); i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        bool is_known = rank->start_text[0] && !jobs->machines[rank->machine].clock_is_doubtful;
        if (!is_known || !jobs_is_unfinished(rank) || !(end_of_rank(rank) < earliest))
            continue;
        first = rank;
        earliest = end_of_rank(rank);
    }
    return first;
}

/* Finds ranks that failed, and which one did so first. */
static void find_failed(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    size_t count;
    bool are_in_order;
    char name[96], end[JOBS_END_SIZE], first[160] = "";
    CLEANUP_STR struct str list = {0};
    const struct jobs_rank **failed = list_failed(jobs, job, &count, &are_in_order);
    bool has_order = count > 0 && are_in_order && !job->are_independent;
    const struct jobs_rank *killed = has_order ? first_killed(jobs, job, failed[0]) : NULL;
    if (killed || (has_order && job->failed > 1)) {
        jobs_name_rank(killed ? killed : failed[0], name, sizeof name);
        snprintf(
            first, sizeof first, ", %s first%s", name, killed ? ": its tracker was killed" : "");
    }
    for (size_t i = 0; i < count && i < MAX_NAMED; i++) {
        jobs_name_rank(failed[i], name, sizeof name);
        jobs_format_end(failed[i], end);
        str_printf(&list, "%s%s: %s%s", i > 0 ? "; " : "", name, end,
            failed[i]->is_retried ? ", and was started again" : "");
    }
    if (count > 0)
        FIND("failed_ranks", str_text(&list), "%.0f of %zu %ss failed%s%s", job->failed,
            job->present, job->session_noun, first,
            is_started_again(jobs, job) ? ". All were started again: the next run" : "");
    free(failed);
}

/* Finds ranks in which the kernel killed processes for lack of memory. */
static void find_out_of_memory(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    CLEANUP_STR struct str list = {0};
    size_t count = 0;
    for (size_t i = job->first; i < end_of(job); i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (rank->oom_killed > 0 && begin_entry(rank, &list, &count))
            str_printf(&list, ": %.0f, %s", rank->oom_killed, rank->oom_reason);
    }
    if (count > 0)
        FIND("out_of_memory", str_text(&list),
            "The kernel killed processes because memory ran out, in the control group%s of %zu "
            "%s%s: ask for more",
            count > 1 ? "s" : "", count, job->noun, count > 1 ? "s" : "");
}

/* Finds ranks whose end is not known. */
static void find_unfinished(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    CLEANUP_STR struct str list = {0};
    size_t named = 0;
    for (size_t i = job->first; i < end_of(job); i++) {
        char seconds[HUMAN_SIZE];
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (jobs_is_unfinished(rank) && !rank->is_retried && rank->start_text[0] &&
            begin_entry(rank, &list, &named))
            str_printf(&list, ": known for %s", human_seconds(rank->seconds, seconds));
    }
    if (named > 0)
        FIND("unfinished_ranks", str_text(&list),
            "The end of %zu %s%s is not known: still running, or the tracker was killed", named,
            job->noun, named > 1 ? "s" : "");
}

/* Finds ranks that have only a tracking file without samples, because it could not be written.
 * */
static void find_empty(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    CLEANUP_STR struct str list = {0};
    size_t named = 0;
    for (size_t i = job->first; i < end_of(job); i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (rank->files == JOBS_SAMPLES && rank->samples == 0 && named++ < MAX_NAMED)
            str_printf(&list, "%s%s", named > 1 ? ", " : "", rank->path);
    }
    if (named > 0)
        FIND("no_samples", str_text(&list),
            "Only a tracking file without samples was found for %zu %s%s", named, job->noun,
            named > 1 ? "s" : "");
}

/* Finds files that lack rows. */
static void find_lost_rows(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    CLEANUP_STR struct str list = {0};
    size_t count = 0;
    bool is_unknown = false;
    for (size_t i = job->first; i < end_of(job); i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        is_unknown |= (rank->rows_lost > 0 && rank->files == JOBS_SAMPLES && rank->ram_is_at_least);
        if (rank->rows_lost > 0 && begin_entry(rank, &list, &count))
            str_printf(&list, ": %.0f", rank->rows_lost);
    }
    if (count > 0)
        FIND("rows_lost", str_text(&list),
            "Rows of %zu tracking file%s could not be written: the disk was full, or did not "
            "keep "
            "up%s",
            count, count > 1 ? "s" : "",
            is_unknown ? ". CPU time and use of GPUs are not known where there is no report, and "
                         "RAM may have been more"
                       : "");
}

/* Finds ranks that different versions of gpu-tracker tracked. */
static void find_versions(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    const char *first = jobs->ranks[job->first].version;
    for (size_t i = job->first; i < end_of(job); i++) {
        char evidence[96];
        if (strcmp(jobs->ranks[i].version, first) == 0)
            continue;
        snprintf(evidence, sizeof evidence, "%s and %s", first[0] ? first : "one that is not known",
            jobs->ranks[i].version[0] ? jobs->ranks[i].version : "one that is not known");
        FIND("versions", evidence,
            "Ranks were tracked by different versions of gpu-tracker: figures that one of them "
            "lacks are missing");
        return;
    }
}

/* Finds machines whose counters no tracker read for a while. A tracker takes over from one that
 * ended within a second; joules of trackers that were killed, or that left no file, are missing
 * as well. */
static void find_unread_energy(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    CLEANUP_STR struct str list = {0};
    double sum = 0;
    size_t count = 0;
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        char unread[HUMAN_SIZE], seconds[HUMAN_SIZE];
        const struct jobs_machine *machine = &jobs->machines[i];
        if (!(machine->unread_seconds >= UNREAD_SECONDS))
            continue;
        sum += machine->unread_seconds;
        if (count++ < MAX_NAMED)
            str_printf(&list, "%s%s: %s of %s", count > 1 ? "; " : "", machine->name,
                human_seconds(machine->unread_seconds, unread),
                human_seconds(machine->seconds, seconds));
    }
    char all[HUMAN_SIZE];
    if (count > 0)
        FIND("unread_energy", str_text(&list),
            "Energy of CPUs and DRAM does not include %s during which no tracker read the "
            "counters "
            "of %zu machine%s",
            human_seconds(sum, all), count, count > 1 ? "s" : "");
}

/* ---- What was asked for ---- */

/* True where other jobs ran under its scheduler id, too. They share the allocation, so advice
 * is given for all of them together. */
static bool is_part(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    return job->allocation > 0 && jobs->allocations[job->allocation - 1].n_jobs > 1;
}

/* Finds jobs that were allocated more cores than they used. */
static void find_idle_cores(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    char evidence[160], used[HUMAN_SIZE], share[HUMAN_SIZE], others[HUMAN_SIZE];
    char cores[JOBS_CORES_SIZE];
    double busy = job->cpu_seconds / (job->is_list ? job->run_seconds : job->seconds);
    const char *what = job->is_list ? "session" : "job";
    if (is_part(jobs, job) || (job->is_list && job->count > 1) ||
        !(job->efficiency_percent < LOW_CPU_PERCENT) || job->seconds < SHORT_SECONDS ||
        !(job->cores > 1))
        return;
    const char *work = strcmp(job->noun, "session") == 0 ? "process" : job->noun;
    text_fit(evidence, sizeof evidence, "%s of CPU time in %.*f core-seconds that were allocated",
        human_seconds(job->cpu_seconds, used), job->core_seconds < 100 ? 1 : 0, job->core_seconds);
    if (job->busy_core_seconds > BUSY_PERCENT / 100 * job->known_core_seconds) {
        FIND("shared_cores", evidence, "The %s used %s of its %s (%s); others kept %s of them busy",
            what, human_cores(busy, used), jobs_format_cores(job->cores, cores),
            human_share(job->efficiency_percent, share), human_cores(job->other_cores, others));
        return;
    }
    FIND("idle_cores", evidence,
        "The %s kept %s of its %s busy (%s): ask for fewer, or run more "
        "%s%s or threads",
        what, human_cores(busy, used), jobs_format_cores(job->cores, cores),
        human_share(job->efficiency_percent, share), work,
        strcmp(work, "process") == 0 ? "es" : "s");
}

/* Finds the machine whose ranks came closest to a limit that they share. */
static void find_shared_ram(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    char evidence[192], sum[HUMAN_SIZE], limit[HUMAN_SIZE];
    const struct jobs_machine *highest = NULL;
    double percent = HIGH_RAM_PERCENT;
    for (size_t i = job->first_machine; i < job->first_machine + job->n_machines; i++) {
        const struct jobs_machine *machine = &jobs->machines[i];
        double used = machine->ram_percent;
        if (machine->count > 1 && used > percent) {
            percent = used;
            highest = machine;
        }
    }
    if (!highest)
        return;
    snprintf(evidence, sizeof evidence,
        "peaks of %zu %ss: %s of %s; %speaks need not coincide, and shared pages count for "
        "each",
        highest->count, job->session_noun, human_bytes(highest->ram_of_limit_bytes, sum),
        human_bytes(highest->allowed_ram_bytes, limit),
        highest->ram_is_at_least ? "" : "at most, for ");
    FIND("ram_short", evidence,
        "RAM may be nearly used up on %s (%.0f %% of what its %ss are allowed together): ask "
        "for "
        "more",
        highest->name, percent, job->session_noun);
}

/* Finds the rank that came closest to its own RAM limit, and jobs that requested far more RAM
 * than they used. */
static void find_ram(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    const struct jobs_rank *highest = NULL;
    char evidence[192], peak[HUMAN_SIZE], allowed[HUMAN_SIZE], name[96];
    for (size_t i = job->first; i < end_of(job); i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        double percent = rank->ram_of_limit_bytes / rank->allowed_ram_bytes;
        if (!isnan(percent) &&
            (!highest || percent > highest->ram_of_limit_bytes / highest->allowed_ram_bytes))
            highest = rank;
    }
    if (!highest)
        return;
    double percent = 100 * highest->ram_of_limit_bytes / highest->allowed_ram_bytes;
    jobs_name_rank(highest, name, sizeof name);
    snprintf(evidence, sizeof evidence, "%s of %s: %s",
        human_bytes(highest->ram_of_limit_bytes, peak),
        human_bytes(highest->allowed_ram_bytes, allowed), name);
    if (percent > EXCESS_RAM_PERCENT)
        FIND("ram_short", evidence,
            "More RAM was used than is allowed (%.0f %% of that): the limit was not enforced; "
            "ask "
            "for more",
            percent);
    else if (percent > HIGH_RAM_PERCENT)
        FIND("ram_short", evidence,
            "RAM is nearly used up (%.0f %% of what is allowed): ask for more", percent);
    else if (percent < LOW_RAM_PERCENT && job->seconds >= SHORT_SECONDS && job->count == 1 &&
             !highest->ram_is_at_least && !is_part(jobs, job))
        FIND("idle_ram", evidence, "%.0f %% of the RAM that is allowed was used: ask for less",
            percent);
}

/* Finds ranks that hardly used their GPUs. */
static void find_idle_gpus(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    CLEANUP_STR struct str list = {0};
    size_t named = 0;
    for (size_t i = job->first; i < end_of(job); i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (rank->gpus > 0 && rank->gpu_percent < LOW_GPU_PERCENT &&
            begin_entry(rank, &list, &named))
            str_printf(&list, ": %.0f %%", rank->gpu_percent);
    }
    if (named > 0 && job->seconds >= SHORT_SECONDS)
        FIND("idle_gpus", str_text(&list),
            "GPUs of %zu %s%s had little to do: check input and transfers, or ask for none", named,
            job->noun, named > 1 ? "s" : "");
}

/* Finds ranks whose number of GPUs is unknown because no driver answered. The GPUs of other
 * ranks are counted nevertheless. */
static void find_unknown_gpus(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    CLEANUP_STR struct str list = {0};
    size_t count = 0;
    for (size_t i = job->first; i < end_of(job); i++) {
        char name[96];
        if (!isnan(jobs->ranks[i].gpus) || count++ >= MAX_NAMED)
            continue;
        jobs_name_rank(&jobs->ranks[i], name, sizeof name);
        str_printf(&list, "%s%s", count > 1 ? ", " : "", name);
    }
    if (count > 0 && job->gpus > 0)
        FIND("unknown_gpus", str_text(&list),
            "How many GPUs %zu of %zu %ss had is not known: together they may have had more "
            "than "
            "%.0f",
            count, job->count, job->noun, job->gpus);
}

/* ---- Balance ---- */

/* Finds ranks that ran or worked far longer than the others. */
static void find_stragglers(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    CLEANUP_STR struct str list = {0};
    size_t named = 0;
    struct jobs_walls walls = add_walls(jobs, job);
    for (size_t i = job->first; i < end_of(job); i++) {
        char seconds[HUMAN_SIZE], cpu[HUMAN_SIZE];
        const struct jobs_rank *rank = &jobs->ranks[i];
        if (!rank->is_straggler || !begin_entry(rank, &list, &named))
            continue;
        str_printf(&list, ": %s, %s of CPU time",
            human_seconds(rank->seconds + rank->tried_seconds, seconds),
            human_seconds(rank->cpu_seconds + rank->tried_cpu_seconds, cpu));
        append_slower_cause(rank, &walls, &list);
    }
    if (named > 0)
        FIND("stragglers", str_text(&list), "%zu %s%s far longer than the others", named, job->noun,
            named > 1 ? "s ran or worked" : " ran or worked");
}

/* Writes " 7", or "" where ranks have no numbers. */
static const char *number_of(double rank, char text[24])
{
    text[0] = '\0';
    if (!isnan(rank))
        snprintf(text, 24, " %.0f", rank);
    return text;
}

/* Finds jobs whose work is uneven: the slowest or busiest rank is far above the median. */
static void find_imbalance(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    char evidence[256], slowest[HUMAN_SIZE], median[HUMAN_SIZE], busiest[HUMAN_SIZE],
        cpu[HUMAN_SIZE], slow_number[24], busy_number[24];
    if (job->count < 2 || job->are_independent || !(job->imbalance_percent > IMBALANCE_PERCENT) ||
        job->seconds < SHORT_SECONDS)
        return;
    snprintf(evidence, sizeof evidence,
        "slowest %s%s: %s, median %s; busiest %s%s: %s of CPU time, median %s", job->noun,
        number_of(job->slowest_rank, slow_number), human_seconds(job->slowest_seconds, slowest),
        human_seconds(job->median_seconds, median), job->noun,
        number_of(job->busiest_rank, busy_number), human_seconds(job->busiest_cpu_seconds, busiest),
        human_seconds(job->median_cpu_seconds, cpu));
    bool is_of_time =
        100 * (job->slowest_seconds / job->median_seconds - 1) >= job->imbalance_percent;
    FIND("imbalance", evidence, "Work is uneven: the %s %s needs %.0f %% more%s than the median",
        is_of_time ? "slowest" : "busiest", job->noun, job->imbalance_percent,
        is_of_time ? "" : " CPU time");
}

/* Finds the rank that waited for others the longest. */
static void find_waiting(struct gput_jobs *jobs, const struct jobs_job *job, size_t index)
{
    char evidence[192], name[96], most[HUMAN_SIZE];
    double sum = 0;
    const struct jobs_rank *longest = NULL;
    for (size_t i = job->first; i < end_of(job); i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        sum += isnan(rank->seconds) ? 0 : rank->seconds;
        if (!isnan(rank->waited_seconds) &&
            (!longest || rank->waited_seconds > longest->waited_seconds))
            longest = rank;
    }
    double percent = 100 * job->waited_seconds / sum;
    if (!longest || !(percent > WAITING_PERCENT) || job->seconds < SHORT_SECONDS)
        return;
    jobs_name_rank(longest, name, sizeof name);
    snprintf(evidence, sizeof evidence,
        isnan(longest->mpi_seconds)
            ? "the most: %s, %s; an estimate: time in which a %s used less CPU than the "
              "busiest one"
            : "the most: %s, %s; time in calls of MPI, by the regions of this %s",
        name, human_seconds(longest->waited_seconds, most), job->noun);
    FIND("waiting", evidence, "The %ss waited for about %.0f %% of their time", job->noun, percent);
}

void jobs_advise(struct gput_jobs *jobs, const struct jobs_job *job)
{
    size_t index = (size_t)(job - jobs->jobs);
    find_missing(jobs, job, index);
    if (job->overlaps_another_run)
        FIND("runs_at_once", "their launcher gave them no id that is known",
            "Another run of as many %ss went on at the same time: %ss were assigned to runs by "
            "their start times, and can be mixed up",
            job->noun, job->noun);

    find_failed(jobs, job, index);
    find_out_of_memory(jobs, job, index);
    find_unfinished(jobs, job, index);
    find_empty(jobs, job, index);
    find_lost_rows(jobs, job, index);
    find_versions(jobs, job, index);
    find_unread_energy(jobs, job, index);
    find_ram(jobs, job, index);
    find_shared_ram(jobs, job, index);
    find_idle_cores(jobs, job, index);
    find_idle_gpus(jobs, job, index);
    find_unknown_gpus(jobs, job, index);
    find_stragglers(jobs, job, index);
    find_held(jobs, job);
    find_imbalance(jobs, job, index);
    find_waiting(jobs, job, index);
}
