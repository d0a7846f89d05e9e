/*
 * The same energy counters by perf events, for users who may read those and not the powercap files:
 * <sysfs>/bus/event_source/devices/power. One counter a domain and package, in units of 2^-32 J,
 * which do not wrap.
 */
#pragma once

#include "machine/energy/powercap.h"

struct perf_energy_counter {
    enum energy_domain domain;
    uint32_t package; /* numbered in the order of the CPUs in cpumask, one per package */
    int fd;
    double joules_per_count;
};

struct perf_energy {
    struct perf_energy_counter *counters; /* owned */
    size_t count;
    bool refused;      /* they exist, but permission is denied */
    char why_not[160]; /* when count is 0 */
};

/* Opens the counters that the kernel permits. The caller calls perf_energy_close(). */
void perf_energy_open(const char *sysfs_root, struct perf_energy *energy);
void perf_energy_close(struct perf_energy *energy);

/* Joules since it was opened. Errors: GPUT_ERROR_IO. */
int perf_energy_read(const struct perf_energy_counter *counter, double *joules);

/* Pure: the CPUs of a cpumask file ("0,18" or "0-1"); returns how many were written. */
size_t perf_energy_parse_cpus(const char *text, int *cpus, size_t capacity);

/* Pure: N of "event=0xN". */
bool perf_energy_parse_event(const char *text, uint64_t *config);
