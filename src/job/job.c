#include "job/job.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *job_variable(void *user, const char *name)
{
    struct gput_job *job = user;
    size_t length = strlen(name);
    if (job->read.text.data)
        return environment_variable(&job->read, name);
    if (!job->environment)
        return getenv(name);
    for (const char *const *line = job->environment; *line; line++)
        if (strncmp(*line, name, length) == 0 && (*line)[length] == '=')
            return *line + length + 1;
    return NULL;
}

/* The environment may change: the id is copied, with the element of an array. */
static int copy_id(struct gput_job *job, struct gput_error *error)
{
    const struct launcher *launcher = &job->launcher;
    if (!launcher->job)
        return GPUT_OK;
    int length = launcher->array_task
                     ? asprintf(&job->id, "%s_%s", launcher->job, launcher->array_task)
                     : asprintf(&job->id, "%s", launcher->job);
    if (length >= 0)
        return GPUT_OK;
    job->id = NULL;
    return error_memory(error);
}

/* GNU parallel may run in an element of an array: "3_7". */
static int copy_element(struct gput_job *job, struct gput_error *error)
{
    const char *element = job->launcher.element, *sequence = job->launcher.sequence;
    if (!element && !sequence)
        return GPUT_OK;
    if (asprintf(&job->element, "%s%s%s", element ? element : "", element && sequence ? "_" : "",
            sequence ? sequence : "") >= 0)
        return GPUT_OK;
    job->element = NULL;
    return error_memory(error);
}

/* From the environment that it has. */
static int read_job(struct gput_job *job, pid_t pid, struct gput_error *error)
{
    struct tm utc;
    time_t now = time(NULL);
    job->pid = pid;
    if (gethostname(job->host, sizeof job->host) != 0)
        job->host[0] = '\0';
    job->host[sizeof job->host - 1] = '\0';
    if (gmtime_r(&now, &utc))
        strftime(job->time, sizeof job->time, "%Y%m%dT%H%M%SZ", &utc);
    launcher_parse(job_variable, job, &job->launcher);
    int code = copy_element(job, error);
    return code == GPUT_OK ? copy_id(job, error) : code;
}

static int give(struct gput_job *job, int code, struct gput_job **result)
{
    *result = code == GPUT_OK ? job : NULL;
    if (code != GPUT_OK)
        gput_job_destroy(job);
    return code;
}

int gput_job_create(
    const char *const *environment, struct gput_job **result, struct gput_error *error)
{
    struct gput_job *job = calloc(1, sizeof *job);
    if (job)
        job->environment = environment;
    return give(job, job ? read_job(job, getpid(), error) : error_memory(error), result);
}

int gput_job_of_process(pid_t pid, struct gput_job **result, struct gput_error *error)
{
    static const char *const none[] = {NULL};
    struct gput_job *job = calloc(1, sizeof *job);
    int code = job ? environment_read("/proc", pid, &job->read, error) : error_memory(error);
    if (code == GPUT_OK) {
        job->environment = none;
        code = read_job(job, pid, error);
    }
    return give(job, code, result);
}

void gput_job_destroy(struct gput_job *job)
{
    if (!job)
        return;
    environment_finish(&job->read);
    free(job->id);
    free(job->element);
    free(job);
}

const char *gput_job_launcher(const struct gput_job *job)
{
    return job->launcher.name;
}

const char *gput_job_id(const struct gput_job *job)
{
    return job->id;
}

const char *gput_job_element(const struct gput_job *job)
{
    return job->element;
}

const char *gput_job_host(const struct gput_job *job)
{
    return job->host;
}

long gput_job_rank(const struct gput_job *job)
{
    return job->launcher.rank;
}

long gput_job_local_rank(const struct gput_job *job)
{
    return job->launcher.local_rank;
}

long gput_job_local_size(const struct gput_job *job)
{
    return job->launcher.local_size;
}

long gput_job_world_size(const struct gput_job *job)
{
    return job->launcher.world_size;
}

long gput_job_restarts(const struct gput_job *job)
{
    return job->launcher.restarts;
}
