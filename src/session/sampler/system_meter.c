#include "session/sampler/system_meter.h"

#include "base/clock.h"
#include "base/file.h"
#include "machine/os/procfs.h"
#include "machine/os/system_stat.h"

#include <math.h>
#include <unistd.h>

#define MIN_INTERVAL_NS (NS_PER_SECOND / 10)
/* The first figure need not be as precise. */
#define FIRST_INTERVAL_NS (NS_PER_SECOND / 50)

/* meminfo costs as much as the rest of a sample of an idle process. */
#define RAM_INTERVAL_NS (NS_PER_SECOND / 100)

static int read_stat(const struct system_meter *meter, struct system_stat *stat)
{
    char text[PROCFS_TEXT_SIZE];
    TRY(procfs_reread(meter->stat_fd, text, sizeof text, NULL));
    return system_stat_parse(text, stat);
}

static void read_ram(struct system_meter *meter)
{
    char text[PROCFS_TEXT_SIZE];
    struct meminfo meminfo;
    meter->ram_used_bytes = NAN;
    if (meter->meminfo_fd < 0 ||
        procfs_reread(meter->meminfo_fd, text, sizeof text, NULL) != GPUT_OK ||
        meminfo_parse(text, &meminfo) != GPUT_OK)
        return;
    meter->ram_capacity_bytes = (double)meminfo.total_bytes;
    meter->ram_used_bytes = (double)meminfo_used_bytes(&meminfo);
    meter->has_hugetlb = meminfo.has_hugetlb;
    meter->uses_swap = meminfo.swap_free_bytes < meminfo.swap_total_bytes;
}

/* The beginning of an interval. */
static void update_ticks(struct system_meter *meter, int64_t now_ns)
{
    struct system_stat stat;
    if (meter->stat_fd < 0 || read_stat(meter, &stat) != GPUT_OK)
        return;
    meter->busy_ticks = stat.busy_ticks;
    meter->total_ticks = stat.total_ticks;
    meter->since_ns = now_ns;
}

void system_meter_start(struct system_meter *meter, int64_t now_ns)
{
    meter->cpu_sum_percent = NAN;
    update_ticks(meter, now_ns);
    meter->start_busy_ticks = meter->busy_ticks;
    meter->start_total_ticks = meter->total_ticks;
}

void system_meter_read_last(struct system_meter *meter, int64_t now_ns)
{
    system_meter_read(meter, now_ns);
    if (meter->is_skipped)
        meter->since_ns = now_ns;
    else if (meter->since_ns != now_ns)
        update_ticks(meter, now_ns);
}

void system_meter_init(
    struct system_meter *meter, const char *procfs_root, uint32_t core_count, int64_t now_ns)
{
    *meter = (struct system_meter){.procfs_root = procfs_root,
        .stat_fd = -1,
        .meminfo_fd = -1,
        .uses_swap = true,
        .core_count = core_count,
        .ram_read_ns = now_ns,
        .since_ns = now_ns,
        .seconds_per_tick = 1.0 / (double)sysconf(_SC_CLK_TCK),
        .ram_capacity_bytes = NAN,
        .ram_used_bytes = NAN,
        .cpu_sum_percent = NAN};
    procfs_open(procfs_root, PROCFS_SYSTEM, "stat", &meter->stat_fd, NULL);
    procfs_open(procfs_root, PROCFS_SYSTEM, "meminfo", &meter->meminfo_fd, NULL);

    read_ram(meter);
}

void system_meter_finish(struct system_meter *meter)
{
    file_close_fd(&meter->stat_fd);
    file_close_fd(&meter->meminfo_fd);
}

void system_meter_skip(struct system_meter *meter, bool skip, int64_t now_ns)
{
    if (meter->is_skipped == skip)
        return;
    meter->is_skipped = skip;
    meter->cpu_sum_percent = NAN;
    if (skip) {
        meter->ram_used_bytes = NAN;
        meter->uses_swap = true;
        return;
    }
    update_ticks(meter, now_ns);
    read_ram(meter);
}

void system_meter_read(struct system_meter *meter, int64_t now_ns)
{
    if (meter->is_skipped) {
        if (now_ns - meter->since_ns >= MIN_INTERVAL_NS)
            meter->since_ns = now_ns;
        return;
    }
    if (now_ns - meter->ram_read_ns >= RAM_INTERVAL_NS) {
        meter->ram_read_ns = now_ns;
        read_ram(meter);
    }
    int64_t min_ns = isnan(meter->cpu_sum_percent) ? FIRST_INTERVAL_NS : MIN_INTERVAL_NS;
    struct system_stat stat;
    if (now_ns - meter->since_ns < min_ns || meter->stat_fd < 0 ||
        read_stat(meter, &stat) != GPUT_OK || stat.total_ticks <= meter->total_ticks)
        return;
    uint64_t total = stat.total_ticks - meter->total_ticks;
    uint64_t busy = stat.busy_ticks > meter->busy_ticks ? stat.busy_ticks - meter->busy_ticks : 0;
    double part = busy < total ? (double)busy / (double)total : 1.0;

    meter->cpu_sum_percent = 100.0 * part * meter->core_count;
    meter->busy_ticks = stat.busy_ticks;
    meter->total_ticks = stat.total_ticks;
    meter->since_ns = now_ns;
}

double system_meter_busy_seconds(const struct system_meter *meter)
{
    return (double)(int64_t)(meter->busy_ticks - meter->start_busy_ticks) * meter->seconds_per_tick;
}

double system_meter_cpu_seconds(const struct system_meter *meter)
{
    return (double)(int64_t)(meter->total_ticks - meter->start_total_ticks) *
           meter->seconds_per_tick;
}
