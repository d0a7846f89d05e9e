/*
 * The members of a set; for set.c, which opens it and has its devices, and sample.c, which reads
 * it.
 */
#pragma once

#include "machine/gpu/attribution.h"
#include "machine/gpu/feed.h"
#include "machine/gpu/gpu.h"
#include "machine/gpu/process_ram.h"

/* A source that was probed, and its part of the set. */
struct gpu_member {
    struct gpu_feed *feed; /* NULL: skipped, or without figures */
    struct gpu_feed_view *view;
    uint64_t merged_version;            /* of view->devices */
    uint32_t position[GPU_MAX_DEVICES]; /* indexes of its devices in the set */
    bool failure_reported;
    uint32_t n_skipped; /* that the set has no space for */

    uint64_t attributed_version; /* of view->processes */
    uint64_t attributed_generation;
    struct pid_owner_cache pid_owners;
    struct gpu_share shares[GPU_MAX_DEVICES];
    struct gpu_missing missing[GPU_MAX_DEVICES]; /* of processes, as of the last sample */
    uint32_t n_unattributed;
    unsigned lists_with_unknown;                 /* pids, one after the other */
    double untracked_ram_bytes[GPU_MAX_DEVICES]; /* see struct gpu_device_sample */
    bool has_listed; /* it listed some visible process once: it hides no tracked ones */
};

struct gpu_set {
    pid_t owner;
    char *procfs_root, *sysfs_root, *nvml_path, *uuids;
    struct gpu_visible *visible; /* NULL: all of them; owned */
    enum gpu_vendor vendor;
    int64_t max_age_ns;
    bool synchronous, each_process, parts;
    bool is_started;       /* the sources are opened, or are being opened */
    bool skips_unselected; /* to another tracker */
    void (*warn)(void *user, const char *message);
    void *user;

    struct gpu_member members[GPU_SOURCE_COUNT];
    struct gpu_source_status statuses[GPU_SOURCE_COUNT];
    pid_t ended_threads[GPU_SOURCE_COUNT]; /* of sources that were released; 0: there is none */

    size_t n_devices;
    struct gpu_device devices[GPU_MAX_DEVICES];
    /* The reasons now in devices[].missing. */
    const char *missing[GPU_MAX_DEVICES][GPU_FIGURE_COUNT];
    bool lost[GPU_MAX_DEVICES];
    struct card_reading cards[GPU_MAX_DEVICES]; /* as of the last sample */
    /* Use of tracked processes that may have gone unseen. */
    struct gpu_missing past_missing[GPU_MAX_DEVICES];
    char absence[640];

    bool is_refreshed;      /* since the last sample */
    int64_t lists_since_ns; /* when lists were last requested at once */
    bool lists_are_last;    /* those */
    bool tracking;
    uint64_t generation;
    struct gpu_process_ram_list process_ram;
    uint64_t process_ram_version;
    pid_t *pids; /* of the tree, ascending */
    size_t pid_capacity;
    bool had_main, unknown_reported, left_out_reported;
};

/* One line to the caller's warn(), when there is one. */
void gpu_set_warn(struct gpu_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Merges what the sources have published since the last call. */
void gpu_set_update(struct gpu_set *set);

/* Warns once about a source that fails while others work. */
void gpu_set_report_failure(struct gpu_set *set, struct gpu_member *member);

/* True when there are GPUs that cannot be read, so that figures are unknown and not 0. */
bool gpu_set_has_hidden_gpus(const struct gpu_set *set);

/* False when no driver is asked, so that there is nothing to wait for: there is none, calls ask
 * themselves, or the set is another process's. */
bool gpu_set_asks(const struct gpu_set *set);

/* True while some driver has not answered at all. */
bool gpu_set_is_opening(const struct gpu_set *set);

/* The reason of a figure before its driver's first answer. Static text. */
extern const char gpu_waiting_reason[];
