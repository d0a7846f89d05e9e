#include "machine/os/procfs.h"

#include "base/array.h"
#include "base/file.h"
#include "base/order.h"
#include "machine/os/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

size_t procfs_path(const char *root, pid_t pid, const char *file, char *path)
{
    size_t root_length = strlen(root);
    size_t file_length = strlen(file);

    if (root_length + file_length + 16 > PROCFS_PATH_SIZE) {
        path[0] = '\0';
        return 0;
    }
    memcpy(path, root, root_length);
    char *end = path + root_length;
    if (pid != PROCFS_SYSTEM) {
        *end++ = '/';

        /* Write the digits of a pid and return the byte after them. */
        char digits[12];
        size_t count = 0;
        unsigned rest = (unsigned)pid;

        do {
            digits[count++] = (char)('0' + rest % 10);
            rest /= 10;
        } while (rest);
        while (count)
            *end++ = digits[--count];
    }
    if (file_length) {
        *end++ = '/';
        memcpy(end, file, file_length);
        end += file_length;
    }
    *end = '\0';
    return (size_t)(end - path);
}

enum gput_code procfs_code_of_errno(int errno_value)
{
    return errno_value == ENOENT ? GPUT_ERROR_GONE : error_code_of_errno(errno_value);
}

int procfs_set_failure(
    const char *root, pid_t pid, const char *file, int errno_value, struct gput_error *error)
{
    char path[PROCFS_PATH_SIZE];

    procfs_path(root, pid, file, path);
    if (errno_value == ENOENT) {
        /* ENOENT has two meanings: no such process, and a kernel without that file. */
        char directory[PROCFS_PATH_SIZE];

        procfs_path(root, pid, "", directory);
        if (access(directory, F_OK) == 0)
            return error_set(error, GPUT_ERROR_UNSUPPORTED, "This kernel has no %s.", path);
        if (pid == PROCFS_SYSTEM)
            return error_set(error, GPUT_ERROR_NOT_FOUND, "There is no %s.", directory);
        return error_set(error, GPUT_ERROR_GONE, "Process %d has ended.", (int)pid);
    }

    if (errno_value == ESRCH)
        return error_set(error, GPUT_ERROR_GONE, "Process %d has ended.", (int)pid);
    return error_set_errno(error, errno_value, "Cannot read %s", path);
}

bool procfs_is_inner(const char *root)
{
    /* The kernel gives the first namespace this inode at every start (PROC_PID_INIT_INO). */
    static const char first[] = "pid:[4026531836]";
    char path[PROCFS_PATH_SIZE], space[64];
    ssize_t length = procfs_path(root, PROCFS_SYSTEM, "self/ns/pid", path)
                         ? readlink(path, space, sizeof space - 1)
                         : -1;
    if (length <= 0)
        return false;
    space[length] = '\0';
    return strcmp(space, first) != 0;
}

int procfs_open(const char *root, pid_t pid, const char *file, int *fd, struct gput_error *error)
{
    char path[PROCFS_PATH_SIZE];

    if (!procfs_path(root, pid, file, path))
        return error_set(
            error, GPUT_ERROR_INVALID, "The path of procfs is too long: %.100s…", root);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? GPUT_OK : procfs_set_failure(root, pid, file, errno, error);
}

int procfs_read(const char *root, pid_t pid, const char *file, char *buffer, size_t capacity,
    size_t *length, struct gput_error *error)
{
    int fd;
    TRY(procfs_open(root, pid, file, &fd, error));
    ssize_t got;
    do
        got = read(fd, buffer, capacity - 1);
    while (got < 0 && errno == EINTR);
    int code = got < 0 ? procfs_set_failure(root, pid, file, errno, error) : GPUT_OK;
    close(fd);
    buffer[got > 0 ? got : 0] = '\0';
    if (length)
        *length = got > 0 ? (size_t)got : 0;
    return code;
}

int procfs_read_all(
    const char *root, pid_t pid, const char *file, struct str *text, struct gput_error *error)
{
    int fd;
    str_clear(text);
    TRY(procfs_open(root, pid, file, &fd, error));
    ssize_t got = 0;
    bool has_space;
    /* Not file_read(): ESRCH must be distinguished. */
    while ((has_space = str_reserve(text, 4096))) {
        got = read(fd, text->data + text->length, text->capacity - text->length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        text->length += (size_t)got;
        text->data[text->length] = '\0';
    }
    int code = GPUT_OK;
    if (!has_space) {
        str_finish(text); /* it may be used again, with memory */
        code = error_memory(error);
    } else if (got < 0)
        code = procfs_set_failure(root, pid, file, errno, error);
    close(fd);
    return code;
}

int procfs_reread(int fd, char *buffer, size_t capacity, size_t *length)
{
    long got = file_reread(fd, buffer, capacity);
    if (got < 0)
        return (int)procfs_code_of_errno(errno);
    if (length)
        *length = (size_t)got;
    return GPUT_OK;
}

int procfs_list_fd(int directory_fd, struct pid_vector *numbers)
{
    /* getdents64 rather than opendir(): no allocation, and 16 KiB hold 500 entries a call. */
    _Alignas(struct dirent) char entries[16384];
    ssize_t got;

    while ((got = syscall(SYS_getdents64, directory_fd, entries, sizeof entries)) > 0) {
        for (ssize_t at = 0; at < got;) {
            const struct dirent *entry = (const struct dirent *)(entries + at);
            uint64_t number;
            const char *end = scan_uint64(entry->d_name, &number);
            if (end && *end == '\0' && number <= INT32_MAX)
                TRY(pid_vector_append(numbers, (pid_t)number));
            at += entry->d_reclen;
        }
    }
    return got < 0 ? (int)procfs_code_of_errno(errno) : GPUT_OK;
}

int procfs_list_threads(
    const char *root, pid_t pid, struct pid_vector *threads, struct gput_error *error)
{
    int fd;
    TRY(procfs_open(root, pid, "task", &fd, error));
    int code = procfs_list_fd(fd, threads);
    close(fd);
    if (code != GPUT_OK)
        return error_set(error, (enum gput_code)code, "%s/%d/task cannot be read.", root, (int)pid);
    return GPUT_OK;
}

/* A reading that another thread takes: it has copies of all that it needs. */
struct bounded_reading {
    struct bounded_call call;
    char *root, *file;
    pid_t pid;
    struct str text;
    struct gput_error error;
    int code;
};

/* Reads a file of procfs in the thread of a bounded call. */
static void run_reading(struct bounded_call *call)
{
    struct bounded_reading *reading = (struct bounded_reading *)call;
    reading->code = procfs_read_all(
        reading->root, reading->pid, reading->file, &reading->text, &reading->error);
}

/* Frees a bounded reading. */
static void destroy_reading(struct bounded_call *call)
{
    struct bounded_reading *reading = (struct bounded_reading *)call;
    str_finish(&reading->text);
    free(reading->root);
    free(reading->file);
    free(reading);
}

/* Makes a bounded reading. NULL: out of memory. */
static struct bounded_reading *create_reading(const char *root, pid_t pid, const char *file)
{
    struct bounded_reading *reading = calloc(1, sizeof *reading);
    if (!reading)
        return NULL;
    *reading = (struct bounded_reading){.call = {.run = run_reading, .destroy = destroy_reading},
        .root = strdup(root),
        .file = strdup(file),
        .pid = pid};
    if (reading->root && reading->file)
        return reading;
    destroy_reading(&reading->call);
    return NULL;
}

int procfs_set_unanswered(const char *root, pid_t pid, const char *file, struct gput_error *error)
{
    return error_set(error, GPUT_ERROR_IO,
        "%s/%d/%s does not answer: process %d waits in the kernel, perhaps for storage.", root,
        (int)pid, file, (int)pid);
}

int procfs_read_bounded(struct bounded_calls *calls, const char *root, pid_t pid, const char *file,
    struct str *text, struct gput_error *error)
{
    if (!calls)
        return procfs_read_all(root, pid, file, text, error);
    struct bounded_reading *reading = create_reading(root, pid, file);
    str_clear(text);
    if (!reading)
        return error_memory(error);
    /* Whoever holds one of the two locks need not hold the other. */
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    bool needs_memory =
        strcmp(name, "stat") != 0 && strcmp(name, "io") != 0 && strcmp(name, "syscall") != 0;
    if (!bounded_calls_make(calls, needs_memory ? pid : -(long)pid, &reading->call))
        return procfs_set_unanswered(root, pid, file, error);
    int code = reading->code;
    if (code == GPUT_OK) {
        struct str before = *text;
        *text = reading->text;
        reading->text = before;
    } else if (error) {
        *error = reading->error;
    }
    destroy_reading(&reading->call);
    return code;
}

int pid_vector_append(struct pid_vector *vector, pid_t pid)
{
    if (!ARRAY_RESERVE(vector->pids, vector->count, vector->capacity))
        return GPUT_ERROR_MEMORY;
    vector->pids[vector->count++] = pid;
    return GPUT_OK;
}

void pid_vector_finish(struct pid_vector *vector)
{
    free(vector->pids);
    *vector = (struct pid_vector){0};
}

int pid_compare(const void *left, const void *right)
{
    pid_t a = *(const pid_t *)left, b = *(const pid_t *)right;
    return ORDER(a, b);
}
