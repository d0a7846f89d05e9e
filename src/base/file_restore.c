#include "base/file_restore.h"

#include "base/file.h"
#include "base/str.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NAMES 1000
#define PLAIN_EXTENSION ".plain.csv" /* a whole one */

enum file_fate file_fate(int fd, const char *path, char **now)
{
    struct stat opened, there;
    char link[64], place[PATH_MAX];
    if (fstat(fd, &opened) != 0 || !S_ISREG(opened.st_mode))
        return FILE_IN_PLACE;
    if (opened.st_nlink == 0)
        return FILE_REMOVED;
    if (stat(path, &there) == 0 && there.st_dev == opened.st_dev && there.st_ino == opened.st_ino)
        return FILE_IN_PLACE;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, place, sizeof place - 1);
    if (length <= 0)
        return FILE_IN_PLACE;
    place[length] = '\0';
    *now = strdup(place);
    return *now ? FILE_MOVED : FILE_IN_PLACE;
}

/* Makes the folders that a path is in. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777); /* making the file says why not */
        *slash = '/';
    }
}

int file_restore_name(const char *path, char **name, struct gput_error *error)
{
    struct stat info;
    const char *base = file_base_name(path), *dot = base[0] ? strrchr(base + 1, '.') : NULL;
    if (text_ends_with(base, PLAIN_EXTENSION))
        dot = path + strlen(path) - strlen(PLAIN_EXTENSION);
    int length = dot ? (int)(dot - path) : (int)strlen(path);
    *name = strdup(path);
    for (int number = 1; *name && number < MAX_NAMES; number++) {
        make_folders(*name);
        if (lstat(*name, &info) != 0)
            return GPUT_OK;
        free(*name);
        if (asprintf(name, "%.*s.%d%s", length, path, number, path + length) < 0)
            *name = NULL;
    }
    return *name ? GPUT_OK : error_memory(error);
}

/* Copies the content of one file to another. */
static int copy_content(int from, int to, const char *name, struct gput_error *error)
{
    char bytes[8192];
    uint64_t offset = 0;
    for (;;) {
        size_t got;
        TRY(file_read_at(from, name, bytes, sizeof bytes, offset, &got, error));
        if (got == 0)
            return GPUT_OK;
        TRY(file_write_fd(to, name, bytes, got, error));
        offset += got;
    }
}

int file_restore(int *fd, char **path, struct gput_error *error)
{
    char link[64], *name;
    TRY(file_restore_name(*path, &name, error));
    snprintf(link, sizeof link, "/proc/self/fd/%d", *fd); /* it may be open for writing alone */
    int from = open(link, O_RDONLY | O_CLOEXEC);
    int to = from < 0 ? -1 : open(name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    int code = to < 0 ? error_set_errno(error, errno, "Cannot write %s", name) : GPUT_OK;
    if (code == GPUT_OK) {
        flock(to, LOCK_EX | LOCK_NB);
        code = copy_content(from, to, name, error);
    }
    file_close_fd(&from);
    if (code != GPUT_OK) {
        if (to >= 0)
            unlink(name);
        file_close_fd(&to);
        free(name);
        return code;
    }
    close(*fd);
    *fd = to;
    free(*path);
    *path = name;
    return GPUT_OK;
}

int file_restore_say(const char *path, const char *now, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_GONE,
        "%.300s was removed while the command ran: it was written again, to %.300s.", path, now);
}
