#include "machine/os/meminfo.h"

#include "machine/os/procfs.h"
#include "machine/os/scan.h"

#include <string.h>

enum {
    SEEN_TOTAL = 1,
    SEEN_FREE = 2,
    SEEN_AVAILABLE = 4,
    SEEN_BUFFERS = 8,
    SEEN_CACHED = 16,
    SEEN_SLAB = 32,
    SEEN_ALL = 63
};

/* Dispatches by the first letter of the key. Returns the key if it is one of ours. */
static int parse_line(const struct scan_line *line, struct meminfo *meminfo)
{
    switch (*line->start) {
    case 'M':
        if (SCAN_BYTES(line, "MemTotal:", &meminfo->total_bytes))
            return SEEN_TOTAL;
        if (SCAN_BYTES(line, "MemFree:", &meminfo->free_bytes))
            return SEEN_FREE;
        if (SCAN_BYTES(line, "MemAvailable:", &meminfo->available_bytes))
            return SEEN_AVAILABLE;
        return 0;
    case 'B':
        return SCAN_BYTES(line, "Buffers:", &meminfo->buffers_bytes) ? SEEN_BUFFERS : 0;
    case 'C':
        return SCAN_BYTES(line, "Cached:", &meminfo->cached_bytes) ? SEEN_CACHED : 0;
    case 'S':
        return SCAN_BYTES(line, "SReclaimable:", &meminfo->reclaimable_slab_bytes) ? SEEN_SLAB : 0;
    default:
        return 0;
    }
}

int meminfo_parse(const char *text, struct meminfo *meminfo)
{
    const char *end = text + strlen(text);
    struct scan_line line;
    int seen = 0;

    *meminfo = (struct meminfo){0};
    /* Half of the lines follow those that are read. */
    while (seen != SEEN_ALL && scan_next_line(&text, end, &line))
        seen |= parse_line(&line, meminfo);
    meminfo->has_available = (seen & SEEN_AVAILABLE) != 0;
    uint64_t kib;
    const char *hugetlb = strstr(text, "\nHugetlb:");
    meminfo->has_hugetlb =
        hugetlb && scan_uint64(scan_blanks(hugetlb + strlen("\nHugetlb:")), &kib) && kib > 0;
    return (seen & SEEN_TOTAL) && (seen & SEEN_FREE) ? GPUT_OK : GPUT_ERROR_FORMAT;
}

int meminfo_read(const char *root, struct meminfo *meminfo, struct gput_error *error)
{
    char text[16384];

    TRY(procfs_read(root, PROCFS_SYSTEM, "meminfo", text, sizeof text, NULL, error));
    if (meminfo_parse(text, meminfo) != GPUT_OK)
        return error_set(error, GPUT_ERROR_FORMAT, "%s/meminfo has an unexpected format.", root);
    return GPUT_OK;
}

/* Subtracts, but never below zero: in containers the figures may come from different layers. */
static uint64_t less(uint64_t from, uint64_t what)
{
    return from > what ? from - what : 0;
}

uint64_t meminfo_used_bytes(const struct meminfo *meminfo)
{
    if (meminfo->has_available)
        return less(meminfo->total_bytes, meminfo->available_bytes);
    uint64_t taken = less(meminfo->total_bytes, meminfo->free_bytes);
    uint64_t cache =
        meminfo->buffers_bytes + meminfo->cached_bytes + meminfo->reclaimable_slab_bytes;
    return cache > taken ? taken : taken - cache;
}
