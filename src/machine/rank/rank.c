#include "machine/rank/rank.h"

#include "base/error.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Returns a variable of the environment that the rank is known from; NULL: it is not set. */
static const char *rank_variable(void *user, const char *name)
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

/* Makes "3_7" of "3" and "7", and of one alone that one; NULL of none. */
static int join(const char *first, const char *second, char **joined, struct gput_error *error)
{
    *joined = NULL;
    if (!first && !second)
        return GPUT_OK;
    if (asprintf(joined, "%s%s%s", first ? first : "", first && second ? "_" : "",
            second ? second : "") >= 0)
        return GPUT_OK;
    *joined = NULL;
    return error_memory(error);
}

/* Fills in a rank from the environment that it has. That may change: the id is copied, with the
 * element of an array. GNU parallel may run in such an element. */
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
    const struct launcher *launcher = &rank->launcher;
    TRY(join(launcher->element, launcher->sequence, &rank->element, error));
    return launcher->job ? join(launcher->job, launcher->array_task, &rank->id, error) : GPUT_OK;
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

/* Maximum number for %n and for names that are taken: more files with one name are a mistake. */
#define MAX_NUMBER 1000000

/* A value must not lead to another folder. */
static void append_value(struct str *path, const char *value)
{
    for (; value && *value; value++)
        str_append_char(path, *value == '/' ? '_' : *value);
}

/* %q{NAME}; returns what follows it, or NULL when it has no end or is too long. */
static const char *append_variable(const struct gput_rank *rank, const char *text, struct str *path)
{
    char name[256];
    size_t length = text[0] == '{' ? strcspn(text + 1, "}") : 0;
    if (length == 0 || text[1 + length] != '}' || length >= sizeof name)
        return NULL;
    memcpy(name, text + 1, length);
    name[length] = '\0';
    append_value(path, rank_variable((void *)rank, name));
    return text + length + 2;
}

/* Without a launcher there is one rank, 0 on its machine, too. */
static bool knows_local_rank(const struct launcher *launcher)
{
    return launcher->rank < 0 || launcher->local_rank >= 0;
}

/* Appends what a letter after "%" stands for; false: nothing. */
static bool append_placeholder(
    const struct gput_rank *rank, char letter, long number, struct str *path)
{
    const struct launcher *launcher = &rank->launcher;
    switch (letter) {
    case 'h':
        append_value(path, rank->host);
        return true;
    case 'p':
        str_printf(path, "%ld", (long)rank->pid);
        return true;
    case 'j':
        append_value(path, rank->id ? rank->id : "none");
        return true;
    case 'r':
        str_printf(path, "%ld", launcher->rank < 0 ? 0 : launcher->rank);
        return true;
    case 'l':
        if (knows_local_rank(launcher))
            str_printf(path, "%ld", launcher->local_rank < 0 ? 0 : launcher->local_rank);
        else
            str_append(path, "none");
        return true;
    case 'n':
        str_printf(path, "%ld", number);
        return true;
    case 't':
        append_value(path, rank->time);
        return true;
    case '%':
        str_append_char(path, '%');
        return true;
    default:
        return false;
    }
}

/* Placeholders that a name uses. */
struct use {
    bool has_number;
    bool has_rank;
    bool differs;          /* from rank to rank */
    bool differs_in_array; /* from element to element */
};

/* Expands the placeholders of a name, and notes which there are. */
static int expand(const struct gput_rank *rank, const char *name, long number, struct str *path,
    struct use *use, struct gput_error *error)
{
    const struct launcher *launcher = &rank->launcher;
    bool id_has_element = rank->id && launcher->element && !launcher->sequence;
    *use = (struct use){0};
    for (const char *at = name; *at;) {
        if (at[0] == '%' && at[1] == 'q') {
            const char *after = append_variable(rank, at + 2, path);
            if (!after)
                return error_set(error, GPUT_ERROR_INVALID,
                    "%.400s: %%q needs the name of an environment variable: %%q{NAME}.", name);
            use->has_rank = use->differs = use->differs_in_array = true;
            at = after;
        } else if (at[0] == '%' && append_placeholder(rank, at[1], number, path)) {
            bool is_rank = at[1] == 'r' || (at[1] == 'l' && knows_local_rank(launcher));
            use->has_number |= at[1] == 'n';
            use->has_rank |= is_rank;
            use->differs |= is_rank || strchr("pn", at[1]);
            use->differs_in_array |= strchr(id_has_element ? "jpn" : "pn", at[1]) != NULL;
            at += 2;
        } else {
            str_append_char(path, *at++);
        }
    }
    return GPUT_OK;
}

/* Where the extension of the last part of a path begins: its end when there is none. */
static size_t extension_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = name[0] ? strrchr(name + 1, '.') : NULL;
    size_t plain = strlen(PLAIN_CSV_EXTENSION);
    if (dot && text_ends_with(name + 1, PLAIN_CSV_EXTENSION))
        return strlen(path) - plain;
    return dot ? (size_t)(dot - path) : strlen(path);
}

/* ".r0", ".t7": of what has no extension, as folders. */
static bool is_rank(const char *extension)
{
    size_t digits = extension[0] ? strspn(extension + 2, "0123456789") : 0;
    return digits > 0 && strchr("rt", extension[1]) && extension[2 + digits] == '\0';
}

/* The caller's; NULL: no memory. */
static char *insert_suffix(const char *path, const char *suffix, size_t extension)
{
    struct str numbered = {0};
    while (extension > 1 && extension == strlen(path) && path[extension - 1] == '/')
        extension--; /* a folder */
    str_append_bytes(&numbered, path, extension);
    str_append(&numbered, suffix);
    str_append(&numbered, path + extension);
    return str_steal(&numbered);
}

static char *with_suffix(const char *path, const char *suffix)
{
    return insert_suffix(path, suffix, extension_of(path));
}

/* Expands a name to the path of a file; with %n to one that is free. */
static int expand_name(const struct gput_rank *rank, const char *name, char **path, struct use *use,
    struct gput_error *error)
{
    *use = (struct use){false, true, true, true};
    if (!name[0])
        return error_set(error, GPUT_ERROR_INVALID, "The name of a file is empty.");
    if (strcmp(name, "-") == 0 || text_begins_with(name, "/dev/")) {
        *path = strdup(name);
        return *path ? GPUT_OK : error_memory(error);
    }
    /* For %n, find the lowest number of which there is no file. */
    for (long number = 0;; number++) {
        struct str text = {0};
        int code = expand(rank, name, number, &text, use, error);
        if (code != GPUT_OK) {
            str_finish(&text);
            return code;
        }
        code = str_steal_bytes(&text, path, NULL, error);
        if (code != GPUT_OK || !use->has_number || number == MAX_NUMBER || access(*path, F_OK) != 0)
            return code;
        free(*path);
    }
}

int gput_rank_expand(
    const struct gput_rank *rank, const char *name, char **path, struct gput_error *error)
{
    struct use ignored;
    return expand_name(rank, name, path, &ignored, error);
}

/* Puts into a name what distinguishes it from those of the other tasks and ranks. */
static int distinguish(const struct gput_rank *rank, bool has_task, bool has_rank, char **path,
    struct gput_error *error)
{
    bool is_one_of_many = rank->launcher.rank >= 0 && rank->launcher.world_size != 1;
    struct str suffix = {0};
    if (rank->element && !has_task)
        str_printf(&suffix, ".t%s", rank->element);
    if (is_one_of_many && !has_rank)
        str_printf(&suffix, ".r%ld", rank->launcher.rank);
    if (suffix.length > 0 || suffix.failed) {
        char *expanded = *path;
        *path = suffix.failed ? NULL : with_suffix(expanded, str_text(&suffix));
        free(expanded);
    }
    str_finish(&suffix);
    return *path ? GPUT_OK : error_memory(error);
}

int gput_rank_path(
    const struct gput_rank *rank, const char *name, char **path, struct gput_error *error)
{
    struct use use;
    TRY(expand_name(rank, name, path, &use, error));
    return distinguish(rank, use.differs_in_array, use.differs, path, error);
}

int rank_path_of_marks(
    const struct gput_rank *rank, const char *name, char **path, struct gput_error *error)
{
    struct use use;
    TRY(expand_name(rank, name, path, &use, error));
    return distinguish(rank, use.differs_in_array, use.has_rank, path, error);
}

int gput_rank_numbered_path(
    const char *path, long number, char **numbered, struct gput_error *error)
{
    char suffix[32];
    size_t extension = extension_of(path);
    if (is_rank(path + extension))
        extension = strlen(path);
    snprintf(suffix, sizeof suffix, ".%ld", number);
    *numbered = insert_suffix(path, suffix, extension);
    return *numbered ? GPUT_OK : error_memory(error);
}

int gput_rank_free_path(const char *path, char **free_path, struct gput_error *error)
{
    *free_path = NULL;
    for (long number = 1; number < MAX_NUMBER; number++) {
        free(*free_path);
        TRY(gput_rank_numbered_path(path, number, free_path, error));
        if (access(*free_path, F_OK) != 0)
            break;
    }
    return GPUT_OK;
}

char *rank_path_glob(const char *name)
{
    struct str glob = {0};
    for (const char *at = name; *at;) {
        const char *end = strncmp(at, "%q{", 3) == 0 ? strchr(at, '}') : NULL;
        if (end || (at[0] == '%' && at[1] && strchr("hpjrlnt", at[1]))) {
            str_append_char(&glob, '*');
            at = end ? end + 1 : at + 2;
            continue;
        }
        at += at[0] == '%' && at[1] == '%';
        if (strchr("*?[\\", *at))
            str_append_char(&glob, '\\');
        str_append_char(&glob, *at++);
    }
    char *text = str_steal(&glob), *pattern = text ? with_suffix(text, "*") : NULL;
    free(text);
    return pattern;
}
