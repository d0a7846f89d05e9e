/*
 * A procfs made of files, for tests of what a live one shows only by luck: reused pids, kernels
 * without some file, processes that change between two scans. Its `self` is not the calling
 * process, like in the procfs of another pid namespace, so there are no CPU clocks.
 */
#pragma once

#include "testing.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_procfs {
    char root[64];
};

/* Contents of stat and statm of a fake process. All zeroes are valid. */
struct fake_process {
    int pid, parent;
    char state; /* 0: S */
    unsigned threads;
    uint64_t start_time, utime, stime, cutime, cstime;
    uint64_t minor_faults, cminor_faults;
    uint64_t start_stack;
    bool is_fork; /* it has not called execve */
    uint64_t resident_pages, shared_pages;
};

static inline void fake_write(const struct fake_procfs *fake, const char *text, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

/* Writes a file of the tree and creates its folders. */
static inline void fake_write(
    const struct fake_procfs *fake, const char *text, const char *format, ...)
{
    char path[256];
    int length = snprintf(path, sizeof path, "%s/", fake->root);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path + length, sizeof path - (size_t)length, format, arguments);
    va_end(arguments);

    for (char *slash = path + length; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline int fake_remove_one(
    const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline void fake_remove(const struct fake_procfs *fake, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", fake->root, name);
    nftw(path, fake_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void fake_procfs_init(struct fake_procfs *fake)
{
    const char *folder = getenv("TMPDIR");
    snprintf(fake->root, sizeof fake->root, "%s/gput-procfs-XXXXXX", folder ? folder : "/tmp");
    assert_non_null(mkdtemp(fake->root));
}

static inline void fake_procfs_finish(const struct fake_procfs *fake)
{
    fake_remove(fake, "");
}

static inline void fake_put_stat(const struct fake_procfs *fake, const struct fake_process *process)
{
    char text[1024];
    char state = process->state ? process->state : 'S';
    unsigned threads = process->threads ? process->threads : 1;
    snprintf(text, sizeof text,
        "%d (fake) %c %d 1 1 0 -1 %d %" PRIu64 " %" PRIu64 " 0 0 %" PRIu64 " %" PRIu64 " %" PRIu64
        " %" PRIu64 " 20 0 %u 0 %" PRIu64 " 1000000 %" PRIu64
        " 18446744073709551615 4096 8192 %" PRIu64 " 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n",
        process->pid, state, process->parent, process->is_fork ? 0x400040 : 0x400000,
        process->minor_faults, process->cminor_faults, process->utime, process->stime,
        process->cutime, process->cstime, threads, process->start_time, process->resident_pages,
        process->start_stack);
    fake_write(fake, text, "%d/stat", process->pid);
}

/* Adds or changes a process. Its children file stays as it is. */
static inline void fake_put(const struct fake_procfs *fake, struct fake_process process)
{
    char text[128];
    fake_put_stat(fake, &process);
    snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %" PRIu64 " 1 0 1 0\n",
        process.resident_pages + 100, process.resident_pages, process.shared_pages);
    fake_write(fake, text, "%d/statm", process.pid);
}

static inline void fake_children(
    const struct fake_procfs *fake, int pid, int thread, const char *children)
{
    fake_write(fake, children, "%d/task/%d/children", pid, thread);
}

static inline void fake_end(const struct fake_procfs *fake, int pid)
{
    char name[16];
    snprintf(name, sizeof name, "%d", pid);
    fake_remove(fake, name);
}
