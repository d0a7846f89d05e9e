#include "base/part_file.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_TRIES 100

/* ---- Leftover files ---- */

/* Returns the first byte that is no digit. */
static const char *skip_digits(const char *text)
{
    while (isdigit((unsigned char)*text))
        text++;
    return text;
}

/* Returns whether an entry of the folder is named "NAME.PID-N.part". */
static bool is_part_of(const char *entry, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(entry, name, length) != 0 || entry[length] != '.')
        return false;
    const char *pid = entry + length + 1, *dash = skip_digits(pid);
    if (dash == pid || *dash != '-')
        return false;
    const char *end = skip_digits(dash + 1);
    return end > dash + 1 && strcmp(end, ".part") == 0;
}

/* Removes temporary files that killed writers of the same target left. */
static void remove_left(const char *target)
{
    const char *slash = strrchr(target, '/');
    const char *name = slash ? slash + 1 : target;
    CLEANUP_FREE char *folder = slash ? strndup(target, (size_t)(name - target)) : strdup(".");
    CLEANUP_DIR DIR *directory = folder ? opendir(folder) : NULL;
    if (!directory)
        return;
    struct dirent *entry;
    while ((entry = readdir(directory))) {
        if (is_part_of(entry->d_name, name)) {
            int folder_fd = dirfd(directory);
            int fd =
                openat(folder_fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
            if (fd >= 0) {
                if (flock(fd, LOCK_EX | LOCK_NB) == 0)
                    unlinkat(folder_fd, entry->d_name, 0);
                close(fd);
            }
        }
    }
}

/* ---- Our file ---- */

/* Locks the file: another writer would take an unlocked one for a leftover and remove it. */
static bool lock(int fd)
{
    struct stat info;
    return flock(fd, LOCK_EX | LOCK_NB) != 0 ? errno != EWOULDBLOCK
                                             : fstat(fd, &info) == 0 && info.st_nlink > 0;
}

/* Creates and locks a file of a new name; -1 with errno set. */
static int open_new(const char *target, struct str *path)
{
    for (unsigned number = 0; number < MAX_TRIES; number++) {
        str_clear(path);
        str_printf(path, "%s.%ld-%u.part", target, (long)getpid(), number);
        if (path->failed) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(path->data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 && lock(fd))
            return fd;
        if (fd < 0 && errno != EEXIST)
            return -1;
        if (fd >= 0)
            close(fd);
    }
    errno = EEXIST;
    return -1;
}

int part_file_create(
    const char *target, const char *path, struct part_file *part, int *fd, struct gput_error *error)
{
    CLEANUP_STR struct str name = {0};
    *part = (struct part_file){.lock_fd = -1};
    remove_left(target);
    *fd = open_new(target, &name);
    if (*fd < 0)
        return error_set_errno(error, errno, "Cannot write %s", path);
    part->path = str_steal(&name);
    part->lock_fd = fcntl(*fd, F_DUPFD_CLOEXEC, 0);
    if (part->lock_fd >= 0)
        return GPUT_OK;
    int code = error_set_errno(error, errno, "Cannot write %s", path);
    close(*fd);
    part_file_close(part);
    return code;
}

int part_file_keep(
    struct part_file *part, const char *target, const char *path, struct gput_error *error)
{
    if (rename(part->path, target) != 0)
        return error_set_errno(error, errno, "Cannot write %s", path);
    free(part->path);
    part->path = NULL;
    return GPUT_OK;
}

void part_file_close(struct part_file *part)
{
    if (part->path)
        unlink(part->path);
    if (part->lock_fd >= 0) {
        flock(part->lock_fd, LOCK_UN); /* explicitly, since a forked child may have it open */
        close(part->lock_fd);
    }
    free(part->path);
    *part = (struct part_file){.lock_fd = -1};
}
