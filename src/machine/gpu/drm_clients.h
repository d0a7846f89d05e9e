/*
 * The use of graphics cards by tracked processes, from the fdinfo of each card that they have open.
 * Reads only those processes, and caches which of their descriptors are not cards.
 */
#pragma once

#include "machine/gpu/drm_card.h"
#include "machine/gpu/fdinfo.h"
#include "machine/gpu/source.h"
#include "machine/os/procfs.h"

/* A card whose clients are wanted; its index in the array is the device number in the list. */
struct drm_target {
    char pci_address[PCI_ADDRESS_TEXT_SIZE];
    char driver[32];
    long card_number;
    long render_number; /* N of /dev/dri/renderDN; -1: not known */
    bool integrated;    /* uses system RAM: all regions count; set by its source */
    bool suspended;     /* not read, which could resume it */
};

/* State kept between readings; used by one thread. Starts as all zeroes. */
struct drm_client_reader {
    struct drm_process *processes; /* by pid; owned */
    size_t n_processes, process_capacity;
    struct drm_usage *usages; /* of the last reading, sorted by device and client; owned */
    size_t n_usages, usage_capacity;
    struct drm_usage *fresh; /* of the current reading; owned */
    size_t n_fresh, fresh_capacity;
    bool has_read;
    int64_t read_ns;
    struct pid_vector *descriptors; /* scratch; owned */
};

void drm_client_reader_finish(struct drm_client_reader *reader);

/*
 * Appends one entry for each process, card and client. A process that may not be read gets entries
 * of NaN. `now_ns` is clock_monotonic_ns(), for shares of time since the last reading.
 */
void drm_clients_read(struct drm_client_reader *reader, const char *procfs_root,
    const struct gpu_tracked *tracked, const struct drm_target *targets, uint32_t n_targets,
    int64_t now_ns, struct gpu_process_list *list);

/*
 * The cards that one source reads through the kernel's DRM subsystem, with their clients: the first
 * member of the source's state. A source adds what its own driver has beyond that.
 */
struct drm_gpus {
    struct gpu_source_options options;
    uint32_t count;
    struct drm_card *cards;     /* owned */
    struct drm_target *targets; /* one a card; owned */
    struct drm_client_reader reader;
};

/* Makes a source's state of `size` bytes with the cards that are the source's. NULL: there are none
 * of these (`whose`: "AMD"), or no memory, as `status` says then. */
void *drm_gpus_create(const struct gpu_source_options *options, size_t size,
    drm_card_filter *is_wanted, const char *whose, struct gpu_source_status *status);

/* Frees the state. */
void drm_gpus_close(void *gpus);

/* Lists the tracked processes that use the cards. */
void drm_gpus_read_processes(
    void *gpus, const struct gpu_tracked *tracked, bool whole, struct gpu_process_list *list);
