#include "machine/rank/rank.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *rank_variable(void *user, const char *name)
{
    struct gput_rank *rank = user;
    size_t length = strlen(name);
    if (rank->read.text.data)
        return environment_variable(&rank->read, name);
    if (!rank->environment)
        return getenv(name);
    for (const char *const *line = rank->environment; *line; line++)
        if (strncmp(*line, name, length) == 0 && (*line)[length] == '=')
            return *line + length + 1;
    return NULL;
}

/* The environment may change: the id is copied, with the element of an array. */
static int copy_id(struct gput_rank *rank, struct gput_error *error)
{
    const struct launcher *launcher = &rank->launcher;
    if (!launcher->job)
        return GPUT_OK;
    int length = launcher->array_task
                     ? asprintf(&rank->id, "%s_%s", launcher->job, launcher->array_task)
                     : asprintf(&rank->id, "%s", launcher->job);
    if (length >= 0)
        return GPUT_OK;
    rank->id = NULL;
    return error_memory(error);
}

/* GNU parallel may run in an element of an array: "3_7". */
static int copy_element(struct gput_rank *rank, struct gput_error *error)
{
    const char *element = rank->launcher.element, *sequence = rank->launcher.sequence;
    if (!element && !sequence)
        return GPUT_OK;
    if (asprintf(&rank->element, "%s%s%s", element ? element : "", element && sequence ? "_" : "",
            sequence ? sequence : "") >= 0)
        return GPUT_OK;
    rank->element = NULL;
    return error_memory(error);
}

/* From the environment that it has. */
static int read_rank(struct gput_rank *rank, pid_t pid, struct gput_error *error)
{
    struct tm utc;
    time_t now = time(NULL);
    rank->pid = pid;
    if (gethostname(rank->host, sizeof rank->host) != 0)
        rank->host[0] = '\0';
    rank->host[sizeof rank->host - 1] = '\0';
    if (gmtime_r(&now, &utc))
        strftime(rank->time, sizeof rank->time, "%Y%m%dT%H%M%SZ", &utc);
    launcher_parse(rank_variable, rank, &rank->launcher);
    int code = copy_element(rank, error);
    return code == GPUT_OK ? copy_id(rank, error) : code;
}

static int give(struct gput_rank *rank, int code, struct gput_rank **result)
{
    *result = code == GPUT_OK ? rank : NULL;
    if (code != GPUT_OK)
        gput_rank_destroy(rank);
    return code;
}

int gput_rank_create(
    const char *const *environment, struct gput_rank **result, struct gput_error *error)
{
    struct gput_rank *rank = calloc(1, sizeof *rank);
    if (rank)
        rank->environment = environment;
    return give(rank, rank ? read_rank(rank, getpid(), error) : error_memory(error), result);
}

int gput_rank_of_process(pid_t pid, struct gput_rank **result, struct gput_error *error)
{
    static const char *const none[] = {NULL};
    struct gput_rank *rank = calloc(1, sizeof *rank);
    struct bounded_calls *calls = bounded_calls_create();
    int code = rank && calls ? environment_read(calls, "/proc", pid, &rank->read, error)
                             : error_memory(error);
    bounded_calls_destroy(calls);
    if (code == GPUT_OK) {
        rank->environment = none;
        code = read_rank(rank, pid, error);
    }
    return give(rank, code, result);
}

void gput_rank_destroy(struct gput_rank *rank)
{
    if (!rank)
        return;
    environment_finish(&rank->read);
    free(rank->id);
    free(rank->element);
    free(rank);
}

const char *gput_rank_launcher(const struct gput_rank *rank)
{
    return rank->launcher.name;
}

const char *gput_rank_job_id(const struct gput_rank *rank)
{
    return rank->id;
}

const char *gput_rank_element(const struct gput_rank *rank)
{
    return rank->element;
}

const char *gput_rank_host(const struct gput_rank *rank)
{
    return rank->host;
}

long gput_rank_number(const struct gput_rank *rank)
{
    return rank->launcher.rank;
}

long gput_rank_local_number(const struct gput_rank *rank)
{
    return rank->launcher.local_rank;
}

long gput_rank_local_size(const struct gput_rank *rank)
{
    return rank->launcher.local_size;
}

long gput_rank_world_size(const struct gput_rank *rank)
{
    return rank->launcher.world_size;
}

long gput_rank_restarts(const struct gput_rank *rank)
{
    return rank->launcher.restarts;
}
