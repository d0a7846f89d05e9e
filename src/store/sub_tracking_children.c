#include "store/sub_tracking_children.h"

#include "base/str.h"

#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The parts of "folder/marks.csv". */
struct parts {
    const char *name; /* "marks.csv" */
    size_t stem;      /* bytes of "marks" */
    const char *extension;
};

static struct parts split(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *extension = strrchr(name, '.');
    if (!extension)
        extension = name + strlen(name);
    return (struct parts){name, (size_t)(extension - name), extension};
}

/* "-4711": what follows it, or NULL. */
static const char *skip_number(const char *text)
{
    if (text[0] != '-' || !isdigit((unsigned char)text[1]))
        return NULL;
    return text + 1 + strspn(text + 1, "0123456789");
}

/* "marks-4711.csv", "marks-4711-2.csv" */
static bool is_child(const struct parts *parts, const char *name)
{
    if (strncmp(name, parts->name, parts->stem) != 0)
        return false;
    const char *rest = skip_number(name + parts->stem);
    const char *further = rest ? skip_number(rest) : NULL;
    return rest && strcmp(further ? further : rest, parts->extension) == 0;
}

static bool is_of_this_run(int folder, const char *name, int64_t first_mark_ns)
{
    struct stat status;
    /* The times of files are a little behind. */
    int64_t earliest_seconds = first_mark_ns / 1000000000 - 1;
    return fstatat(folder, name, &status, 0) == 0 && S_ISREG(status.st_mode) &&
           (int64_t)status.st_mtim.tv_sec >= earliest_seconds;
}

/* How many there are; `*first` is the name that sorts before all others, to be freed. */
static size_t find(DIR *folder, const struct parts *parts, int64_t first_mark_ns, char **first)
{
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!is_child(parts, entry->d_name) ||
            !is_of_this_run(dirfd(folder), entry->d_name, first_mark_ns))
            continue;
        count++;
        if (*first && strcmp(*first, entry->d_name) < 0)
            continue;
        free(*first);
        *first = strdup(entry->d_name);
    }
    return count;
}

char *sub_tracking_children_warning(const char *path, int64_t first_mark_ns)
{
    struct parts parts = split(path);
    int folder_length = (int)(parts.name - path);
    struct str text = {0};
    str_printf(&text, "%.*s.", folder_length, path);
    DIR *folder = text.failed ? NULL : opendir(text.data);
    str_finish(&text);
    if (!folder)
        return NULL;
    char *first = NULL;
    size_t count = find(folder, &parts, first_mark_ns, &first);
    closedir(folder);
    if (!first)
        return NULL;
    str_printf(&text,
        "Sub-tracking file %s: child processes wrote files of their own, which are not "
        "taken in: %s",
        path, first);
    free(first);
    if (count > 1)
        str_printf(&text, " and %zu more", count - 1);
    int stem = folder_length + (int)parts.stem;
    str_printf(&text,
        ". Combine all of them first: gpu-tracker sub-track combine --stf all%s -p %s "
        "%.*s-*%s",
        parts.extension, path, stem, path, parts.extension);
    return str_take(&text);
}
