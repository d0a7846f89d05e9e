#include "bench/disturbances.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "machine/os/cgroup.h"
#include "machine/os/proc_stat.h"
#include "machine/os/procfs.h"
#include "machine/os/system_stat.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More CPUs are not asked whether they were slowed down: one that is hot has hot neighbours. */
#define MAX_THROTTLE_FILES 64
#define MAX_GROUPS 32
/* The clock of steal has ticks of 10 ms. */
#define SHORTEST_STEAL_SECONDS 0.3

/* A quota may be set on our group or on any above it, as far as they are visible. */
static void open_quota_files(struct disturbances *disturbances)
{
    struct cgroup groups;
    if (cgroup_find(disturbances->procfs_root, disturbances->sysfs_root, getpid(), &groups, NULL) !=
        GPUT_OK)
        return;
    disturbances->quota_fds = calloc(MAX_GROUPS, sizeof *disturbances->quota_fds);
    CLEANUP_FREE char *folder = groups.cpu.path ? strdup(groups.cpu.path) : NULL;
    while (disturbances->quota_fds && folder && disturbances->n_quota_fds < MAX_GROUPS) {
        char path[4096];
        snprintf(path, sizeof path, "%s/cpu.stat", folder);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            disturbances->quota_fds[disturbances->n_quota_fds++] = fd;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < groups.cpu.mount_length)
            break;
        *slash = '\0';
    }
    cgroup_finish(&groups);
}

void disturbances_open(
    struct disturbances *disturbances, const char *procfs_root, const char *sysfs_root)
{
    *disturbances = (struct disturbances){.procfs_root = procfs_root ? procfs_root : "/proc",
        .sysfs_root = sysfs_root ? sysfs_root : "/sys",
        .ticks_per_second = (double)sysconf(_SC_CLK_TCK)};
    disturbances->stat_fd = -1;
    procfs_open(disturbances->procfs_root, PROCFS_SYSTEM, "stat", &disturbances->stat_fd, NULL);
    /* Open the counter of each core. */
    int fds[MAX_THROTTLE_FILES];
    size_t count = 0;
    for (int cpu = 0; cpu < MAX_THROTTLE_FILES; cpu++) {
        char path[512];
        snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/thermal_throttle/%s",
            disturbances->sysfs_root, cpu, "core_throttle_count");
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            fds[count++] = fd;
    }
    disturbances->throttle_fds = count > 0 ? malloc(count * sizeof *fds) : NULL;
    if (disturbances->throttle_fds) {
        memcpy(disturbances->throttle_fds, fds, count * sizeof *fds);
        disturbances->n_throttle_fds = count;
    }
    open_quota_files(disturbances);
}

void disturbances_finish(struct disturbances *disturbances)
{
    for (size_t i = 0; i < disturbances->n_throttle_fds; i++)
        close(disturbances->throttle_fds[i]);
    for (size_t i = 0; i < disturbances->n_quota_fds; i++)
        close(disturbances->quota_fds[i]);
    file_close_fd(&disturbances->stat_fd);
    free(disturbances->throttle_fds);
    free(disturbances->quota_fds);
    *disturbances = (struct disturbances){.stat_fd = -1};
}

/* The number after a name at the beginning of a line; NaN: there is none. */
static double value_of(const char *text, const char *name)
{
    size_t length = strlen(name);
    while (text && *text) {
        uint64_t value;
        if (strncmp(text, name, length) == 0 && text[length] == ' ' &&
            number_parse_uint64(text + length + 1, text + strlen(text), &value))
            return (double)value;
        text = strchr(text, '\n');
        text += text != NULL;
    }
    return NAN;
}

/* Seconds that `text`, a cpu.stat of a control group of either version, says that groups waited for
 * their quota; NaN: it has no quota. */
static double parse_quota(const char *text)
{
    double microseconds = value_of(text, "throttled_usec");
    return isnan(microseconds) ? value_of(text, "throttled_time") * 1e-9 : microseconds * 1e-6;
}

void disturbances_read(const struct disturbances *disturbances, struct disturbance_counts *counts)
{
    char text[4096];
    struct system_stat stat;
    *counts =
        (struct disturbance_counts){NAN, NAN, NAN, NAN, clock_seconds_of_ns(clock_process_cpu_ns()),
            NAN, clock_seconds_of_ns(clock_monotonic_ns())};
    if (file_reread(disturbances->stat_fd, text, sizeof text) > 0 &&
        system_stat_parse(text, &stat) == GPUT_OK) {
        counts->busy_seconds = (double)stat.busy_ticks / disturbances->ticks_per_second;
        counts->steal_seconds = (double)stat.steal_ticks / disturbances->ticks_per_second;
    }
    for (size_t i = 0; i < disturbances->n_throttle_fds; i++) {
        uint64_t events;
        long length = file_reread(disturbances->throttle_fds[i], text, sizeof text);
        if (length > 0 && number_parse_uint64(text, text + length, &events))
            number_add_known(&counts->throttle_events, (double)events);
    }
    for (size_t i = 0; i < disturbances->n_quota_fds; i++) {
        if (file_reread(disturbances->quota_fds[i], text, sizeof text) > 0)
            counts->quota_seconds = fmax(counts->quota_seconds, parse_quota(text));
    }
}

/* A part of a time, which clock ticks may exceed. */
static double share(double seconds, double of_seconds)
{
    return isnan(seconds) || !(of_seconds > 0) ? NAN : fmin(1, fmax(0, seconds) / of_seconds);
}

void disturbances_fill(const struct disturbance_counts *before,
    const struct disturbance_counts *after, struct bench_run *run)
{
    double wall = run->figures[BENCH_WALL], wait = run->figures[BENCH_WAIT];
    double own = after->own_cpu_seconds - before->own_cpu_seconds;
    double busy = after->busy_seconds - before->busy_seconds;
    double others = busy - own - run->figures[BENCH_CPU];
    run->figures[BENCH_OTHER_CPU] = isnan(others) ? NAN : fmax(0, others);
    run->causes[BENCH_CAUSE_WAIT] = share(wait, wall);
    run->causes[BENCH_CAUSE_QUOTA] = share(after->quota_seconds - before->quota_seconds, wall);
    /* As a share of the CPU time that was wanted; the clock is too coarse for short runs. */
    double steal = after->steal_seconds - before->steal_seconds;
    run->causes[BENCH_CAUSE_STEAL] =
        wall >= SHORTEST_STEAL_SECONDS ? share(steal, busy + steal) : NAN;
    run->causes[BENCH_CAUSE_THROTTLE] = after->throttle_events - before->throttle_events;
    run->causes[BENCH_CAUSE_PAGING] = run->figures[BENCH_MAJOR_FAULTS];
}

double disturbances_thread_wait(const struct disturbances *disturbances)
{
    char text[128];
    size_t length;
    struct schedstat times;
    bool is_known = procfs_read(disturbances->procfs_root, PROCFS_SYSTEM, "thread-self/schedstat",
                        text, sizeof text, &length, NULL) == GPUT_OK &&
                    schedstat_parse(text, &times) == GPUT_OK && times.timeslices > 0;
    return is_known ? clock_seconds_of_ns((int64_t)times.wait_ns) : NAN;
}

void disturbances_read_thread(
    const struct disturbances *disturbances, struct disturbance_counts *counts)
{
    disturbances_read(disturbances, counts);
    counts->thread_wait_seconds = disturbances_thread_wait(disturbances);
}

void disturbances_fill_own(const struct disturbance_counts *before,
    const struct disturbance_counts *after, struct bench_run *run)
{
    disturbances_fill(before, after, run);
    /* The run's CPU time is that of this process, and of children if it started some. */
    double own = fmax(after->own_cpu_seconds - before->own_cpu_seconds, run->figures[BENCH_CPU]);
    double others = after->busy_seconds - before->busy_seconds - own;
    run->figures[BENCH_OTHER_CPU] = isnan(others) ? NAN : fmax(0, others);
    /* It is a share of all the time between the readings, unless the caller said when the run began
     * and ended. */
    if (isnan(run->figures[BENCH_WAIT]))
        run->causes[BENCH_CAUSE_WAIT] =
            share(after->thread_wait_seconds - before->thread_wait_seconds,
                after->at_seconds - before->at_seconds);
}
