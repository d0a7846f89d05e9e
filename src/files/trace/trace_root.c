#include "files/trace/trace_root.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/number.h"
#include "base/order.h"
#include "base/str.h"
#include "base/text.h"
#include "files/trace/merged_mark.h"
#include "files/tracking/tracking_identity.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FOLDER_DEPTH 16
/* Intervals are widened by this, since the time in a file's name is only one moment of its
 * contents. */
#define WIDENED_BY_US (INT64_C(180) * 1000000)

const char *const trace_suffixes[] = {"pythontimeline.json", "model_timeline.json",
    "horovod_timeline.json", "smdataparallel_timeline.json", "trace.json.gz"};
const size_t trace_suffix_count = sizeof trace_suffixes / sizeof *trace_suffixes;

/* Whether a path is a folder. */
static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Returns whether a folder has one of the two subfolders that every trace root has. */
static bool holds_traces(const char *path)
{
    char system[4096 + 16], framework[4096 + 16];
    snprintf(system, sizeof system, "%s/system", path);
    snprintf(framework, sizeof framework, "%s/framework", path);
    return is_folder(system) || is_folder(framework);
}

bool trace_file_is_readable(const struct trace_file *file, const struct read_report *report)
{
    struct stat info;
    struct str text = {0};
    errno = 0;
    if (stat(file->path, &info) == 0 && S_ISREG(info.st_mode) && access(file->path, R_OK) == 0)
        return true;
    str_printf(
        &text, "%s is skipped: %s", file->path, errno ? strerror(errno) : "it is not a plain file");
    read_report_warn_text(report, &text);
    return false;
}

bool trace_root_is(const char *path)
{
    char inner[4096];
    snprintf(inner, sizeof inner, "%s/profiler-output", path);
    return holds_traces(path) || holds_traces(inner);
}

/* Adds a file, which owns `node` from here on, also after a failure. */
static int add_file(struct trace_root *root, enum trace_file_kind kind, const char *path,
    char *node, struct gput_error *error)
{
    char *copy = strdup(path);
    if (!copy || !node || !ARRAY_EXTEND(root->files, root->count)) {
        free(copy);
        free(node);
        return error_memory(error);
    }
    root->files[root->count++] =
        (struct trace_file){.kind = kind, .path = copy, .node = node, .suffix = ""};
    return GPUT_OK;
}

/* Adds a file of readings, "<second>.<node>.json". */
static int add_system_file(
    struct trace_root *root, const char *path, const char *name, struct gput_error *error)
{
    uint64_t second;
    const char *end = name + strlen(name);
    const char *dot = number_parse_uint64(name, end, &second);
    if (!dot || *dot != '.' || !text_ends_with(name, ".json") || second > INT64_MAX / 1000000)
        return GPUT_OK;
    const char *node = dot + 1;
    if (end - node <= 5)
        return GPUT_OK;
    TRY(add_file(root, TRACE_FILE_SYSTEM, path, strndup(node, (size_t)(end - node) - 5), error));
    root->files[root->count - 1].time_us = (int64_t)second * 1000000;
    return GPUT_OK;
}

/* Returns the node of a framework file as SageMaker's tool names it: process and host "27-algo-1"
 * become "algo-1-27", so that the files of a host are neighbours. */
static char *node_name(const char *text, size_t length)
{
    static const char host[] = "-algo";
    char *node = malloc(length + 1);
    if (!node)
        return NULL;
    memcpy(node, text, length);
    node[length] = '\0';
    for (size_t i = length; i-- > 0;)
        if (strncmp(node + i, host, sizeof host - 1) == 0) {
            memcpy(node, text + i + 1, length - i - 1);
            node[length - i - 1] = '-';
            memcpy(node + length - i, text, i);
            break;
        }
    return node;
}

bool trace_root_metadata_times(const char *name, int64_t *start_us, int64_t *end_us)
{
    const char *end = strrchr(name, '_'), *start = end;
    if (!text_ends_with(name, ".metadata") || !end)
        return false;
    while (start > name && start[-1] != '_')
        start--;
    return start > name && number_parse_int64(start, end, start_us) == end &&
           number_parse_int64(end + 1, name + strlen(name), end_us) &&
           *start_us <= INT64_MAX / 1000 && *start_us >= INT64_MIN / 1000;
}

/* Whether an entry is a file of metadata with times in its name. */
static int is_metadata(const struct dirent *entry)
{
    int64_t start_us, end_us;
    return trace_root_metadata_times(entry->d_name, &start_us, &end_us);
}

/* Lists the names of a folder that `is_chosen` accepts, sorted; none if there is no such folder. */
static int list(const char *folder, int (*is_chosen)(const struct dirent *),
    struct dirent ***entries, int *count, struct gput_error *error)
{
    *count = scandir(folder, entries, is_chosen, file_by_name);
    if (*count >= 0)
        return GPUT_OK;
    *entries = NULL;
    *count = 0;
    return errno == ENOENT ? GPUT_OK
                           : error_set_errno(error, errno, "Cannot read the folder %s", folder);
}

/* Adds a file of a framework, of the kind that its name says. */
static int add_framework_file(
    struct trace_root *root, const char *path, const char *name, struct gput_error *error)
{
    if (strcmp(name, "python_stats") == 0 || strcmp(name, "python_stats.json") == 0) {
        /* Add a profile of Python, ".../<node>/<stats dir>/python_stats": the node is two folders
         * up. */
        const char *end = path + strlen(path);
        for (int up = 0; up < 2; up++)
            while (end > path && *--end != '/')
                ;
        const char *node = end;
        while (node > path && node[-1] != '/')
            node--;
        return add_file(root, TRACE_FILE_PYTHON, path, strndup(node, (size_t)(end - node)), error);
    }

    for (size_t i = 0; i + 1 < trace_suffix_count; i++) {
        size_t start = strlen(name) - strlen(trace_suffixes[i]);
        if (text_ends_with(name, trace_suffixes[i]) && start > 0 && name[start - 1] == '_') {
            /* Add a file of events, "<end of the last event, us>_<node>_<suffix>". */
            uint64_t time_us = 0;
            const char *end = name + strlen(name);
            const char *node = number_parse_uint64(name, end, &time_us);
            if (!node || *node != '_') {
                node = end;
                time_us = 0;
            } else {
                node++;
            }
            TRY(add_file(
                root, TRACE_FILE_EVENTS, path, node_name(node, strcspn(node, "_")), error));
            root->files[root->count - 1].time_us = (int64_t)(time_us & INT64_MAX);
            root->files[root->count - 1].suffix = trace_suffixes[i];
            return GPUT_OK;
        }
    }
    if (!text_ends_with(name, ".trace.json.gz"))
        return GPUT_OK;
    TRY(add_file(root, TRACE_FILE_TENSORFLOW, path, node_name(name, strcspn(name, ".")), error));
    root->files[root->count - 1].suffix = trace_suffixes[trace_suffix_count - 1];

    /* Read the times of a TensorFlow trace from a file name four folders above it. Its own times do
     * not count from the epoch. */
    struct trace_file *file = root->files + root->count - 1;
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", file->path);
    for (int up = 0; up < 4; up++) {
        char *slash = strrchr(folder, '/');
        if (!slash)
            return GPUT_OK;
        *slash = '\0';
    }
    struct dirent **entries;
    int count;
    TRY(list(folder, is_metadata, &entries, &count, error));
    for (int i = 0; i < count; i++) {
        trace_root_metadata_times(entries[i]->d_name, &file->base_us, &file->time_us);
        free(entries[i]);
    }
    free(entries);
    return GPUT_OK;
}

int trace_root_add(struct trace_root *root, const char *path, bool system, struct gput_error *error)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return system ? add_system_file(root, path, name, error)
                  : add_framework_file(root, path, name, error);
}

/* Adds all files of a folder and of those in it. */
static int walk(
    struct trace_root *root, const char *folder, bool system, int depth, struct gput_error *error)
{
    struct dirent **entries;
    int code, count;
    TRY(list(folder, file_is_visible, &entries, &count, error));
    code = GPUT_OK;
    for (int i = 0; i < count; i++) {
        struct str path = {0};
        str_printf(&path, "%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
        if (code != GPUT_OK)
            ;
        else if (path.failed)
            code = error_memory(error);
        else if (is_folder(path.data) && depth < MAX_FOLDER_DEPTH)
            code = walk(root, path.data, system, depth + 1, error);
        else
            code = trace_root_add(root, path.data, system, error);
        str_finish(&path);
    }
    free(entries);
    return code;
}

/* Orders files by kind, time and path. */
static int compare_files(const void *left, const void *right)
{
    const struct trace_file *a = left, *b = right;
    ORDER_BY(a->kind, b->kind);
    ORDER_BY(a->time_us, b->time_us);
    return strcmp(a->path, b->path);
}

void trace_root_sort(struct trace_root *root)
{
    if (root->count > 1)
        qsort(root->files, root->count, sizeof *root->files, compare_files);
}

int trace_root_read(const char *path, struct trace_root *root, struct gput_error *error)
{
    char inner[4096], part[4096 + 16];
    *root = (struct trace_root){0};
    if (strlen(path) > sizeof inner - 64)
        return error_set(error, GPUT_ERROR_INVALID, "The path is too long: %.60s…", path);
    if (!is_folder(path))
        return access(path, F_OK) == 0
                   ? error_set(error, GPUT_ERROR_FORMAT,
                         "%s is a file, not a folder with \"system\" or \"framework\" in it", path)
                   : error_set(error, GPUT_ERROR_NOT_FOUND, "There is no folder %s.", path);
    snprintf(inner, sizeof inner, "%s%s", path, holds_traces(path) ? "" : "/profiler-output");
    if (!holds_traces(inner))
        return error_set(error, GPUT_ERROR_FORMAT,
            "%s is not a trace root: it has neither a folder \"system\" nor \"framework\"", path);
    snprintf(part, sizeof part, "%s/system", inner);
    int code = walk(root, part, true, 0, error);
    snprintf(part, sizeof part, "%s/framework", inner);
    if (code == GPUT_OK)
        code = walk(root, part, false, 0, error);
    if (code == GPUT_OK)
        trace_root_sort(root);
    else
        trace_root_finish(root);
    return code;
}

void trace_root_finish(struct trace_root *root)
{
    for (size_t i = 0; i < root->count; i++) {
        free(root->files[i].path);
        free(root->files[i].node);
    }
    free(root->files);
    *root = (struct trace_root){0};
}

/* Whether two files are of one kind and one node. */
static bool same_series(const struct trace_file *a, const struct trace_file *b)
{
    return a->kind == b->kind && strcmp(a->node, b->node) == 0;
}

/* Whether a file of readings overlaps the interval. It lasts until the next file of its series
 * begins. */
static bool system_file_matters(
    const struct trace_root *root, size_t at, int64_t start_us, int64_t end_us)
{
    const struct trace_file *file = root->files + at;
    for (size_t i = at + 1; i < root->count && root->files[i].kind == file->kind; i++)
        if (same_series(root->files + i, file) && root->files[i].time_us <= start_us)
            return false;
    if (file->time_us < end_us)
        return true;
    for (size_t i = at; i-- > 0;)
        if (same_series(root->files + i, file))
            return root->files[i].time_us < end_us;
    return true;
}

void trace_root_choose(
    const struct trace_root *root, const struct trace_choice *choice, bool *chosen)
{
    int64_t start_us, end_us;
    if (__builtin_sub_overflow(choice->start_us, WIDENED_BY_US, &start_us))
        start_us = choice->start_us;
    if (__builtin_add_overflow(choice->end_us, WIDENED_BY_US, &end_us))
        end_us = choice->end_us;
    for (size_t i = 0; i < root->count; i++) {
        const struct trace_file *file = root->files + i;
        if (file->kind == TRACE_FILE_SYSTEM) {
            chosen[i] = system_file_matters(root, i, start_us, end_us);
            continue;
        }
        /* A file has the events that ended while it was written. A long event may have begun much
         * earlier, so no later file can be skipped. */
        bool is_wanted = choice->n_suffixes == 0 ||
                         text_is_among(file->suffix, choice->suffixes, choice->n_suffixes);
        bool is_within =
            file->time_us == 0 || (file->time_us >= start_us && file->base_us <= end_us);
        chosen[i] = is_wanted && is_within;
    }
}

/* ---- Folders of traces ---- */

/* Whether a file's name is that of a trace, and not that of a file next to a tracking file. */
static int is_trace(const struct dirent *entry)
{
    const char *name = entry->d_name;
    if (text_ends_with(name, ".csv" TRACKING_IDENTITY_EXTENSION))
        return 0;
    return name[0] != '.' && (text_ends_with(name, ".json") || text_ends_with(name, ".json.gz") ||
                                 text_ends_with(name, ".json.zst"));
}

/* Adds a path and takes ownership of it, also on failure. */
static int add(struct trace_paths *list, char *path, struct gput_error *error)
{
    if (!path || !ARRAY_EXTEND(list->paths, list->count)) {
        free(path);
        return error_memory(error);
    }
    list->paths[list->count++] = path;
    return GPUT_OK;
}

/* Adds a file of a folder, and takes ownership of `path`. Skips merged timelines, and files that
 * are not regular, since reading one may never end. */
static int add_found(struct trace_paths *list, char *path, const struct read_report *report,
    struct gput_error *error)
{
    CLEANUP_FREE char *found = path;
    struct stat info;
    struct str text = {0};
    if (found && stat(found, &info) == 0 && !S_ISREG(info.st_mode))
        return GPUT_OK;
    /* A merged timeline is recognized by its name, which SageMaker's merger uses too, or by its
     * mark. */
    if (!found || !(text_ends_with(found, MERGED_SUFFIX) || merged_mark_is_in(found)))
        return add(list, STEAL(found), error);
    str_printf(
        &text, "%s is a merged timeline and is skipped; name it explicitly to read it", found);
    read_report_warn_text(report, &text);
    return GPUT_OK;
}

/* Adds the traces of a folder. Fails if there are none. */
static int add_folder(struct trace_paths *list, const char *folder,
    const struct read_report *report, struct gput_error *error)
{
    size_t before = list->count;
    struct dirent **entries;
    int code = GPUT_OK, count = scandir(folder, &entries, is_trace, file_by_name);
    if (count < 0)
        return error_set_errno(error, errno, "Cannot read the folder %s", folder);
    for (int i = 0; i < count; i++) {
        struct str path = {0};
        str_printf(&path, "%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
        if (code == GPUT_OK)
            code = add_found(list, str_steal(&path), report, error);
        str_finish(&path);
    }
    free(entries);
    if (code == GPUT_OK && list->count == before)
        return error_set(error, GPUT_ERROR_FORMAT,
            "%s is neither a trace root (with \"system\" or \"framework\" in it) nor are there "
            "trace files (.json, .json.gz, .json.zst) in it",
            folder);
    return code;
}

int trace_paths_add(struct trace_paths *list, const char *path, const struct read_report *report,
    struct gput_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return error_set_errno(error, errno, "Cannot open %s", path);
    return S_ISDIR(info.st_mode) ? add_folder(list, path, report, error)
                                 : add(list, strdup(path), error);
}

void trace_paths_finish(struct trace_paths *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    *list = (struct trace_paths){0};
}
