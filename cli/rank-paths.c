#include "rank-paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rank_paths_finish(struct rank_paths *ranks)
{
    for (size_t i = 0; i < ranks->n_paths; i++)
        free(ranks->paths[i]);
    gput_job_destroy(ranks->job);
    *ranks = (struct rank_paths){0};
}

static bool is_one_of_many(const struct rank_paths *ranks)
{
    return ranks->job && gput_job_rank(ranks->job) >= 0 && gput_job_world_size(ranks->job) != 1;
}

int rank_paths_expand(struct rank_paths *ranks, const char **path, struct gput_error *error)
{
    char *expanded;
    if (!*path || !(*path)[0] || ranks->n_paths == RANK_PATHS)
        return GPUT_OK;
    int code = ranks->job ? GPUT_OK : gput_job_create(NULL, &ranks->job, error);
    if (code == GPUT_OK)
        code = gput_job_path(ranks->job, *path, &expanded, error);
    if (code != GPUT_OK)
        return code;
    ranks->changed[ranks->n_paths] =
        is_one_of_many(ranks) && !strchr(*path, '%') && strcmp(*path, expanded) != 0;
    ranks->paths[ranks->n_paths++] = expanded;
    *path = expanded;
    return GPUT_OK;
}

bool rank_paths_replace(struct rank_paths *ranks, const char **path)
{
    struct gput_error no_matter;
    for (size_t i = 0; i < ranks->n_paths && is_one_of_many(ranks); i++) {
        char *free_path;
        if (ranks->paths[i] != *path)
            continue;
        if (gput_job_free_path(*path, &free_path, &no_matter) != GPUT_OK)
            return false;
        free(ranks->paths[i]);
        ranks->paths[i] = free_path;
        *path = free_path;
        return true;
    }
    return false;
}

void rank_paths_describe(const struct rank_paths *ranks, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < ranks->n_paths && used < size; i++) {
        if (!ranks->changed[i])
            continue;
        if (used == 0)
            used += (size_t)snprintf(text, size, "rank %ld (%s) writes ", gput_job_rank(ranks->job),
                gput_job_launcher(ranks->job));
        else
            used += (size_t)snprintf(text + used, size - used, ", ");
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s", ranks->paths[i]);
    }
}
