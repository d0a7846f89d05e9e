/*
 * /proc/meminfo: RAM of the whole machine.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct meminfo {
    uint64_t total_bytes;
    uint64_t free_bytes;
    bool has_available;       /* Linux 3.14 */
    uint64_t available_bytes; /* available to new programs without swapping */
    uint64_t buffers_bytes;
    uint64_t cached_bytes; /* page cache without reclaimable slab */
    uint64_t reclaimable_slab_bytes;
    bool has_hugetlb; /* some pages are of hugetlbfs, in use or kept for it */
};

/* Returns GPUT_OK, or GPUT_ERROR_FORMAT when MemTotal or MemFree is missing. */
int meminfo_parse(const char *text, struct meminfo *meminfo);

/* Errors: see machine/os/procfs.h; GPUT_ERROR_FORMAT. */
int meminfo_read(const char *root, struct meminfo *meminfo, struct gput_error *error);

/*
 * RAM in use: total - available; where MemAvailable is missing, total - free - buffers - cached -
 * reclaimable slab. Both are what psutil calls "used" on such a machine.
 */
uint64_t meminfo_used_bytes(const struct meminfo *meminfo);
