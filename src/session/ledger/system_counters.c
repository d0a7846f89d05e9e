#include "session/ledger/system_counters.h"

#include "base/file.h"
#include "machine/os/procfs.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

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
