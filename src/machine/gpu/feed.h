/*
 * One source, read in the background. Each source has two threads, because lists of processes can
 * take a thousand times longer than the figures of a device: one opens the driver and reads
 * devices, one lists processes. Lists are read at most ten times a second; sooner when a device's
 * memory in use has changed since the last list; at once after gpu_feed_request_list(). Lists take
 * at most a twentieth of the time (list_budget.h), except requested ones.
 *
 * Shared state is reference-counted: when a feed is closed while a thread hangs in a driver, the
 * thread frees it after the call returns.
 */
#pragma once

#include "machine/gpu/source.h"

#include <stdbool.h>
#include <stdint.h>

struct gpu_feed;

/* The smallest change of a device's memory in use that counts as one. */
#define GPU_MIN_MOVE_BYTES (1024 * 1024.0)

/* The last figures of a feed. Owned by the reader; starts as all zeroes. */
struct gpu_feed_view {
    struct gpu_source_status status;
    bool opening; /* the driver has not answered yet */
    bool opened;
    uint64_t devices_version; /* counts changes of `devices` */
    uint32_t n_devices;
    struct gpu_device devices[GPU_MAX_DEVICES];
    struct gpu_device_reading readings[GPU_MAX_DEVICES];
    int64_t read_ns[GPU_MAX_DEVICES]; /* clock_monotonic_ns(); 0: never */
    uint64_t processes_version;       /* number of lists so far */
    int64_t processes_ns;             /* when the list was read; 0: never */
    int64_t processes_start_ns;       /* when reading it began: it lacks what was later */
    struct gpu_process_list processes;
    double list_ram_bytes[GPU_MAX_DEVICES]; /* in use when reading it began; NaN: unknown */
    /* For each device the last list during which its RAM in use did not change, and that RAM. */
    uint64_t paired_version[GPU_MAX_DEVICES];
    double paired_ram_bytes[GPU_MAX_DEVICES];
};

void gpu_feed_view_finish(struct gpu_feed_view *view);

/*
 * Probes the source. A feed is created even when the source has no GPU: gpu_feed_update() then
 * gives the reason. NULL without memory.
 */
struct gpu_feed *gpu_feed_create(
    const struct gpu_source *source, const struct gpu_source_options *options, bool synchronous);

/* Whether the source has no GPU here, as its probe said; `status` then says why, and the feed can
 * be closed. Before it is started. */
bool gpu_feed_is_absent(const struct gpu_feed *feed, struct gpu_source_status *status);

/* Opens the source and takes first figures, in the background unless synchronous. */
void gpu_feed_start(struct gpu_feed *feed);

/* Devices of which nothing is read: their figures are missing, for that reason (static text). NULL:
 * all are read. `skipped` has GPU_MAX_DEVICES. */
void gpu_feed_skip(struct gpu_feed *feed, const bool *skipped, const char *reason);

/* Sets the processes that are tracked; `pids` ascending, copied. */
void gpu_feed_track(struct gpu_feed *feed, const pid_t *pids, size_t count);

/* Requests fresh figures; a synchronous feed reads them at once. */
void gpu_feed_request(struct gpu_feed *feed);

/* Updates the view. Does not wait for a driver. */
void gpu_feed_update(struct gpu_feed *feed, struct gpu_feed_view *view);

/* Requests a list of processes whose reading starts from now on, whatever its cost. `whole`: and
 * all other figures, also those that are read less often because they cost much. */
void gpu_feed_request_list(struct gpu_feed *feed, bool whole);

/* Waits for the devices' figures only, until `deadline_ns` at most. Does not wait when the source
 * is not open, or has not answered for a tenth of a second in which such a wait timed out. */
void gpu_feed_await_devices(struct gpu_feed *feed, int64_t deadline_ns);

/* The same for the list that was last requested. */
void gpu_feed_await_list(struct gpu_feed *feed, int64_t deadline_ns);

/* The same for the list that follows a change of a device's memory in use, when it is due by then.
 * A list that this did not get in time is still waited for by gpu_feed_await_list(). */
void gpu_feed_await_moved_list(struct gpu_feed *feed, int64_t deadline_ns);

/* Waits until all requests are answered, until `deadline_ns` at most; true when they are. */
bool gpu_feed_await_all(struct gpu_feed *feed, int64_t deadline_ns);

/* Asks the threads to end, and does not wait. */
void gpu_feed_stop(struct gpu_feed *feed);

/* Waits for the threads to end until `deadline_ns`, then detaches them. */
void gpu_feed_close(struct gpu_feed *feed, int64_t deadline_ns);
