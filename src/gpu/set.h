/*
 * What a set is made of; for set.c, which opens it and keeps its devices, and sample.c, which reads
 * it.
 */
#ifndef GPU_SET_H
#define GPU_SET_H

#include "gpu/attribution.h"
#include "gpu/feed.h"
#include "gpu/gpu.h"
#include "gpu/holdings.h"

/* A source that was probed, and what of it the set has taken over. */
struct gpu_member {
    struct gpu_feed *feed; /* NULL: skipped, or nothing will come */
    struct gpu_feed_view *view;
    uint64_t merged_version;            /* of view->devices */
    uint32_t position[GPU_MAX_DEVICES]; /* where its devices are in the set */
    bool failure_reported;

    uint64_t attributed_version; /* of view->processes */
    uint64_t attributed_generation;
    struct pid_owner_cache book;
    struct gpu_share shares[GPU_MAX_DEVICES];
    struct gpu_missing missing[GPU_MAX_DEVICES]; /* of processes, as of the last sample */
    uint32_t n_unattributed;
    double untracked_ram_bytes[GPU_MAX_DEVICES]; /* see struct gpu_device_sample */
    bool has_listed; /* some process in sight, at least once: it hides none of ours */
};

struct gpu_set {
    pid_t owner;
    char *procfs_root, *sysfs_root, *nvml_path, *uuids;
    enum gpu_vendor vendor;
    int64_t old_ns;
    bool synchronous, each_process;
    void (*warn)(void *user, const char *message);
    void *user;

    struct gpu_member members[GPU_SOURCE_COUNT];
    struct gpu_source_status statuses[GPU_SOURCE_COUNT];

    size_t n_devices;
    struct gpu_device devices[GPU_MAX_DEVICES];
    const char *missing[GPU_MAX_DEVICES][GPU_FIGURE_COUNT]; /* what devices[].missing says now */
    bool lost[GPU_MAX_DEVICES];
    struct gpu_missing past_missing[GPU_MAX_DEVICES]; /* what tracked ones may have used unseen */
    char absence[640];

    bool asked; /* since the last sample */
    bool tracking;
    uint64_t generation;
    struct gpu_holdings holdings;
    uint64_t holdings_version;
    pid_t *pids; /* of the tree, ascending, for sources that ask each */
    size_t pid_capacity;
    unsigned lists_with_unknown;
    bool unknown_reported, overflow_reported;
};

/* One line to the caller's warn(), when there is one. */
void gpu_set_warn(struct gpu_set *set, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes over what the sources gave out since the last time. */
void gpu_set_update(struct gpu_set *set);

/* Warns once of a source that fails next to others that work. */
void gpu_set_report_failure(struct gpu_set *set, struct gpu_member *member);

/* True when there are GPUs that do not show, so that nothing is not zero. */
bool gpu_set_hides_something(const struct gpu_set *set);

/* Shown for a figure that no answer came for yet. Static text. */
extern const char gpu_waiting_reason[];

#endif
