#include "machine/os/proc_list.h"

#include "base/array.h"
#include "base/order.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int compare_entries(const void *left, const void *right)
{
    const struct proc_list_entry *a = left, *b = right;
    return ORDER(a->pid, b->pid);
}

int proc_list_read(const char *root, struct proc_list *list, struct gput_error *error)
{
    list->count = 0;
    list->scratch.count = 0;
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(error, errno, "Cannot list %s", root);
    int code = procfs_list_fd(fd, &list->scratch);
    close(fd);
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    if (code != GPUT_OK)
        return error_set(error, GPUT_ERROR_IO, "Cannot list %s.", root);

    size_t count = list->scratch.count;
    if (count > list->capacity) {
        if (!ARRAY_RESIZE(list->entries, count))
            return error_memory(error);
        list->capacity = count;
    }

    for (size_t i = 0; i < list->scratch.count; i++) {
        struct proc_stat stat;
        if (proc_stat_read(root, list->scratch.pids[i], &stat, NULL) != GPUT_OK)
            continue;
        list->entries[list->count++] = (struct proc_list_entry){
            .pid = list->scratch.pids[i],
            .ppid = stat.ppid,
        };
    }
    /* procfs lists in order already; other file systems need not. */
    if (list->count > 1)
        qsort(list->entries, list->count, sizeof *list->entries, compare_entries);
    return GPUT_OK;
}

int proc_list_children(const struct proc_list *list, pid_t ppid, struct pid_vector *children)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].ppid == ppid)
            TRY(pid_vector_append(children, list->entries[i].pid));
    return GPUT_OK;
}

void proc_list_finish(struct proc_list *list)
{
    free(list->entries);
    pid_vector_finish(&list->scratch);
    *list = (struct proc_list){0};
}

/* ---- children ---- */

int proc_children_parse(const char *text, struct pid_vector *children)
{
    for (;;) {
        uint64_t pid;
        while (*text == ' ' || *text == '\n')
            text++;
        if (*text == '\0')
            return GPUT_OK;
        text = scan_uint64(text, &pid);
        if (!text || pid > INT32_MAX)
            return GPUT_ERROR_FORMAT;
        /* 0 stands for a process outside our pid namespace. */
        if (pid > 0)
            TRY(pid_vector_append(children, (pid_t)pid));
    }
}

int proc_children_reread(int fd, struct pid_vector *children)
{
    char text[PROCFS_TEXT_SIZE];
    off_t offset = 0;
    size_t kept = 0; /* digits at the start of `text`: the number may continue */

    for (;;) {
        ssize_t got = pread(fd, text + kept, sizeof text - 1 - kept, offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return (int)procfs_code_of_errno(errno);
        offset += got;
        size_t length = kept + (size_t)got;
        size_t whole = length;
        if (got > 0)
            while (whole > 0 && scan_is_digit(text[whole - 1]))
                whole--;
        kept = length - whole;
        if (kept == sizeof text - 1)
            return GPUT_ERROR_FORMAT;
        char first_kept = text[whole];
        text[whole] = '\0';
        TRY(proc_children_parse(text, children));
        if (got == 0 || (length < sizeof text / 2 && kept == 0))
            return GPUT_OK; /* a short read is the end: the kernel fills pages */
        text[whole] = first_kept;
        memmove(text, text + whole, kept);
    }
}

/* Writes the name of the file, "task/1234/children". */
static void children_name(pid_t thread, char *name)
{
    char thread_path[PROCFS_PATH_SIZE];
    size_t length = procfs_path("task", thread, "children", thread_path);
    memcpy(name, thread_path, length + 1);
}

/* Reads the children of one thread. */
static int read_thread(const char *root, pid_t pid, pid_t thread, struct pid_vector *children,
    struct gput_error *error)
{
    char name[64];
    int fd;

    children_name(thread, name);
    TRY(procfs_open(root, pid, name, &fd, error));
    int code = proc_children_reread(fd, children);
    close(fd);
    if (code == GPUT_OK)
        return GPUT_OK;
    if (code == GPUT_ERROR_MEMORY)
        return error_memory(error);
    return error_set(error, (enum gput_code)code, "%s/%d/%s cannot be read.", root, (int)pid, name);
}

/* Returns whether the kernel has children files at all. The leader's is checked, which exists as
 * long as the process. */
static bool has_children_file(const char *root, pid_t pid)
{
    char name[64];
    char path[PROCFS_PATH_SIZE];

    children_name(pid, name);
    return procfs_path(root, pid, name, path) && access(path, F_OK) == 0;
}

/* Reads the children of all threads; threads that ended are skipped. */
static int read_threads(const char *root, pid_t pid, const struct pid_vector *threads,
    struct pid_vector *children, struct gput_error *error)
{
    for (size_t i = 0; i < threads->count; i++) {
        struct gput_error thread_error = {.code = GPUT_OK};
        int code = read_thread(root, pid, threads->pids[i], children, &thread_error);
        /* The thread ended, or the kernel has no such files. */
        if (code == GPUT_ERROR_GONE)
            continue;
        if (code == GPUT_ERROR_UNSUPPORTED && has_children_file(root, pid))
            continue;
        if (code != GPUT_OK) {
            if (error)
                *error = thread_error;
            return code;
        }
    }
    return GPUT_OK;
}

int proc_children_read(const char *root, pid_t pid, uint32_t thread_count,
    struct pid_vector *children, struct gput_error *error)
{
    if (thread_count == 1)
        return read_thread(root, pid, pid, children, error);

    struct pid_vector threads = {0};
    int code = procfs_list_threads(root, pid, &threads, error);
    if (code == GPUT_OK)
        code = read_threads(root, pid, &threads, children, error);
    pid_vector_finish(&threads);
    return code;
}
