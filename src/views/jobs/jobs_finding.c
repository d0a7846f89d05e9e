#include "views/jobs/jobs.h"

#include "base/array.h"
#include "base/human.h"
#include "base/number.h"
#include "base/str.h"
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
