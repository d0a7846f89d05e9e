#include "output/named_sessions.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "common/message.h"
#include "output/output_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gputracker/recorded.h>

/* Finds the newest tracking file (.csv, .sqlite) likewise; `command` is its name, for the error:
 * "report". */
static int newest_file_of_samples(const char *command, char **name, struct gput_error *error);

/* "rank0=path" is a session with a name, unless that is what its file is called. A slash before the
 * sign may be that of a path, as in "runs/lr=0.1.csv". */
static int read_session(
    const char *operand, char **name, struct gput_report_session *session, struct gput_error *error)
{
    const char *equals = strchr(operand, '=');
    *session = gput_report_session_default();
    session->path = operand;
    if (!equals || equals == operand || access(operand, F_OK) == 0)
        return GPUT_OK;
    if (memchr(operand, '/', (size_t)(equals - operand)) && access(equals + 1, F_OK) != 0)
        return GPUT_OK;
    *name = strndup(operand, (size_t)(equals - operand));
    if (!*name)
        return error_memory(error);
    session->name = *name;
    session->path = equals + 1;
    return GPUT_OK;
}

int named_sessions_read(struct named_sessions *read, const struct arguments *arguments,
    enum option_id output, struct gput_error *error)
{
    size_t count = (size_t)arguments->n_operands, capacity = count + 2;
    read->sessions = calloc(capacity, sizeof *read->sessions);
    read->list = calloc(capacity, sizeof *read->list);
    read->names = calloc(capacity, sizeof *read->names);
    if (!read->sessions || !read->list || !read->names)
        return error_memory(error);
    if (count == 0) {
        TRY(newest_file_of_samples(arguments->command->name, &read->newest, error));
        read->sessions[0] = gput_report_session_default();
        read->sessions[0].path = read->newest;
        read->list[0] = &read->sessions[0];
        read->count = 1;
        return output_files_keep(
            arguments_value(arguments, output), read->newest, "the session", error);
    }
    for (; read->count < count; read->count++) {
        struct gput_report_session *session = &read->sessions[read->count];
        char **name = &read->names[read->count];
        read->list[read->count] = session;
        TRY(read_session(arguments->operands[read->count], name, session, error));
        if (*name)
            TRY(output_files_keep(
                arguments_value(arguments, output), session->path, "a session", error));
    }
    return GPUT_OK;
}

void named_sessions_free(struct named_sessions *read)
{
    for (size_t i = 0; read->names && i <= read->count; i++) /* of the last, if it failed, too */
        free(read->names[i]);
    free(read->newest);
    free(read->names);
    free(read->list);
    free(read->sessions);
    *read = (struct named_sessions){0};
}

struct candidate {
    char *name;
    struct timespec changed;
};

struct candidates {
    struct candidate *items; /* and their names; owned */
    size_t count, capacity;
};

static void candidates_finish(struct candidates *candidates)
{
    for (size_t i = 0; i < candidates->count; i++)
        free(candidates->items[i].name);
    free(candidates->items);
}

/* Adds a regular file that is not empty; an empty one only reserves its name. */
static int add_file(struct candidates *candidates, const char *name, struct gput_error *error)
{
    struct stat info;
    if (stat(name, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size == 0)
        return GPUT_OK;
    if (candidates->count == candidates->capacity) {
        size_t capacity = candidates->capacity ? 2 * candidates->capacity : 16;
        void *grown = realloc(candidates->items, capacity * sizeof *candidates->items);
        if (!grown)
            return error_memory(error);
        candidates->items = grown;
        candidates->capacity = capacity;
    }
    char *copy = strdup(name);
    if (!copy)
        return error_memory(error);
    candidates->items[candidates->count++] = (struct candidate){copy, info.st_mtim};
    return GPUT_OK;
}

/* The newest first; those of one moment by name. */
static int compare_ages(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->changed.tv_sec != y->changed.tv_sec)
        return x->changed.tv_sec < y->changed.tv_sec ? 1 : -1;
    if (x->changed.tv_nsec != y->changed.tv_nsec)
        return x->changed.tv_nsec < y->changed.tv_nsec ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* Lists the files of the working directory that are called like the kind, the newest first. */
static int list_files(
    struct candidates *candidates, bool (*has_name)(const char *name), struct gput_error *error)
{
    CLEANUP_DIR DIR *folder = opendir(".");
    const struct dirent *entry;
    if (!folder)
        return error_set(
            error, GPUT_ERROR_IO, "Cannot read the working directory: %s.", strerror(errno));
    while ((entry = readdir(folder)) != NULL) {
        if (has_name(entry->d_name))
            TRY(add_file(candidates, entry->d_name, error));
    }
    if (candidates->count > 0)
        qsort(candidates->items, candidates->count, sizeof *candidates->items, compare_ages);
    return GPUT_OK;
}

/* ---- Kinds of files ---- */

static bool has_name_of_results(const char *name)
{
    return text_begins_with(name, ".gpu-tracker_");
}

static bool is_any(const char *name)
{
    (void)name;
    return true;
}

static bool has_name_of_samples(const char *name)
{
    return name[0] != '.' && (text_ends_with(name, ".csv") || text_ends_with(name, ".sqlite"));
}

/* Ends the reading of samples at their first part. */
static int stop_reading(void *user, struct gput_tables *part, struct gput_error *error)
{
    (void)user;
    gput_tables_destroy(part);
    return error_set(error, GPUT_ERROR_STATE, "enough was read");
}

/* Whether a file has samples, by its content. One that cannot be read is taken: the command that
 * reads it then says why. */
static bool has_samples(const char *name)
{
    struct gput_recorded_options options = gput_recorded_options_default();
    struct gput_tables *tables = NULL;
    struct gput_error ignored;
    options.receive = stop_reading;
    int code = gput_recorded_samples(name, &options, &tables, &ignored);
    if (code == GPUT_OK)
        gput_tables_destroy(tables);
    return code != GPUT_ERROR_FORMAT && code != GPUT_ERROR_INVALID;
}

/* Finds the first file of the list that is accepted, and says so. */
static int find(bool (*has_name)(const char *name), bool (*accepts)(const char *name),
    const char *kind, char **name, struct gput_error *error)
{
    CLEANUP(candidates_finish) struct candidates candidates = {0};
    *name = NULL;
    TRY(list_files(&candidates, has_name, error));
    for (size_t i = 0; i < candidates.count; i++) {
        char line[MESSAGE_LINE_SIZE];
        if (!accepts(candidates.items[i].name))
            continue;
        *name = STEAL(candidates.items[i].name);
        snprintf(line, sizeof line, "using %s, the newest %s here", *name, kind);
        message_note(line);
        return GPUT_OK;
    }
    return GPUT_OK;
}

int newest_file_of_results(char **name, struct gput_error *error)
{
    TRY(find(has_name_of_results, is_any, "results kept", name, error));
    return *name ? GPUT_OK
                 : error_set(error, GPUT_ERROR_NOT_FOUND,
                       "The working directory has no results of a running or killed session "
                       "(.gpu-tracker_*). Name a report in JSON: gpu-tracker show usage.json");
}

static int newest_file_of_samples(const char *command, char **name, struct gput_error *error)
{
    TRY(find(has_name_of_samples, has_samples, "tracking file", name, error));
    return *name ? GPUT_OK
                 : error_set(error, GPUT_ERROR_NOT_FOUND,
                       "The working directory has no tracking file (.csv, .sqlite). Record one: "
                       "gpu-tracker run --tf samples.sqlite -- COMMAND; or name what to show: "
                       "gpu-tracker %s SESSION",
                       command);
}
