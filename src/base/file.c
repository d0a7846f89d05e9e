#include "base/file.h"

#include "base/cleanup.h"
#include "base/file_target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RETRY_NS 100000000

/* Reads a descriptor to its end, up to a maximum. */
static int read_to_end(
    int fd, const char *name, size_t max_bytes, struct str *content, struct gput_error *error)
{
    size_t before = content->length;
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
        if (content->length - before > max_bytes)
            return error_set(error, GPUT_ERROR_INVALID,
                "%s is longer than %zu %s, too long for such a file. Please name another one.",
                name, max_bytes >> (max_bytes >> 20 ? 20 : 10), max_bytes >> 20 ? "MB" : "kB");
        if (got == 0)
            return GPUT_OK;
    }
}

int file_open_regular(const char *path, int *fd, struct gput_error *error)
{
    struct stat info;
    *fd = -1;
    CLEANUP_FD int opened = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (opened < 0)
        return error_set_errno(error, errno, "Cannot open %s", path);
    if (fstat(opened, &info) != 0 || !S_ISREG(info.st_mode))
        return error_set(
            error, GPUT_ERROR_FORMAT, "Cannot read %s: it is not a regular file.", path);
    *fd = STEAL_FD(opened);
    return GPUT_OK;
}

int file_read_regular(
    const char *path, size_t max_bytes, struct str *content, struct gput_error *error)
{
    CLEANUP_FD int fd = -1;
    TRY(file_open_regular(path, &fd, error));
    return read_to_end(fd, path, max_bytes, content, error);
}

int file_read_bounded(
    const char *path, size_t max_bytes, struct str *content, struct gput_error *error)
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(error, errno, "Cannot open %s", path);
    return read_to_end(fd, path, max_bytes, content, error);
}

int file_read(const char *path, struct str *content, struct gput_error *error)
{
    return file_read_bounded(path, SIZE_MAX, content, error);
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

void file_close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int file_read_at(int fd, const char *name, void *bytes, size_t length, uint64_t offset, size_t *got,
    struct gput_error *error)
{
    *got = 0;
    while (*got < length) {
        ssize_t n = pread(fd, (char *)bytes + *got, length - *got, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_set_errno(error, errno, "Cannot read %s", name);
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return GPUT_OK;
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

const char *file_base_name(const char *path)
{
    size_t at = strlen(path);
    while (at > 0 && path[at - 1] == '/')
        at--;
    while (at > 0 && path[at - 1] != '/')
        at--;
    return path + at;
}

int file_is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int file_by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

int file_temporary_folder(const char *path, char **folder, struct gput_error *error)
{
    CLEANUP_FREE char *target = NULL;
    bool is_direct = file_is_written_directly(path);
    if (!is_direct)
        TRY(file_target(path, &target, error));
    *folder = is_direct ? strdup("/var/tmp") : file_target_folder(target);
    return *folder ? GPUT_OK : error_memory(error);
}

int file_check(const char *path, struct gput_error *error)
{
    struct stat info;
    CLEANUP_FREE char *target = NULL, *folder = NULL;
    bool there = stat(path, &info) == 0;
    if (there && S_ISDIR(info.st_mode))
        return error_set(
            error, GPUT_ERROR_INVALID, "Cannot write %s: it is a folder. Name a file in it.", path);
    if (there && access(path, W_OK) != 0)
        return error_set_errno(error, errno, "Cannot write %s", path);
    if (there && file_is_written_directly(path))
        return GPUT_OK;

    TRY(file_target(path, &target, error));
    folder = file_target_folder(target);
    if (!folder)
        return error_memory(error);
    if (access(folder, W_OK | X_OK) != 0)
        return error_set_errno(error, errno, "Cannot write %s: the folder %s", path, folder);
    return GPUT_OK;
}

int file_open_temporary(const char *folder, int *fd, struct gput_error *error)
{
    *fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (*fd >= 0)
        return GPUT_OK;
    struct str path = {0}; /* a file system without O_TMPFILE */
    str_printf(&path, "%s/.gpu-tracker-XXXXXX", folder);
    CLEANUP_FREE char *name = str_steal(&path);
    if (!name)
        return error_memory(error);
    *fd = mkostemp(name, O_CLOEXEC);
    if (*fd < 0)
        return error_set_errno(error, errno, "Cannot make a temporary file in %s", folder);
    unlink(name);
    return GPUT_OK;
}

bool file_failure_may_pass(int errno_value)
{
    return errno_value == EIO || errno_value == ESTALE || errno_value == ETIMEDOUT ||
           errno_value == EREMOTEIO;
}

void file_pause_before_retry(void)
{
    const struct timespec pause = {.tv_nsec = RETRY_NS};
    nanosleep(&pause, NULL);
}

/* Overwrites the start of a file whose blocks are allocated. False: it could not. */
static bool write_all_at_start(int fd, const char *bytes, size_t length)
{
    struct stat info;
    size_t written = 0;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || (size_t)info.st_blocks * 512 < length)
        return false;
    while (written < length) {
        ssize_t count = pwrite(fd, bytes + written, length - written, (off_t)written);
        if (count <= 0 && errno != EINTR)
            return false;
        written += count > 0 ? (size_t)count : 0;
    }
    return ftruncate(fd, (off_t)length) == 0;
}

bool file_write_in_place(const char *path, const void *bytes, size_t length)
{
    CLEANUP_FD int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    return fd >= 0 && write_all_at_start(fd, bytes, length);
}

size_t file_read_beginning(const char *path, char *bytes, size_t size)
{
    CLEANUP_FD int fd = -1;
    if (file_open_regular(path, &fd, NULL) != GPUT_OK)
        return 0;
    ssize_t length = read(fd, bytes, size);
    return length > 0 ? (size_t)length : 0;
}

/* ---- The limit of file sizes ---- */

/* Reads the limit by the older of two system calls, which takes less than half the time and has 64
 * bits here. */
static int read_rlimit(struct rlimit *limit)
{
#if defined SYS_getrlimit && defined __LP64__
    return (int)syscall(SYS_getrlimit, RLIMIT_FSIZE, limit);
#else
    return getrlimit(RLIMIT_FSIZE, limit);
#endif
}

/* Reads the limit of the size of files. */
static struct file_limit read_limit(void)
{
    struct rlimit limit;
    bool held = read_rlimit(&limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return (struct file_limit){.held = held, .bytes = held ? limit.rlim_cur : 0};
}

/* Returns the set that holds SIGXFSZ alone. */
static sigset_t the_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    return set;
}

void file_limit_block_signal(struct file_limit *limit)
{
    *limit = read_limit();
    if (!limit->held)
        return;
    sigset_t pending, set = the_signal();
    limit->was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &set, &limit->before);
}

void file_limit_unblock_signal(const struct file_limit *limit)
{
    if (!limit->held)
        return;
    int saved = errno;
    sigset_t set = the_signal();
    const struct timespec at_once = {0};
    while (!limit->was_pending && sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
    errno = saved;
}

/* ---- A file that stays open in a program that is not ours ---- */

bool kept_file_open(struct kept_file *file, const char *path, int flags)
{
    struct stat opened = {0};
    file->fd = open(path, flags | O_CLOEXEC);
    if (file->fd >= 0 && fstat(file->fd, &opened) != 0) {
        close(file->fd);
        file->fd = -1;
    }
    file->device = opened.st_dev;
    file->inode = opened.st_ino;
    return file->fd >= 0;
}

bool kept_file_is_open(const struct kept_file *file)
{
    struct stat there;
    return file->fd >= 0 && fstat(file->fd, &there) == 0 && there.st_dev == file->device &&
           there.st_ino == file->inode;
}

int kept_file_fd(struct kept_file *file, const char *path, int flags)
{
    if (!kept_file_is_open(file))
        kept_file_open(file, path, flags);
    return file->fd;
}

void kept_file_close(struct kept_file *file)
{
    if (kept_file_is_open(file))
        close(file->fd);
    file->fd = -1;
}
