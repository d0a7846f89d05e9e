/*
 * Energy counters of the CPU packages (RAPL), read from the powercap files in
 * <sysfs>/class/powercap. intel-rapl:N is a package or the platform, intel-rapl:N:M a part of it,
 * on AMD, too. intel-rapl-mmio:N counts a package by another way. Counters are in microjoules and
 * wrap at max_energy_range_uj.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part that a counter covers. Core and uncore lie inside the package; the platform covers
 * everything, so it is never added to packages. */
enum energy_domain {
    ENERGY_PACKAGE,
    ENERGY_CORE,
    ENERGY_UNCORE,
    ENERGY_DRAM,
    ENERGY_PSYS, /* the platform: the whole machine, as far as the board measures it */
    ENERGY_DOMAINS,
};

/* "package", "core", "uncore", "dram", "psys". Static text. */
const char *energy_domain_name(enum energy_domain domain);

/* The domain of a zone's `name` file ("package-0", "dram"). False: unknown. */
bool energy_domain_parse(const char *name, enum energy_domain *domain);

struct powercap_zone {
    char path[192];  /* of its energy_uj */
    char name[32];   /* "package-0"; "" where it cannot be read */
    bool is_unnamed; /* its name is unknown */
    enum energy_domain domain;
    bool is_mmio;      /* intel-rapl-mmio */
    bool is_part;      /* intel-rapl:N:M */
    uint32_t package;  /* N of intel-rapl:N */
    uint64_t range_uj; /* where the counter wraps; 0: unknown */
    int fd;            /* of energy_uj, or -1 */
    int open_errno;    /* why it is -1 */
};

struct powercap {
    struct powercap_zone *zones; /* owned */
    size_t count;                /* of counters that are known */
    size_t n_unnamed;            /* after them; not opened */
    int folder_errno;            /* why their folder cannot be read: there may be some */
};

/*
 * Finds and opens the counters. No counters at all is not an error: count is 0. Neither is a folder
 * that cannot be read. Skips intel-rapl-mmio zones of a package that intel-rapl has too, and parts
 * of a package with unknown names. The caller calls powercap_close(), also after an error. Errors:
 * GPUT_ERROR_MEMORY.
 */
int powercap_open(const char *sysfs_root, struct powercap *powercap);
void powercap_close(struct powercap *powercap);

/* Reads the counter. Errors: GPUT_ERROR_PERMISSION (root alone may read it), GPUT_ERROR_IO. */
int powercap_read(const struct powercap_zone *zone, uint64_t *energy_uj);

/*
 * Power drawn from batteries: <sysfs>/class/power_supply. While the machine runs on battery, it is
 * the power of the whole machine.
 */

/*
 * Watts drawn from all discharging batteries, except those of attached devices (mice, …). NaN: none
 * discharges. Errors: GPUT_ERROR_UNSUPPORTED when the machine has no battery that gives its power;
 * others when their folder cannot be read.
 */
int battery_read(const char *sysfs_root, double *watts, struct gput_error *error);
