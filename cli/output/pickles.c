#include "output/pickles.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/str.h"
#include "common/environment.h"
#include "output/python_package.h"

#include <gputracker/file.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct python_module module = {"_pickle_files", "reads and writes pickles",
    "Install it there (pip install gputracker), or name a Python that has it",
    "Without it, -f json writes the same figures."};

/* What a pickle of protocol 2 and later begins with, and the class of what the older gpu_tracker
 * keeps, which is near the beginning. */
#define PICKLE_START '\x80'
#define USAGE_CLASS "ResourceUsage"

int pickles_check(struct gput_error *error)
{
    static const char *const arguments[] = {"check", NULL};
    CLEANUP_FREE char *nothing = NULL;
    size_t length;
    return python_package_run(&module, arguments, NULL, 0, -1, &nothing, &length, error);
}

int pickles_make(const char *kind, const char *json, size_t length, char **bytes,
    size_t *bytes_length, struct gput_error *error)
{
    char action[32];
    const char *const arguments[] = {action, NULL};
    snprintf(action, sizeof action, "write-%s", kind);
    return python_package_run(&module, arguments, json, length, -1, bytes, bytes_length, error);
}

/* ---- Copies ---- */

/* Whether a file is a pickle, and has that text (NULL: any) near its beginning. */
static bool is_pickle(const char *path, const char *text)
{
    char bytes[512];
    size_t length = file_read_beginning(path, bytes, sizeof bytes);
    return length > 0 && bytes[0] == PICKLE_START &&
           (!text || memmem(bytes, length, text, strlen(text)));
}

/* Makes a copy of a pickle. It has a folder of its own: the name of a file is shown, and two files
 * may have the same. */
static int make_copy(
    struct pickle_copy *copy, const char *action, const char **path, struct gput_error *error)
{
    const char *const arguments[] = {action, *path, NULL};
    const char *slash = strrchr(*path, '/');
    CLEANUP_FREE char *json = NULL;
    CLEANUP_STR struct str copied = {0};
    size_t length;
    TRY(python_package_run(&module, arguments, NULL, 0, -1, &json, &length, error));
    TRY(temporary_folder_make(
        &copy->folder, environment_path("TMPDIR"), "a pickle as JSON", error));
    if (copy->folder.alive_fd >= 0) /* the folder stays where Python replaces this process */
        fcntl(copy->folder.alive_fd, F_SETFD, 0);
    str_printf(&copied, "%s/%s", copy->folder.path, slash ? slash + 1 : *path);
    copy->path = copied.failed ? NULL : str_steal(&copied);
    if (!copy->path)
        return error_memory(error);
    *path = copy->path;
    return gput_file_write(copy->path, json, length, error);
}

int pickle_copy_of_analysis(struct pickle_copy *copy, const char **path, struct gput_error *error)
{
    return is_pickle(*path, NULL) ? make_copy(copy, "read-analysis", path, error) : GPUT_OK;
}

int pickle_copy_of_usage(struct pickle_copy *copy, const char **path, struct gput_error *error)
{
    return is_pickle(*path, USAGE_CLASS) ? make_copy(copy, "read-usage", path, error) : GPUT_OK;
}

void pickle_copy_finish(struct pickle_copy *copy)
{
    temporary_folder_remove(&copy->folder);
    free(copy->path);
    *copy = (struct pickle_copy){0};
}
