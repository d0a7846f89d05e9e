#include "rank_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAME_TRIES = 100 };

static void remove_empty(const char *path)
{
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0)
        unlink(path);
    else
        rmdir(path);
}

static const char *first_placeholder(const char *pattern)
{
    const char *percent = strchr(pattern, '%');
    while (percent && percent[1] == '%')
        percent = strchr(percent + 2, '%');
    return percent;
}

/* Makes what is missing from the first folder on whose name has a placeholder: that name is not
 * known beforehand. Returns how many, one in the other. `is_folder`: the path is one itself. */
static size_t make_folders(const char *pattern, char *path, bool is_folder)
{
    const char *placeholder = first_placeholder(pattern);
    char *name = path;
    size_t n_made = 0;
    if (!placeholder || strcmp(pattern, path) == 0)
        return 0;
    for (const char *at = pattern; at < placeholder; at++) {
        if (*at == '/')
            name = strchr(name, '/') + 1;
    }
    for (char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        if (slash[1] == '/' || slash[1] == '\0')
            continue;
        *slash = '\0';
        n_made += mkdir(path, 0777) == 0 || n_made > 0;
        *slash = '/';
    }
    if (is_folder)
        n_made += mkdir(path, 0777) == 0;
    return n_made;
}

/* From the inmost one on. */
static void remove_folders(char *path, size_t count)
{
    for (char *slash = strrchr(path, '/'); slash && count > 0; slash = strrchr(path, '/')) {
        bool is_name = slash[1] != '\0' && slash[1] != '/';
        *slash = '\0';
        if (is_name && rmdir(path) != 0)
            break;
        count -= is_name;
    }
}

void rank_paths_finish(struct rank_paths *ranks)
{
    for (size_t i = 0; i < ranks->n_paths; i++) {
        if (ranks->is_claimed[i])
            remove_empty(ranks->paths[i]);
        remove_folders(ranks->paths[i], ranks->n_folders[i]);
        free(ranks->paths[i]);
    }
    gput_rank_destroy(ranks->own);
    *ranks = (struct rank_paths){0};
}

static bool is_rank_of_many(const struct gput_rank *rank)
{
    return gput_rank_number(rank) >= 0 && gput_rank_world_size(rank) != 1;
}

bool rank_paths_are_many(const struct rank_paths *ranks)
{
    return ranks->own && (gput_rank_element(ranks->own) != NULL || is_rank_of_many(ranks->own));
}

bool rank_paths_take_free_names(const struct rank_paths *ranks)
{
    return ranks->own && (gput_rank_job_id(ranks->own) != NULL || rank_paths_are_many(ranks));
}

int rank_paths_find_rank(struct rank_paths *ranks, struct gput_error *error)
{
    return ranks->own ? GPUT_OK : gput_rank_create(NULL, &ranks->own, error);
}

static bool has_number(const char *pattern)
{
    while ((pattern = strchr(pattern, '%')) != NULL && pattern[1] != '\0') {
        if (pattern[1] == 'n')
            return true;
        pattern += 2;
    }
    return false;
}

static int expand(
    struct rank_paths *ranks, const char **path, bool is_shared, struct gput_error *error)
{
    char *expanded;
    if (!*path || !(*path)[0] || ranks->n_paths == RANK_PATHS)
        return GPUT_OK;
    int code = rank_paths_find_rank(ranks, error);
    if (code == GPUT_OK)
        code = is_shared ? gput_rank_expand(ranks->own, *path, &expanded, error)
                         : gput_rank_path(ranks->own, *path, &expanded, error);
    if (code != GPUT_OK)
        return code;
    ranks->has_rank[ranks->n_paths] =
        rank_paths_are_many(ranks) && !strchr(*path, '%') && strcmp(*path, expanded) != 0;
    size_t n_folders = make_folders(*path, expanded, is_shared);
    ranks->n_folders[ranks->n_paths] =
        is_shared ? 0 : n_folders; /* others may be about to use it */
    ranks->patterns[ranks->n_paths] = !is_shared && has_number(*path) ? *path : NULL;
    ranks->paths[ranks->n_paths++] = expanded;
    *path = expanded;
    return GPUT_OK;
}

int rank_paths_expand(struct rank_paths *ranks, const char **path, struct gput_error *error)
{
    return expand(ranks, path, false, error);
}

int rank_paths_expand_shared(struct rank_paths *ranks, const char **path, struct gput_error *error)
{
    return expand(ranks, path, true, error);
}

static size_t index_of(const struct rank_paths *ranks, const char *path)
{
    size_t i = 0;
    while (i < ranks->n_paths && ranks->paths[i] != path)
        i++;
    return i;
}

bool rank_paths_are_numbered(const struct rank_paths *ranks, const char *path)
{
    size_t i = index_of(ranks, path);
    return i < ranks->n_paths && ranks->patterns[i] != NULL;
}

bool rank_paths_replace(struct rank_paths *ranks, const char **path)
{
    size_t i = index_of(ranks, *path);
    bool is_numbered = rank_paths_are_numbered(ranks, *path);
    struct gput_error ignored;
    char *free_path;
    if (i == ranks->n_paths || (!is_numbered && !rank_paths_take_free_names(ranks)))
        return false;
    int code = is_numbered ? gput_rank_path(ranks->own, ranks->patterns[i], &free_path, &ignored)
                           : gput_rank_free_path(*path, &free_path, &ignored);
    if (code != GPUT_OK)
        return false;
    free(ranks->paths[i]);
    *path = ranks->paths[i] = free_path;
    return true;
}

static bool take_free_name(struct rank_paths *ranks, const char **path, char **owned)
{
    char *free_path;
    struct gput_error ignored;
    if (rank_paths_replace(ranks, path))
        return true;
    if (!rank_paths_take_free_names(ranks) ||
        gput_rank_free_path(*path, &free_path, &ignored) != GPUT_OK)
        return false;
    free(*owned);
    *path = *owned = free_path;
    return true;
}

int rank_paths_make(struct rank_paths *ranks, const char **path, char **owned,
    rank_path_maker *make, void *user, struct gput_error *error)
{
    int code = make(user, error);
    for (int tries = 1; code == GPUT_ERROR_EXISTS && tries <= MAX_NAME_TRIES; tries++) {
        if (!take_free_name(ranks, path, owned))
            break;
        code = make(user, error);
    }
    return code;
}

static int make_empty(const char *path, bool is_folder)
{
    if (is_folder)
        return mkdir(path, 0777) == 0 ? 0 : errno;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

/* Nothing of the kind that is to be written, nor is a link to such a thing: it takes what comes. */
static bool is_left_alone(const char *path, bool is_folder)
{
    struct stat info;
    return strcmp(path, "-") == 0 ||
           (stat(path, &info) == 0 &&
               (is_folder ? !S_ISDIR(info.st_mode) : !S_ISREG(info.st_mode)));
}

int rank_paths_claim(struct rank_paths *ranks, const char **path, bool is_folder)
{
    int failure = EEXIST;
    if (is_left_alone(*path, is_folder))
        return 0;
    for (int tries = 0; failure == EEXIST && tries < MAX_NAME_TRIES; tries++) {
        if (tries > 0 && !rank_paths_replace(ranks, path))
            break;
        failure = make_empty(*path, is_folder);
    }
    size_t i = index_of(ranks, *path);
    if (failure == 0 && i < ranks->n_paths)
        ranks->is_claimed[i] = true;
    return failure;
}

void rank_paths_skip(struct rank_paths *ranks, const char *path)
{
    size_t i = index_of(ranks, path);
    if (i < ranks->n_paths)
        ranks->is_skipped[i] = true;
}

/* "task 3, rank 1 (Open MPI) writes " */
static size_t describe_writer(const struct gput_rank *rank, char *text, size_t size)
{
    size_t used = 0;
    const char *element = gput_rank_element(rank);
    bool is_rank = is_rank_of_many(rank);
    if (element)
        used += (size_t)snprintf(text, size, "task %.40s%s", element, is_rank ? ", " : "");
    if (is_rank)
        used += (size_t)snprintf(text + used, size - used, "rank %ld (%s)", gput_rank_number(rank),
            gput_rank_launcher(rank));
    return used + (size_t)snprintf(text + used, size - used, " writes ");
}

void rank_paths_describe(const struct rank_paths *ranks, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < ranks->n_paths && used < size; i++) {
        if (!ranks->has_rank[i] || ranks->is_skipped[i])
            continue;
        if (used == 0)
            used += describe_writer(ranks->own, text, size);
        else
            used += (size_t)snprintf(text + used, size - used, ", ");
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, "%s", ranks->paths[i]);
    }
}
