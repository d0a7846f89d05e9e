#include "files/trace/trace_folder.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "files/trace/merged_mark.h"
#include "files/tracking/tracking_identity.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns whether a file's name is that of a trace, and not of a file next to a tracking file. */
static int is_trace(const struct dirent *entry)
{
    const char *name = entry->d_name;
    if (text_ends_with(name, ".csv" TRACKING_IDENTITY_EXTENSION))
        return 0;
    return name[0] != '.' && (text_ends_with(name, ".json") || text_ends_with(name, ".json.gz") ||
                                 text_ends_with(name, ".json.zst"));
}

/* Adds a path, which belongs to the list from here on, also after a failure. */
static int add(struct trace_paths *list, char *path, struct gput_error *error)
{
    if (!path || !ARRAY_EXTEND(list->paths, list->count)) {
        free(path);
        return error_memory(error);
    }
    list->paths[list->count++] = path;
    return GPUT_OK;
}

/* Adds a file of a folder, and takes `path` over. A timeline that was merged of others is left out,
 * and what is no plain file: it may never end. */
static int add_found(struct trace_paths *list, char *path, const struct read_report *report,
    struct gput_error *error)
{
    CLEANUP_FREE char *found = path;
    struct stat info;
    struct str text = {0};
    if (found && stat(found, &info) == 0 && !S_ISREG(info.st_mode))
        return GPUT_OK;
    /* By its name, as SageMaker's merger gives it too, or by what it says. */
    if (!found || !(text_ends_with(found, MERGED_SUFFIX) || merged_mark_is_in(found)))
        return add(list, STEAL(found), error);
    str_printf(
        &text, "%s is a merged timeline and is skipped; name it explicitly to read it", found);
    read_report_warn_text(report, &text);
    return GPUT_OK;
}

/* Adds the traces of a folder, which has to have some. */
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
