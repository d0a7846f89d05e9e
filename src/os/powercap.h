/*
 * Energy counters of the CPU packages (RAPL) by the powercap files:
 * <sysfs>/class/powercap/intel-rapl:N for a package or the platform, intel-rapl:N:M for a part of
 * it; the same folder names on AMD. Counters are in microjoules and wrap at max_energy_range_uj.
 */
#ifndef OS_POWERCAP_H
#define OS_POWERCAP_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a counter covers. Core and uncore lie inside the package; the platform covers everything, so
 * it is never added to packages. */
enum energy_domain {
    ENERGY_PACKAGE,
    ENERGY_CORE,
    ENERGY_UNCORE,
    ENERGY_DRAM,
    ENERGY_PSYS, /* the platform: the whole machine, as far as the board tells */
    ENERGY_DOMAINS,
};

/* "package", "core", "uncore", "dram", "psys". Static text. */
const char *energy_domain_name(enum energy_domain domain);

/* The domain of a zone's `name` file ("package-0", "dram"). False: none that we know. */
bool energy_domain_parse(const char *name, enum energy_domain *domain);

struct powercap_zone {
    char path[192]; /* of its energy_uj */
    enum energy_domain domain;
    uint32_t package;  /* N of intel-rapl:N */
    uint64_t range_uj; /* where the counter wraps; 0: unknown */
    int fd;            /* of energy_uj, or -1 */
    int open_errno;    /* why it is -1 */
};

struct powercap {
    struct powercap_zone *zones; /* owned */
    size_t count, capacity;
};

/*
 * Finds and opens the counters. No counters at all is no error: count is 0. Zones of the same
 * package by another way (intel-rapl-mmio) are left out. The caller calls powercap_close(), also
 * after an error. Errors: GPUT_ERROR_MEMORY.
 */
int powercap_open(const char *sysfs_root, struct powercap *powercap);
void powercap_close(struct powercap *powercap);

/* The counter now. Errors: GPUT_ERROR_PERMISSION (root alone may read it), GPUT_ERROR_IO. */
int powercap_read(const struct powercap_zone *zone, uint64_t *energy_uj);

#endif
