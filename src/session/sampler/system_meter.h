/*
 * CPU and RAM of the whole machine.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct system_meter {
    const char *procfs_root;
    int stat_fd, meminfo_fd; /* cached, or -1 */
    uint32_t core_count;

    bool is_skipped; /* another tracker reads the machine; intervals go on */
    int64_t ram_read_ns;
    uint64_t busy_ticks, total_ticks; /* at the start of the interval being measured */
    int64_t since_ns;
    uint64_t start_busy_ticks, start_total_ticks; /* at the start of the first one */
    double seconds_per_tick;

    double ram_capacity_bytes; /* NaN: not available */
    double ram_used_bytes;     /* NaN: not available */
    bool has_hugetlb;          /* as of the last reading of RAM */
    bool uses_swap;            /* likewise: some of it is in use, or that is not known */
    double cpu_sum_percent;    /* 100 is one core; NaN until a first interval is over */
};

/* Reads RAM for the first time. `procfs_root` must live as long as the meter. The caller calls
 * system_meter_finish(). */
void system_meter_init(
    struct system_meter *meter, const char *procfs_root, uint32_t core_count, int64_t now_ns);
void system_meter_finish(struct system_meter *meter);

/*
 * Reads again. The kernel counts the machine's CPU time in ticks of 10 ms, so an interval shorter
 * than 100 ms is extended until it is that long; until then the last figure is kept. RAM is read at
 * most 100 times a second.
 */
void system_meter_read(struct system_meter *meter, int64_t now_ns);

/* Reads nothing more, and forgets what is current; or reads again. */
void system_meter_skip(struct system_meter *meter, bool skip, int64_t now_ns);

/* Begins the first interval of CPU time, or restarts it. */
void system_meter_start(struct system_meter *meter, int64_t now_ns);

/* For the last reading: includes CPU time of an interval that is too short for a percentage. */
void system_meter_read_last(struct system_meter *meter, int64_t now_ns);

/* CPU time of all processes since the start of the first interval, and that with the idle time, as
 * of `since_ns`. */
double system_meter_busy_seconds(const struct system_meter *meter);
double system_meter_cpu_seconds(const struct system_meter *meter);
