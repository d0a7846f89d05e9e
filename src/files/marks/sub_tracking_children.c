#include "files/marks/sub_tracking_children.h"

#include "base/file.h"
#include "base/number.h"
#include "base/str.h"
#include "base/text.h"
#include "files/marks/sub_tracking_file.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The parts of "folder/marks.csv". */
struct parts {
    const char *path;
    int folder;       /* bytes of "folder/" */
    const char *name; /* "marks.csv" */
    size_t stem;      /* bytes of "marks" */
    const char *extension;
};

/* Reads "-4711" and returns what follows; NULL when there is none. */
static const char *skip_number(const char *text, int64_t *number)
{
    if (text[0] != '-' || !isdigit((unsigned char)text[1]))
        return NULL;
    const char *end = text + 1 + strspn(text + 1, "0123456789");
    return number_parse_int64(text + 1, end, number) == end ? end : NULL;
}

/* "marks-4711.csv", "marks-4711-2.csv": 4711; else -1. */
static int64_t process_id_of(const struct parts *parts, const char *name)
{
    int64_t process_id, further;
    if (strncmp(name, parts->name, parts->stem) != 0)
        return -1;
    const char *rest = skip_number(name + parts->stem, &process_id);
    const char *extension = rest ? skip_number(rest, &further) : NULL;
    if (!extension)
        extension = rest;
    return extension && strcmp(extension, parts->extension) == 0 ? process_id : -1;
}

/* Whether a file is that of a child in this run: it was changed after the first mark, and begins
 * with a mark of the process in its name. "marks-2.csv" may also be a repeated run. */
static bool is_child(const struct parts *parts, const char *name, int64_t first_mark_ns)
{
    int64_t process_id = process_id_of(parts, name);
    if (process_id < 0)
        return false;
    CLEANUP_STR struct str path = {0};
    struct stat status;
    int64_t earliest_seconds = first_mark_ns / 1000000000 - 1; /* modification times are coarser */
    str_printf(&path, "%.*s%s", parts->folder, parts->path, name);
    if (path.failed || stat(path.data, &status) != 0 || !S_ISREG(status.st_mode) ||
        (int64_t)status.st_mtim.tv_sec < earliest_seconds)
        return false;

    CLEANUP_NAMES struct sub_tracking_names *names = sub_tracking_names_create();
    CLEANUP_READER struct sub_tracking_reader *reader = NULL;
    struct sub_tracking_mark row = {.process_id = -1};
    size_t count;
    if (names && sub_tracking_reader_open(path.data, names, &reader, NULL) == GPUT_OK)
        sub_tracking_reader_next(reader, &row, 1, &count, NULL);
    return row.process_id == process_id;
}

/* Whether "marks-*.csv" matches a name. */
static bool fits_pattern(const struct parts *parts, const char *name)
{
    size_t length = strlen(name), extension = strlen(parts->extension);
    return strncmp(name, parts->name, parts->stem) == 0 && name[parts->stem] == '-' &&
           length > parts->stem + extension && text_ends_with(name, parts->extension);
}

struct children {
    struct dirent **files; /* sorted by their names */
    size_t count;
    bool apart; /* no other file matches the pattern */
};

/* Finds the files of children next to a file. */
static struct children find(const struct parts *parts, int64_t first_mark_ns)
{
    struct children children = {.apart = true};
    struct str folder = {0};
    str_printf(&folder, "%.*s.", parts->folder, parts->path);
    int count = folder.failed ? -1 : scandir(folder.data, &children.files, NULL, file_by_name);
    str_finish(&folder);
    for (int i = 0; i < count; i++) {
        struct dirent *file = children.files[i];
        if (is_child(parts, file->d_name, first_mark_ns)) {
            children.files[children.count++] = file;
            continue;
        }
        children.apart &= !fits_pattern(parts, file->d_name);
        free(file);
    }
    return children;
}

/* Appends a word as a shell reads it. */
static void append_shell_word(struct str *text, const char *word, size_t length)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./+,:@%-";
    if (strspn(word, plain) >= length) {
        str_append_bytes(text, word, length);
        return;
    }
    str_append_char(text, '\'');
    for (const char *end = word + length; word < end; word++) {
        if (*word == '\'')
            str_append(text, "'\\'");
        str_append_char(text, *word);
    }
    str_append_char(text, '\'');
}

/* Appends the command that combines all of the files. */
static void append_command(
    struct str *text, const struct parts *parts, const struct children *children)
{
    size_t folder = (size_t)parts->folder;
    str_printf(text, "gpu-tracker sub-track combine --stf all%s -p ", parts->extension);
    append_shell_word(text, parts->path, strlen(parts->path));
    if (children->apart) {
        str_append_char(text, ' ');
        append_shell_word(text, parts->path, folder + parts->stem);
        str_printf(text, "-*%s", parts->extension);
        return;
    }
    for (size_t i = 0; i < children->count; i++) {
        struct str path = {0};
        str_printf(&path, "%.*s%s", (int)folder, parts->path, children->files[i]->d_name);
        str_append_char(text, ' ');
        append_shell_word(text, str_text(&path), path.length);
        str_finish(&path);
    }
}

/* Writes the sentence that names files of child processes. */
static char *describe(const struct parts *parts, const struct children *children)
{
    struct str text = {0};
    str_printf(&text,
        "Sub-tracking file %s: child processes wrote files of their own, which are not included: "
        "%s",
        parts->path, children->files[0]->d_name);
    if (children->count > 1)
        str_printf(&text, " and %zu more", children->count - 1);
    str_append(&text, ". Combine all of them first: ");
    append_command(&text, parts, children);
    return str_steal(&text);
}

char *sub_tracking_children_warning(const char *path, int64_t first_mark_ns)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *extension = strrchr(name, '.');
    if (!extension)
        extension = name + strlen(name);
    struct parts parts = {path, (int)(name - path), name, (size_t)(extension - name), extension};
    struct children children = find(&parts, first_mark_ns);
    char *warning = children.count > 0 ? describe(&parts, &children) : NULL;
    for (size_t i = 0; i < children.count; i++)
        free(children.files[i]);
    free(children.files);
    return warning;
}
