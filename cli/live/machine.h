/*
 * What the whole machine does now, next to what is tracked: each core, swap, disks, network, and
 * how long others wait (pressure stall information). Rates are of the time between two readings.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* NaN: the kernel does not say. */
struct machine_figures {
    double swap_bytes, swap_capacity_bytes;
    double disk_bytes_a_second, network_bytes_a_second; /* both ways */
    /* The share of the last ten seconds in which some thread waited. */
    double cpu_wait_percent, storage_wait_percent, memory_wait_percent;
};

/* All zeroes, but for `procfs`, is one that nothing was read of. */
struct machine {
    const char *procfs; /* where /proc is */
    struct machine_figures now;
    double *core_percents; /* owned; NaN at the first reading */
    size_t n_cores;
    struct core_ticks {
        uint64_t busy, all;
    } * core_ticks; /* owned; as of the last reading */
    size_t capacity;
    uint64_t disk_bytes, network_bytes; /* since boot */
    double read_seconds;                /* when; 0: never */
};

void machine_finish(struct machine *machine);

/* Reads it. `seconds`: of a clock that does not jump, above 0. */
void machine_read(struct machine *machine, double seconds);

/* Bytes that went to and came from disks; of partitions and of devices that others are made of,
 * once. `text`: of /proc/diskstats. */
uint64_t machine_parse_disks(const char *text);

/* Bytes that network interfaces received and sent, but for those inside of this machine, and for
 * those whose bytes go through others. `text`: of /proc/net/dev. */
uint64_t machine_parse_network(const char *text);

/* The share of the last ten seconds of a file of /proc/pressure; NaN: it is not there. */
double machine_parse_pressure(const char *text);
