/*
 * /proc/PID/fdinfo/N of an open graphics card: the memory of that client and how long it kept each
 * engine busy. The format is the kernel's for all DRM drivers (drm-usage-stats).
 */
#pragma once

#include "base/error.h"
#include "machine/gpu/pci_address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FDINFO_MAX_REGIONS 12
#define FDINFO_MAX_ENGINES 16

struct fdinfo_region {
    char name[24];           /* "vram", "gtt", "local0", "system0" … */
    bool has_resident;       /* drm-resident, or drm-memory, its older name */
    uint64_t resident_bytes; /* backed by memory now */
    uint64_t total_bytes;    /* also what is not backed */
    uint64_t shared_bytes;   /* of these, in buffers that other clients have, too */
};

struct fdinfo_engine {
    char name[24]; /* "gfx", "compute", "render", "rcs" … */
    uint64_t busy_ns;
    uint64_t busy_cycles, total_cycles; /* busy out of that many; both 0 where ns are counted */
    uint32_t capacity;                  /* number of engines of this kind; at least 1 */
};

struct fdinfo {
    char driver[32];
    char pci_address[PCI_ADDRESS_TEXT_SIZE]; /* "" when not reported */
    bool has_client;
    uint64_t client; /* identifies one opening of the card, in all processes that share it */
    uint32_t n_regions;
    struct fdinfo_region regions[FDINFO_MAX_REGIONS];
    uint32_t n_engines;
    struct fdinfo_engine engines[FDINFO_MAX_ENGINES];
};

/*
 * Parses `length` bytes of text, which need no NUL. Malformed lines are skipped, as are regions and
 * engines beyond the arrays. Returns GPUT_OK, or GPUT_ERROR_FORMAT when the text is not that of a
 * graphics card.
 */
int fdinfo_parse(const char *text, size_t length, struct fdinfo *info);

/* Memory of the client: on the card only, or, for an integrated GPU, everywhere. `*shared_bytes` of
 * it is in buffers that other clients have, too. */
uint64_t fdinfo_ram_bytes(const struct fdinfo *info, bool integrated, uint64_t *shared_bytes);
