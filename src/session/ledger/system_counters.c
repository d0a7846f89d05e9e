#include "session/ledger/system_counters.h"

#include "base/file.h"
#include "base/number.h"
#include "machine/os/procfs.h"
#include "machine/os/system_stat.h"

#include <limits.h>
#include <linux/magic.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

void system_counters_init(struct system_counters *system_counters)
{
    *system_counters = (struct system_counters){.network_fd = -1};
    for (int i = 0; i < PRESSURE_COUNT; i++)
        system_counters->pressure_before[i] = system_counters->pressure[i] =
            system_counters->of_group[i] = (struct pressure){NAN, NAN};
}

/* Reads the three files: "ROOT/pressure/cpu" or "GROUP/cpu.pressure", and so on. */
static void read_pressure(const char *directory, const char *below, const char *suffix,
    struct pressure pressure[PRESSURE_COUNT])
{
#define NAME(ID, name, what) #name,
    static const char *const names[] = {PRESSURES(NAME)};
#undef NAME
    for (int i = 0; i < PRESSURE_COUNT; i++) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s%s%s", directory, below, names[i], suffix);
        if (length > 0 && (size_t)length < sizeof path)
            pressure[i] = pressure_read(path);
    }
}

void system_counters_begin(
    struct system_counters *system_counters, const char *procfs_root, pid_t pid)
{
    if (procfs_open(procfs_root, pid, "net/dev", &system_counters->network_fd, NULL) == GPUT_OK)
        system_counters->has_traffic = network_traffic_reread(system_counters->network_fd,
                                           &system_counters->before) == GPUT_OK;
}

void system_counters_begin_pressure(
    struct system_counters *system_counters, const char *procfs_root)
{
    read_pressure(procfs_root, "pressure/", "", system_counters->pressure_before);
    system_counters->has_pressure = true;
}

void system_counters_update(
    struct system_counters *system_counters, const char *procfs_root, const char *group)
{
    if (system_counters->has_traffic)
        system_counters->has_traffic =
            network_traffic_reread(system_counters->network_fd, &system_counters->after) == GPUT_OK;
    if (!system_counters->has_pressure)
        return;
    read_pressure(procfs_root, "pressure/", "", system_counters->pressure);
    if (group)
        read_pressure(group, "", ".pressure", system_counters->of_group);
}

void system_counters_finish(struct system_counters *system_counters)
{
    file_close_fd(&system_counters->network_fd);
    system_counters_init(system_counters);
}

/* Interfaces can disappear; then the sum may decrease. */
static double difference(uint64_t after, uint64_t before)
{
    return after >= before ? (double)(after - before) : NAN;
}

/* In whole microseconds, as the kernel counts. */
static double seconds_since(double now, double before)
{
    return round((now - before) * 1e6) / 1e6;
}

void system_counters_fill(
    const struct system_counters *system_counters, struct gput_results *results)
{
    struct gput_accounting *accounting = &results->accounting;
    for (int i = 0; i < PRESSURE_COUNT; i++) {
        const struct pressure *now = &system_counters->pressure[i];
        const struct pressure *before = &system_counters->pressure_before[i];
        results->system_pressure.some_seconds[i] =
            seconds_since(now->some_seconds, before->some_seconds);
        /* The kernel has no such figure of all CPUs, and shows 0. */
        results->system_pressure.full_seconds[i] =
            i == PRESSURE_CPU ? NAN : seconds_since(now->full_seconds, before->full_seconds);
        results->group_pressure.some_seconds[i] = system_counters->of_group[i].some_seconds;
        results->group_pressure.full_seconds[i] = system_counters->of_group[i].full_seconds;
    }
    if (!system_counters->has_traffic)
        return;
    accounting->system_network_received_bytes =
        difference(system_counters->after.received_bytes, system_counters->before.received_bytes);
    accounting->system_network_sent_bytes =
        difference(system_counters->after.sent_bytes, system_counters->before.sent_bytes);
}

/* The first pids are allocated only once, after boot. */
#define RESERVED_PIDS 300

/* A container may have emulated files mounted over these (lxcfs). */
static bool is_of_the_kernel(const char *procfs_root, const char *file)
{
    char path[PROCFS_PATH_SIZE];
    struct statfs system;
    procfs_path(procfs_root, PROCFS_SYSTEM, file, path);
    return statfs(path, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

/* The kernel numbers the first pid namespace so. */
#define INITIAL_PID_NAMESPACE 0xeffffffc

static bool is_initial_namespace(void)
{
    struct stat namespace;
    return stat("/proc/self/ns/pid", &namespace) == 0 && namespace.st_ino == INITIAL_PID_NAMESPACE;
}

void session_starts_read(const char *procfs_root, struct session_starts *starts)
{
    char text[PROCFS_TEXT_SIZE];
    struct loadavg loadavg;
    struct system_stat stat;
    *starts = (struct session_starts){0};
    if (!is_of_the_kernel(procfs_root, "stat") || !is_of_the_kernel(procfs_root, "loadavg") ||
        system_stat_read(procfs_root, &stat, NULL) != GPUT_OK)
        return;
    starts->is_known = true;
    starts->is_initial = is_initial_namespace();
    starts->started = stat.processes_started;
    if (loadavg_read(procfs_root, &loadavg, NULL) != GPUT_OK ||
        procfs_read(procfs_root, PROCFS_SYSTEM, "sys/kernel/pid_max", text, sizeof text, NULL,
            NULL) != GPUT_OK)
        return;
    starts->threads = loadavg.threads;
    starts->last_pid = (uint64_t)loadavg.last_pid;
    number_parse_uint64(text, text + strlen(text), &starts->pid_max);
}

/*
 * Pids are allocated in order, skipping those in use: they can only have wrapped around if as many
 * were allocated or in use as there are.
 */
static bool may_have_wrapped(const struct session_starts *before, uint64_t started)
{
    return before->pid_max == 0 || before->threads + 2 * started + RESERVED_PIDS >= before->pid_max;
}

/* Pids are given out in order: these must have been after the first reading. */
static bool are_chosen(const struct session_starts *before, const struct session_starts *after,
    struct found_pids found, uint64_t started)
{
    bool is_out_of_order = found.highest > 0 && ((uint64_t)found.lowest <= before->last_pid ||
                                                    (uint64_t)found.highest > after->last_pid);
    return is_out_of_order || (before->is_initial && after->last_pid - before->last_pid < started);
}

uint64_t session_starts_between(const struct session_starts *before,
    const struct session_starts *after, struct found_pids found, uint64_t min)
{
    uint64_t started = after->started - before->started;
    uint64_t given_out = after->last_pid - before->last_pid;
    if (!before->is_known || !after->is_known || after->started < before->started || started < min)
        return UINT64_MAX;
    bool is_whole = after->last_pid >= before->last_pid && given_out >= min &&
                    after->pid_max == before->pid_max && !may_have_wrapped(before, started) &&
                    !are_chosen(before, after, found, started);
    return is_whole && given_out < started ? given_out : started;
}
