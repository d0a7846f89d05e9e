#include "views/jobs/jobs.h"

#include "base/array.h"
#include "base/human.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void jobs_add_finding(struct gput_jobs *jobs, double job, const char *kind, const char *evidence,
    const char *format, ...)
{
    va_list arguments;
    struct str text = {0};
    va_start(arguments, format);
    str_print_list(&text, format, arguments);
    va_end(arguments);
    if (text.failed || !ARRAY_EXTEND(jobs->findings, jobs->n_findings)) {
        jobs->failed = true;
        str_finish(&text);
        return;
    }
    struct jobs_finding *finding = &jobs->findings[jobs->n_findings++];
    *finding = (struct jobs_finding){.job = job, .kind = kind, .text = str_steal(&text)};
    finding->evidence = evidence ? strdup(evidence) : NULL;
    jobs->failed |= evidence && !finding->evidence;
}

void jobs_name_rank(const struct jobs_rank *rank, char *text, size_t size)
{
    const char *node = rank->node[0] ? rank->node : "a machine that is not known";
    if (jobs_is_task(rank))
        text_fit(text, size, "task %s on %s", rank->task, node);
    else if (isnan(rank->rank))
        text_fit(text, size, "%s on %s", rank->path, node);
    else
        text_fit(text, size, "rank %.0f on %s", rank->rank, node);
}

const char *jobs_stopped_by(const struct jobs_rank *rank)
{
    /* Tried: Ray 2.60 and Spark 4.3, whose executors are Java. */
    bool is_ray = strcmp(rank->launcher, "Ray") == 0 && rank->exit_status == 1;
    bool is_spark = strcmp(rank->launcher, "Spark") == 0 &&
                    (rank->exit_status == 128 + SIGTERM || rank->signal == SIGTERM);
    return is_ray || is_spark ? rank->launcher : NULL;
}

void jobs_format_end(const struct jobs_rank *rank, char text[JOBS_END_SIZE])
{
    char value[HUMAN_SIZE], limit[64] = "";
    bool is_of_time = text_ends_with(rank->limit_enforced, "seconds");
    if (rank->limit_enforced[0])
        snprintf(limit, sizeof limit, ", %s limit exceeded (%s)", rank->limit_enforced,
            is_of_time ? human_seconds(rank->limit, value) : human_bytes(rank->limit, value));
    else if (jobs_is_out_of_memory(rank))
        snprintf(limit, sizeof limit, ", out of memory");
    if (rank->signal > 0)
        snprintf(text, JOBS_END_SIZE, "ended by signal %.0f%s", rank->signal, limit);
    else
        snprintf(text, JOBS_END_SIZE, "exit status %.0f%s", rank->exit_status, limit);
}

bool jobs_is_out_of_memory(const struct jobs_rank *rank)
{
    return rank->oom_killed > 0 && (rank->signal == SIGKILL || rank->exit_status == 128 + SIGKILL);
}

bool jobs_next_ranks(const char **at, double *first, double *last)
{
    uint64_t begin, stop;
    const char *end = *at + strlen(*at), *rest = number_parse_uint64(*at, end, &begin);
    if (!rest)
        return false;
    stop = begin;
    if (*rest == '-')
        rest = number_parse_uint64(rest + 1, end, &stop);
    *first = (double)begin;
    *last = (double)stop;
    *at = rest && *rest == ',' ? rest + 1 : end;
    return true;
}

bool jobs_has_failed(const struct jobs_rank *rank)
{
    return (rank->exit_status > 0 || rank->signal > 0) && !jobs_stopped_by(rank);
}

bool jobs_is_unfinished(const struct jobs_rank *rank)
{
    return isnan(rank->exit_status) && isnan(rank->signal) && isnan(rank->end);
}

bool jobs_is_task(const struct jobs_rank *rank)
{
    return rank->task[0] && !(rank->world_size > 1);
}

const char *jobs_format_cores(double cores, char text[JOBS_CORES_SIZE])
{
    bool is_whole = cores == round(cores) || cores >= 100;
    text_fit(text, JOBS_CORES_SIZE, "%.*f core%s", is_whole ? 0 : 1, cores, cores == 1 ? "" : "s");
    return text;
}

/* ---- Times ---- */

struct span jobs_span_of(const struct jobs_rank *rank, double value)
{
    struct span span = {rank->start, rank->start + rank->seconds, value};
    if (isnan(span.end)) {
        span.start = -INFINITY;
        span.end = INFINITY;
    }
    return span;
}

/* True where the world size identifies a run. Ranks that torchrun restarted can be fewer. */
static bool has_run_size(const struct jobs_rank *rank)
{
    return rank->world_size > 0 && !(rank->restarts > 0) && !jobs_is_task(rank);
}

void jobs_find_run_sizes(struct jobs_rank *ranks, size_t count)
{
    const struct jobs_rank *last = NULL; /* the one that ended last so far */
    bool are_at_once = false;
    for (size_t i = 0; i < count; i++) {
        const struct jobs_rank *rank = &ranks[i];
        double end = rank->start + rank->seconds;
        if (!has_run_size(rank) || isnan(end))
            continue;
        are_at_once |= last && rank->world_size != last->world_size &&
                       rank->start < last->start + last->seconds;
        if (!last || end > last->start + last->seconds)
            last = rank;
    }
    for (size_t i = 0; i < count && are_at_once; i++)
        ranks[i].run_size = has_run_size(&ranks[i]) ? ranks[i].world_size : 0;
}

bool jobs_runs_pods_in_sequence(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    double last_start = NAN, first_end = NAN;
    if (strcmp(jobs->ranks[job->first].launcher, "Kubernetes") != 0)
        return false;
    for (size_t i = job->first; i < job->first + job->count; i++) {
        const struct jobs_rank *rank = &jobs->ranks[i];
        last_start = fmax(last_start, rank->start);
        if (!rank->is_retried)
            first_end = fmin(first_end, rank->start + rank->seconds);
    }
    return last_start > first_end;
}

static bool have_no_runs(const struct gput_jobs *jobs, const struct jobs_job *job)
{
    return job->has_ranks && !job->are_independent && jobs->ranks[job->first].world_size > 1 &&
           !jobs->ranks[job->first].run[0];
}

/* Returns when the first rank of a machine started. */
static double first_start(const struct gput_jobs *jobs, const struct jobs_machine *machine)
{
    double start = NAN;
    for (size_t i = machine->first; i < machine->first + machine->count; i++)
        start = fmin(start, jobs->ranks[i].start);
    return start;
}

/* Returns when the last rank of a machine ended. */
static double last_end(const struct gput_jobs *jobs, const struct jobs_machine *machine)
{
    double end = NAN;
    for (size_t i = machine->first; i < machine->first + machine->count; i++)
        end = fmax(end, jobs->ranks[i].start + jobs->ranks[i].seconds);
    return end;
}

/* True where two runs were on one machine at the same time. */
static bool are_at_once(
    const struct gput_jobs *jobs, const struct jobs_job *earlier, const struct jobs_job *later)
{
    for (size_t i = later->first_machine; i < later->first_machine + later->n_machines; i++) {
        const struct jobs_machine *own = &jobs->machines[i];
        for (size_t k = 0; k < earlier->n_machines; k++) {
            const struct jobs_machine *other = &jobs->machines[earlier->first_machine + k];
            if (strcmp(own->boot_id, other->boot_id) == 0 &&
                first_start(jobs, own) < last_end(jobs, other))
                return true;
        }
    }
    return false;
}

void jobs_find_runs_at_once(struct gput_jobs *jobs)
{
    for (size_t i = 1; i < jobs->n_jobs; i++) {
        struct jobs_job *later = &jobs->jobs[i], *earlier = later - 1;
        if (later->is_next_run && have_no_runs(jobs, earlier) && have_no_runs(jobs, later) &&
            jobs->ranks[earlier->first].world_size == jobs->ranks[later->first].world_size &&
            are_at_once(jobs, earlier, later))
            earlier->overlaps_another_run = later->overlaps_another_run = true;
    }
}
