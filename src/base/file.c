#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int file_read_fd(int fd, const char *name, struct str *content, struct gput_error *error)
{
    for (;;) {
        if (!str_reserve(content, 4096))
            return error_memory(error);
        ssize_t got =
            read(fd, content->data + content->length, content->capacity - content->length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set_errno(error, errno, "Cannot read %s", name);
        content->length += (size_t)got;
        content->data[content->length] = '\0';
        if (got == 0)
            return GPUT_OK;
    }
}

int file_read(const char *path, struct str *content, struct gput_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(error, errno, "Cannot open %s", path);
    int code = file_read_fd(fd, path, content, error);
    close(fd);
    return code;
}

long file_reread(int fd, char *buffer, unsigned long capacity)
{
    ssize_t got;
    do
        got = pread(fd, buffer, capacity - 1, 0);
    while (got < 0 && errno == EINTR);
    if (got >= 0)
        buffer[got] = '\0';
    return got;
}

int file_write_fd(
    int fd, const char *name, const void *bytes, size_t length, struct gput_error *error)
{
    const char *rest = bytes;
    while (length > 0) {
        ssize_t done = write(fd, rest, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return error_set_errno(error, errno, "Cannot write %s", name);
        rest += done;
        length -= (size_t)done;
    }
    return GPUT_OK;
}

bool file_is_straight(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return false;
    if (!S_ISREG(info.st_mode))
        return true;
    bool of_the_system = strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
    return of_the_system && lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

static int write_straight(
    const char *path, const void *bytes, size_t length, struct gput_error *error)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(error, errno, "Cannot write %s", path);
    int code = file_write_fd(fd, path, bytes, length, error);
    close(fd);
    return code;
}

/* mkstemp() makes private files; a result file gets the mode that open() would have given it. */
static void take_usual_mode(int fd, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask);
}

int file_write_atomic(const char *path, const void *bytes, size_t length, struct gput_error *error)
{
    struct stat old;
    bool exists = stat(path, &old) == 0;
    if (file_is_straight(path))
        return write_straight(path, bytes, length, error);

    struct str beside = {0};
    str_printf(&beside, "%s.XXXXXX", path);
    if (beside.failed)
        return error_memory(error);
    int fd = mkostemp(beside.data, O_CLOEXEC);
    if (fd < 0) {
        int code = error_set_errno(error, errno, "Cannot write %s", path);
        str_finish(&beside);
        return code;
    }
    take_usual_mode(fd, exists ? &old : NULL);

    int code = file_write_fd(fd, path, bytes, length, error);
    if (close(fd) != 0 && code == GPUT_OK)
        code = error_set_errno(error, errno, "Cannot write %s", path);
    if (code == GPUT_OK && rename(beside.data, path) != 0)
        code = error_set_errno(error, errno, "Cannot write %s", path);
    if (code != GPUT_OK)
        unlink(beside.data);
    str_finish(&beside);
    return code;
}
