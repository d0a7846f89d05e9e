#include "output/output_files.h"

#include "base/error.h"
#include "common/message.h"

#include <gputracker/rank.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40 /* as many as the system follows */

static const enum option_id outputs[] = {OPTION_OUTPUT, OPTION_CURVE_OUTPUT, OPTION_MERGED_OUTPUT,
    OPTION_TABLE_OUTPUT, OPTION_REPORT_OUTPUT, OPTION_PLOT_OUTPUT};

/* More that are written, in other options. */
static const enum option_id more_outputs[] = {
    OPTION_HTML_REPORT, OPTION_COMBINED_FILE, OPTION_MARKED_FILE};

static bool is_output(enum option_id id)
{
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        if (outputs[i] == id)
            return true;
    }
    return false;
}

/* Splits off the last part of a path. False when it is too long to be one. */
static bool split_path(const char *path, char folder[PATH_MAX], const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    size_t length = slash ? (size_t)(*name - path) : 1;
    if (length >= PATH_MAX)
        return false;
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    return true;
}

/* Where links at `path` lead that lead to nothing yet; in `target`. */
static void follow_dangling(const char *path, char target[PATH_MAX])
{
    char link[PATH_MAX], folder[PATH_MAX];
    const char *name;
    snprintf(target, PATH_MAX, "%s", path);
    for (int i = 0; i < MAX_LINKS; i++) {
        ssize_t length = readlink(target, link, sizeof link - 1);
        if (length < 0 || !split_path(target, folder, &name))
            return;
        link[length] = '\0';
        size_t used = link[0] == '/' ? 0 : strlen(folder) + 1;
        if (used + (size_t)length + 1 > PATH_MAX)
            return;
        if (used > 0) {
            memcpy(target, folder, used - 1);
            target[used - 1] = '/';
        }
        memcpy(target + used, link, (size_t)length + 1);
    }
}

/* What a path names now. A disk may be slow: each is asked for once. */
struct place {
    const char *path;
    bool is_there, is_followed;
    struct stat info;
    char target[PATH_MAX]; /* if it is not there and `is_followed`: what would be made */
};

static void find_place(const char *path, struct place *place)
{
    place->path = path;
    place->is_there = stat(path, &place->info) == 0;
    place->is_followed = false;
}

static const char *target_of(struct place *place)
{
    if (!place->is_followed)
        follow_dangling(place->path, place->target);
    place->is_followed = true;
    return place->target;
}

/* Whether two names lead to the same file. Pipes and devices may be named any number of times. */
static bool is_same_file(struct place *place, struct place *other)
{
    if (!place->is_there && !other->is_there) {
        /* Files that do not exist yet are the same if they have the same name in the same folder.
         */
        char folder[PATH_MAX], other_folder[PATH_MAX];
        const char *name, *other_name;
        struct stat info, other_info;
        return split_path(target_of(place), folder, &name) &&
               split_path(target_of(other), other_folder, &other_name) &&
               strcmp(name, other_name) == 0 && stat(folder, &info) == 0 &&
               stat(other_folder, &other_info) == 0 && info.st_dev == other_info.st_dev &&
               info.st_ino == other_info.st_ino;
    }
    return place->is_there && other->is_there && S_ISREG(place->info.st_mode) &&
           place->info.st_dev == other->info.st_dev && place->info.st_ino == other->info.st_ino;
}

static bool is_file(const char *path)
{
    return path && path[0] && strcmp(path, "-") != 0;
}

/* What SQLite has next to a database. */
static const char *const of_database[] = {"-wal", "-shm", "-journal"};

/* What a folder with a recording of power has: gputracker/energy_recording.h. */
static const char *const of_recording[] = {
    "/power_metrics.json",
    "/power_metrics.sqlite",
    "/power_metrics.sqlite-wal",
    "/power_metrics.sqlite-shm",
    "/power_metrics.sqlite-journal",
    "/metadata.json",
    "/results_exp.json",
    "/model_summary.json",
    "/omegawatt.csv",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Returns whether the output is one of the files that belong to another one. */
static bool is_one_of(
    struct place *output, const char *other, const char *const *endings, size_t count)
{
    char path[PATH_MAX];
    struct place part;
    for (size_t i = 0; i < count; i++) {
        int length = snprintf(path, sizeof path, "%s%s", other, endings[i]);
        if (length <= 0 || (size_t)length >= sizeof path)
            continue;
        find_place(path, &part);
        if (is_same_file(output, &part))
            return true;
    }
    return false;
}

static bool is_part_of(struct place *output, const struct place *other)
{
    const char *ending = strrchr(other->path, '.');
    if (ending && strcmp(ending, ".sqlite") == 0)
        return is_one_of(output, other->path, of_database, COUNT(of_database));
    return other->is_there && S_ISDIR(other->info.st_mode) &&
           is_one_of(output, other->path, of_recording, COUNT(of_recording));
}

int output_files_keep_of(const char *option, const char *output, const char *other,
    const char *what, struct gput_error *error)
{
    if (!is_file(output) || !is_file(other))
        return GPUT_OK;
    struct place place, other_place;
    find_place(output, &place);
    find_place(other, &other_place);
    if (is_part_of(&place, &other_place))
        return error_set(error, GPUT_ERROR_INVALID,
            "%s %.400s is a part of %s %.400s, which it would damage. Please name another one.",
            option, output, what, other);
    if (!is_same_file(&place, &other_place))
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_INVALID,
        "%s %.400s is the same file as %s %.400s, which it would replace. Please name another one.",
        option, output, what, other);
}

int output_files_keep(
    const char *output, const char *other, const char *what, struct gput_error *error)
{
    return output_files_keep_of("-o", output, other, what, error);
}

/* How messages call an output: "-o", "--report". */
static const char *output_name(enum option_id id, char name[64])
{
    return option(id)->short_name ? "-o" : option_name(option(id), name);
}

/* NULL: its argument is not a file. */
static const char *file_of(const struct option_use *use)
{
    const char *equals = use->id == OPTION_MAP ? strchr(use->value, '=') : NULL;
    if (equals)
        return equals + 1;
    return option(use->id)->kind == ARGUMENT_FILE ? use->value : NULL;
}

/* Refuses an output that is a file which another option names. */
static int check_against_options(const struct arguments *arguments, enum option_id id,
    const char *output, struct gput_error *error)
{
    int code = GPUT_OK;
    char own_name[64];
    for (size_t i = 0; code == GPUT_OK && i < arguments->n_uses; i++) {
        const struct option_use *use = &arguments->uses[i];
        const struct option *row = option(use->id);
        char name[64];
        if (!is_output(use->id))
            code = output_files_keep_of(
                output_name(id, own_name), output, file_of(use), option_name(row, name), error);
    }
    return code;
}

/* Refuses an output that is a file which the command reads. */
static int check_against_operands(const struct arguments *arguments, enum option_id id,
    const char *output, struct gput_error *error)
{
    char own_name[64];
    if (arguments->command->operands.kind != ARGUMENT_FILE || arguments->command->takes_a_command)
        return GPUT_OK;
    for (int i = 0; i < arguments->n_operands; i++)
        TRY(output_files_keep_of(
            output_name(id, own_name), output, arguments->operands[i], "the file", error));
    return GPUT_OK;
}

/* *rank: NULL until a name has a placeholder. */
static int expand(struct arguments *arguments, struct gput_rank **rank, enum option_id id,
    struct gput_error *error)
{
    char *path;
    const char *name = arguments_value(arguments, id);
    if (!name || !strchr(name, '%'))
        return GPUT_OK;
    if (!*rank)
        TRY(gput_rank_create(NULL, rank, error));
    TRY(gput_rank_expand(*rank, name, &path, error));
    int code = arguments_add(arguments, id, path, error);
    free(path);
    return code;
}

int output_files_find_free(
    const struct arguments *arguments, const char *path, char **name, struct gput_error *error)
{
    char text[MESSAGE_LINE_SIZE];
    struct stat info;
    *name = NULL;
    if (arguments_have(arguments, OPTION_OVERWRITTEN) || stat(path, &info) != 0 ||
        !S_ISREG(info.st_mode) || info.st_size == 0)
        return GPUT_OK;
    TRY(gput_rank_free_path(path, name, error));
    snprintf(text, sizeof text, "%.300s exists: writing %.300s (--overwrite replaces %.300s).",
        path, *name, path);
    message_warning(NULL, text);
    return GPUT_OK;
}

int output_files_expand(struct arguments *arguments, struct gput_error *error)
{
    struct gput_rank *rank = NULL;
    int code = GPUT_OK;
    if (option_is_among(arguments->command->options, OPTION_TRACKING_FILE))
        return GPUT_OK;
    for (size_t i = 0; code == GPUT_OK && i < COUNT(outputs); i++)
        code = expand(arguments, &rank, outputs[i], error);
    for (size_t i = 0; code == GPUT_OK && i < COUNT(more_outputs); i++)
        code = expand(arguments, &rank, more_outputs[i], error);
    gput_rank_destroy(rank);
    return code;
}

int output_files_check(const struct arguments *arguments, struct gput_error *error)
{
    int code = GPUT_OK;
    for (size_t i = 0; code == GPUT_OK && i < sizeof outputs / sizeof outputs[0]; i++) {
        char name[64];
        const char *output = arguments_value(arguments, outputs[i]);
        if (!output)
            continue;
        if (!output[0])
            return error_set(error, GPUT_ERROR_INVALID,
                "%s needs the name of a file, and was given an empty one. \"-\" is the standard "
                "output.",
                output_name(outputs[i], name));
        code = check_against_options(arguments, outputs[i], output, error);
        if (code == GPUT_OK)
            code = check_against_operands(arguments, outputs[i], output, error);
    }
    return code;
}

void output_files_say(const char *path)
{
    char text[64];
    if (strcmp(path, "-") == 0)
        return;
    snprintf(text, sizeof text, "Wrote %s (-o chooses another name).", path);
    message_note(text);
}

int output_files_make_private(const char *path, bool is_reused, const char *has,
    const char *way_out, struct gput_error *error)
{
    struct stat info;
    if (mkdir(path, 0700) == 0)
        return GPUT_OK;
    if (errno != EEXIST)
        return error_set(
            error, GPUT_ERROR_IO, "Cannot create folder %.400s: %s", path, strerror(errno));
    if (!is_reused)
        return error_set(error, GPUT_ERROR_EXISTS, "Folder %.400s has %s: %s", path, has, way_out);
    if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
        !(info.st_mode & (S_IWGRP | S_IWOTH)))
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_IO,
        "Folder %.400s is not used again, as other users can write to it: remove it.", path);
}
