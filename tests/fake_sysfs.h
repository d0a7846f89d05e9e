/*
 * A machine made of files in a temporary folder, for readers of sysfs: energy counters that a test
 * moves, batteries, whatever it writes.
 */
#pragma once

#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fake_sysfs[64]; /* the folder */

static inline int fake_sysfs_create(void)
{
    strcpy(fake_sysfs, "/tmp/gpu-tracker-sysfs.XXXXXX");
    return mkdtemp(fake_sysfs) ? 0 : -1;
}

static inline int fake_sysfs_remove(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", fake_sysfs);
    return system(command);
}

/* Writes a file and the folders above it. */
static inline void fake_sysfs_write(const char *file, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", fake_sysfs, file);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

/* Lets the counter of a zone ("intel-rapl:0:1") stand at that many joules. */
static inline void fake_sysfs_set_joules(const char *zone, double joules)
{
    char file[128], text[64];
    snprintf(file, sizeof file, "class/powercap/%s/energy_uj", zone);
    snprintf(text, sizeof text, "%.0f\n", joules * 1e6);
    fake_sysfs_write(file, text);
}

#define FAKE_SYSFS_RANGE_JOULES 262143.328850

static inline void fake_sysfs_make_zone(const char *zone, const char *name, double joules)
{
    char file[128];
    snprintf(file, sizeof file, "class/powercap/%s/name", zone);
    fake_sysfs_write(file, name);
    snprintf(file, sizeof file, "class/powercap/%s/max_energy_range_uj", zone);
    fake_sysfs_write(file, "262143328850\n");
    fake_sysfs_set_joules(zone, joules);
}

/* Two packages with DRAM, a core domain, a platform, and the same package by another way. */
static inline void fake_sysfs_make_two_packages(void)
{
    fake_sysfs_make_zone("intel-rapl:0", "package-0\n", 1000);
    fake_sysfs_make_zone("intel-rapl:0:0", "core\n", 500);
    fake_sysfs_make_zone("intel-rapl:0:1", "dram\n", 200);
    fake_sysfs_make_zone("intel-rapl:1", "package-1\n", 2000);
    fake_sysfs_make_zone("intel-rapl:1:0", "dram\n", 300);
    fake_sysfs_make_zone("intel-rapl:2", "psys\n", 9000);
    fake_sysfs_make_zone("intel-rapl-mmio:0", "package-0\n", 1000);
}
