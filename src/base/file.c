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

/* mkstemp() makes private files; a result file gets the mode that open() would have given it. */
static void take_usual_mode(int fd, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask);
}

static int open_beside(struct file_writing *writing, struct gput_error *error)
{
    struct stat old;
    bool exists = stat(writing->path, &old) == 0;
    struct str beside = {0};
    str_printf(&beside, "%s.XXXXXX", writing->path);
    writing->beside = str_take(&beside);
    if (!writing->beside)
        return error_memory(error);
    writing->fd = mkostemp(writing->beside, O_CLOEXEC);
    if (writing->fd >= 0) {
        take_usual_mode(writing->fd, exists ? &old : NULL);
        return GPUT_OK;
    }
    int code = error_set_errno(error, errno, "Cannot write %s", writing->path);
    free(writing->beside); /* there is no such file */
    writing->beside = NULL;
    return code;
}

int file_writing_begin(const char *path, struct file_writing *writing, struct gput_error *error)
{
    int code = GPUT_OK;
    *writing = (struct file_writing){.fd = -1, .path = strdup(path)};
    if (!writing->path)
        return error_memory(error);
    if (!file_is_straight(path))
        code = open_beside(writing, error);
    else if ((writing->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)) < 0)
        code = error_set_errno(error, errno, "Cannot write %s", path);
    if (code != GPUT_OK)
        file_writing_discard(writing);
    return code;
}

int file_writing_add(
    struct file_writing *writing, const void *bytes, size_t length, struct gput_error *error)
{
    return file_write_fd(writing->fd, writing->path, bytes, length, error);
}

int file_writing_end(struct file_writing *writing, struct gput_error *error)
{
    int code = GPUT_OK;
    if (close(writing->fd) != 0)
        code = error_set_errno(error, errno, "Cannot write %s", writing->path);
    writing->fd = -1;
    if (code == GPUT_OK && writing->beside && rename(writing->beside, writing->path) != 0)
        code = error_set_errno(error, errno, "Cannot write %s", writing->path);
    if (code == GPUT_OK) {
        free(writing->beside);
        writing->beside = NULL;
    }
    file_writing_discard(writing);
    return code;
}

void file_writing_discard(struct file_writing *writing)
{
    if (writing->fd >= 0)
        close(writing->fd);
    if (writing->beside)
        unlink(writing->beside);
    free(writing->beside);
    free(writing->path);
    *writing = (struct file_writing){.fd = -1};
}

int file_write_atomic(const char *path, const void *bytes, size_t length, struct gput_error *error)
{
    struct file_writing writing;
    TRY(file_writing_begin(path, &writing, error));
    int code = file_writing_add(&writing, bytes, length, error);
    if (code == GPUT_OK)
        return file_writing_end(&writing, error);
    file_writing_discard(&writing);
    return code;
}
