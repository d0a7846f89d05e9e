#include "analysis/training/python/python_profiles.h"

#include "base/array.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/number.h"
#include "base/order.h"
#include "base/str.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FOLDER_DEPTH 16

static const struct profile_moment unknown = {.step = NAN, .time_us = NAN};

/* Copies a part of a text, truncated to the buffer. */
static void copy_part(const char *from, size_t length, char *to, size_t size)
{
    size_t kept = length < size ? length : size - 1;
    memcpy(to, from, kept);
    to[kept] = '\0';
}

/* Parses a finite number that ends at `end`. */
static bool finite_number(const char *from, const char *end, double *number)
{
    return number_parse_double(from, end, number) == end && isfinite(*number);
}

/* Parses a step: a whole number that a double holds exactly. */
static bool step_number(const char *from, const char *end, double *step)
{
    int64_t whole;
    if (number_parse_int64(from, end, &whole) != end)
        return false;
    *step = (double)whole;
    return fabs(*step) < 0x1p53;
}

/* Parses "train-3-stepstart-1596585376012363.8"; the step may be "*". */
static bool read_moment(
    const char *at, const char *end, double open_step, struct profile_moment *moment)
{
    const char *parts[4], *ends[4];
    int count = 0;
    while (count < 4) {
        const char *dash = count < 3 ? memchr(at, '-', (size_t)(end - at)) : NULL;
        parts[count] = at;
        ends[count] = dash ? dash : end;
        count++;
        if (!dash)
            break;
        at = dash + 1;
    }
    if (count != 4 || !finite_number(parts[3], ends[3], &moment->time_us))
        return false;
    copy_part(parts[0], (size_t)(ends[0] - parts[0]), moment->mode, sizeof moment->mode);
    copy_part(parts[2], (size_t)(ends[2] - parts[2]), moment->phase, sizeof moment->phase);
    if (ends[1] - parts[1] == 1 && *parts[1] == '*')
        moment->step = open_step;
    else if (!step_number(parts[1], ends[1], &moment->step))
        return false;
    return true;
}

/* Parses the older form, "<us>_<us>_<node>_<step>". */
static bool read_older(const char *name, struct profile_moment *start, struct profile_moment *end,
    char *node, size_t node_size)
{
    const char *first = strchr(name, '_');
    const char *second = first ? strchr(first + 1, '_') : NULL;
    const char *last = strrchr(name, '_');
    if (!second || last <= second)
        return false;
    const char *name_end = name + strlen(name);
    if (!finite_number(name, first, &start->time_us) ||
        !finite_number(first + 1, second, &end->time_us) ||
        !step_number(last + 1, name_end, &start->step))
        return false;
    end->step = start->step;
    copy_part(second + 1, (size_t)(last - second - 1), node, node_size);
    return true;
}

bool python_profile_moments(const char *name, struct profile_moment *start,
    struct profile_moment *end, char *node, size_t node_size)
{
    const char *middle = strchr(name, '_');
    *start = *end = unknown;
    if (middle && read_moment(name, middle, -1, start) &&
        read_moment(middle + 1, name + strlen(name), INFINITY, end))
        return true;
    *start = *end = unknown;
    if (read_older(name, start, end, node, node_size))
        return true;
    *start = *end = unknown;
    return false;
}

bool python_profile_in_steps(const struct python_profile *profile, double first, double last,
    const char *first_phase, const char *last_phase)
{
    double start = profile->start.step, end = profile->end.step;
    if (isnan(start) || isnan(end) || first > start || last < end)
        return false;
    if (first == start && strcmp(first_phase, profile->start.phase) != 0 &&
        (strcmp(first_phase, "stepend") == 0 || strcmp(first_phase, "forwardpassend") == 0))
        return false;
    return !(last == end && strcmp(last_phase, "stepstart") == 0 &&
             strcmp(last_phase, profile->end.phase) != 0);
}

bool python_profile_in_time(const struct python_profile *profile, double start_us, double end_us)
{
    return profile->start.time_us <= end_us && profile->end.time_us >= start_us;
}

/* Whether nothing was asked for, or the text that is there. */
static bool same_or_any(const char *asked, const char *there)
{
    return !asked || strcmp(asked, there) == 0;
}

/* Whether a profile is of the wanted node, phases and steps. */
static bool selected(
    const struct gput_python_options *options, const struct python_profile *profile)
{
    if (!same_or_any(options->node, profile->node) ||
        !same_or_any(options->start_mode, profile->start.mode) ||
        !same_or_any(options->end_mode, profile->end.mode) ||
        !same_or_any(options->framework, profile->framework))
        return false;
    if (isnan(options->start) && isnan(options->end))
        return same_or_any(options->start_phase, profile->start.phase) &&
               same_or_any(options->end_phase, profile->end.phase);
    double start = isnan(options->start) ? -INFINITY : options->start;
    double end = isnan(options->end) ? INFINITY : options->end;
    if (options->unit == GPUT_TIMELINE_TIME)
        return python_profile_in_time(profile, start, end);
    return python_profile_in_steps(profile, start, end,
        options->start_phase ? options->start_phase : "stepstart",
        options->end_phase ? options->end_phase : "end");
}

/* Writes the name of the folder that is `up` levels above a file into `buffer`. */
static void folder_name(const char *path, int up, char *buffer, size_t size)
{
    const char *end = path + strlen(path);
    buffer[0] = '\0';
    for (int i = 0; i < up; i++)
        while (end > path && *--end != '/')
            ;
    const char *start = end;
    while (start > path && start[-1] != '/')
        start--;
    if (end > start)
        copy_part(start, (size_t)(end - start), buffer, size);
}

/* Sets the members of a profile that the names of the folders above its file tell. */
static int describe(struct python_profile *profile, struct gput_error *error)
{
    char name[512], node[256] = "", kind[256], framework[256] = "";
    folder_name(profile->path, 1, name, sizeof name);
    folder_name(profile->path, 2, node, sizeof node);
    folder_name(profile->path, 3, kind, sizeof kind);
    if (strcasecmp(kind, "cprofile") == 0 || strcasecmp(kind, "pyinstrument") == 0)
        folder_name(profile->path, 4, framework, sizeof framework);
    else
        node[0] = '\0';
    python_profile_moments(name, &profile->start, &profile->end, node, sizeof node);
    profile->node = strdup(node);
    profile->framework = strdup(framework);
    return profile->node && profile->framework ? GPUT_OK : error_memory(error);
}

/* Frees the texts of one profile. */
static void finish_one(struct python_profile *profile)
{
    free(profile->path);
    free(profile->framework);
    free(profile->node);
}

/* Adds a file if it is selected. `named`: the caller named the file itself. */
static int add_file(const struct gput_python_options *options, const char *path, bool named,
    struct python_profiles *profiles, struct gput_error *error)
{
    bool is_session = text_ends_with(path, ".json") || text_ends_with(path, ".pyisession");
    struct python_profile profile = {
        .path = strdup(path), .pyinstrument = is_session, .named = named};
    int code = profile.path ? describe(&profile, error) : error_memory(error);
    if (code != GPUT_OK || !selected(options, &profile)) {
        finish_one(&profile);
        return code;
    }
    if (!ARRAY_EXTEND(profiles->profiles, profiles->count)) {
        finish_one(&profile);
        return error_memory(error);
    }
    profiles->profiles[profiles->count++] = profile;
    return GPUT_OK;
}

/* Finds the profiles in a folder and those below it. */
static int walk(const struct gput_python_options *options, const char *folder, int depth,
    struct python_profiles *profiles, struct gput_error *error)
{
    struct dirent **entries;
    int code = GPUT_OK, count = scandir(folder, &entries, file_is_visible, file_by_name);
    if (count < 0)
        return error_set_errno(error, errno, "Cannot read the folder %s", folder);
    for (int i = 0; i < count; i++) {
        struct str path = {0};
        struct stat info;
        const char *name = entries[i]->d_name;
        str_printf(&path, "%s/%s", folder, name);
        if (code != GPUT_OK)
            ;
        else if (path.failed)
            code = error_memory(error);
        else if (stat(path.data, &info) == 0 && S_ISDIR(info.st_mode) && depth < MAX_FOLDER_DEPTH)
            code = walk(options, path.data, depth + 1, profiles, error);
        else if (strcmp(name, "python_stats") == 0 || strcmp(name, "python_stats.json") == 0 ||
                 text_ends_with(name, ".prof"))
            code = add_file(options, path.data, false, profiles, error);
        str_finish(&path);
        free(entries[i]);
    }
    free(entries);
    return code;
}

/* Orders profiles by their start, those without one first, then by path. */
static int by_time(const void *left, const void *right)
{
    const struct python_profile *a = left, *b = right;
    double x = isnan(a->start.time_us) ? -INFINITY : a->start.time_us;
    double y = isnan(b->start.time_us) ? -INFINITY : b->start.time_us;
    ORDER_BY(x, y);
    return strcmp(a->path, b->path);
}

/* Refuses a word that is not in the list. */
static int check_word(const char *word, const char *noun, const char *const *words, size_t count,
    struct gput_error *error)
{
    struct str list = {0};
    for (size_t i = 0; i < count; i++) {
        if (!word || strcmp(word, words[i]) == 0) {
            str_finish(&list);
            return GPUT_OK;
        }
        str_printf(&list, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    int code = nearest_refuse(list.failed ? "" : str_text(&list), word, noun, error);
    str_finish(&list);
    return code;
}

int python_profiles_find(const struct gput_python_options *options,
    struct python_profiles *profiles, struct gput_error *error)
{
    *profiles = (struct python_profiles){0};

    static const char *const modes[] = {
        "train", "eval", "predict", "global", "prestepzero", "posthookclose"};
    static const char *const phases[] = {"start", "stepstart", "forwardpassend", "stepend", "end"};
    const size_t mode_count = sizeof modes / sizeof *modes;
    const size_t n_phases = sizeof phases / sizeof *phases;
    TRY(check_word(options->start_mode, "mode", modes, mode_count, error));
    TRY(check_word(options->end_mode, "mode", modes, mode_count, error));
    TRY(check_word(options->start_phase, "phase", phases, n_phases, error));
    TRY(check_word(options->end_phase, "phase", phases, n_phases, error));

    for (size_t i = 0; i < options->n_paths; i++) {
        struct stat info;
        const char *path = options->paths[i];
        size_t before = profiles->count;
        if (stat(path, &info) != 0)
            return error_set_errno(error, errno, "Cannot open %s", path);
        if (S_ISDIR(info.st_mode))
            TRY(walk(options, path, 0, profiles, error));
        else
            TRY(add_file(options, path, true, profiles, error));
        if (profiles->count - before > 1)
            qsort(profiles->profiles + before, profiles->count - before, sizeof *profiles->profiles,
                by_time);
    }
    return GPUT_OK;
}

void python_profiles_finish(struct python_profiles *profiles)
{
    for (size_t i = 0; i < profiles->count; i++)
        finish_one(profiles->profiles + i);
    free(profiles->profiles);
    *profiles = (struct python_profiles){0};
}
