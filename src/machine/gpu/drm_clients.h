/*
 * The use of graphics cards by tracked processes, from the fdinfo of each card that they have open.
 * Reads only those processes, and caches which of their descriptors are not cards.
 */
#pragma once

#include "machine/gpu/drm_card.h"
#include "machine/gpu/fdinfo.h"
#include "machine/gpu/source.h"
#include "machine/os/pid_vector.h"

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

void drm_target_init(struct drm_target *target, const struct drm_card *card);

/* Checks whether the card is suspended: then it is not read, and `list` gets the reason for device
 * `number`. */
void drm_target_check(struct drm_target *target, const struct drm_card *card, uint32_t number,
    struct gpu_process_list *list);

/*
 * Appends one entry for each process, card and client. A process that may not be read gets entries
 * of NaN. `now_ns` is clock_monotonic_ns(), for shares of time since the last reading.
 */
void drm_clients_read(struct drm_client_reader *reader, const char *procfs_root,
    const struct gpu_tracked *tracked, const struct drm_target *targets, uint32_t n_targets,
    int64_t now_ns, struct gpu_process_list *list);
