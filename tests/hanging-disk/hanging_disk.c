/*
 * Preloaded, a disk that does not answer: what writes to a file whose path ends with HANGING_FILE
 * waits for as long as there is a file at HANGING_WHILE, and fails with EIO while there is one at
 * HANGING_WHILE.fails, and once for one at HANGING_WHILE.once. Writes to that file, and questions
 * for any by stat(), are counted: a byte of HANGING_WHILE.writes, and of HANGING_WHILE.stats. With
 * HANGING_LOCKS no file can be locked by fcntl(). What the program starts has other disks.
 */
/* Everything else is built to be hidden. */
#pragma GCC visibility push(default)

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char name[256], flag[256];
static bool lacks_locks;

static __attribute__((constructor)) void read_names(void)
{
    snprintf(name, sizeof name, "%s", getenv("HANGING_FILE"));
    snprintf(flag, sizeof flag, "%s", getenv("HANGING_WHILE"));
    lacks_locks = getenv("HANGING_LOCKS") != NULL;
    unsetenv("LD_PRELOAD");
}

static void count(const char *what)
{
    char path[sizeof flag + 16];
    snprintf(path, sizeof path, "%s.%s", flag, what);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    syscall(SYS_write, fd, "x", 1);
    close(fd);
}

/* False: it fails. */
static bool await_disk(int fd)
{
    char link[64], path[512], failing[sizeof flag + 16];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    size_t whole = strlen(path), end = strlen(name);
    if (end == 0 || whole < end || strcmp(path + whole - end, name) != 0)
        return true;
    count("writes");
    while (access(flag, F_OK) == 0)
        usleep(10000);
    snprintf(failing, sizeof failing, "%s.fails", flag);
    bool fails = access(failing, F_OK) == 0;
    snprintf(failing, sizeof failing, "%s.once", flag);
    fails |= unlink(failing) == 0;
    errno = fails ? EIO : errno;
    return !fails;
}

ssize_t write(int fd, const void *bytes, size_t length)
{
    return await_disk(fd) ? syscall(SYS_write, fd, bytes, length) : -1;
}

/* Built as stat64(), likewise. */
int stat(const char *path, struct stat *info)
{
    count("stats");
    return fstatat(AT_FDCWD, path, info, 0);
}

/* Built as fcntl64(), likewise. */
int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    long argument = va_arg(arguments, long); /* or a pointer, or none */
    va_end(arguments);
    bool locks = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
    errno = locks && lacks_locks ? ENOLCK : errno;
    return locks && lacks_locks ? -1 : (int)syscall(SYS_fcntl, fd, command, argument);
}

/* Built as pwrite64(), like its callers. */
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    return await_disk(fd) ? syscall(SYS_pwrite64, fd, bytes, length, at) : -1;
}
