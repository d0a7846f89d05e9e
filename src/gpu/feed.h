/*
 * One source, asked in the background. Two threads a source, because lists of processes can take a
 * thousand times longer than the figures of a device: one opens the driver and reads devices, one
 * lists processes. Lists are read at most ten times a second; sooner when the memory in use on a
 * device is not what it was at the last list; at once when gpu_feed_request_list() says so. Only
 * the last of these disregards what lists cost: the others take at most a twentieth of the time.
 *
 * What a feed shares with its threads is counted: closing it lets a thread that hangs in a driver
 * keep its part, which is freed when the call returns.
 */
#ifndef GPU_FEED_H
#define GPU_FEED_H

#include "gpu/source.h"

#include <stdbool.h>
#include <stdint.h>

struct gpu_feed;

/* What a feed last said. Owned by the reader; start with all zeroes. */
struct gpu_feed_view {
    struct gpu_source_status status;
    bool opening; /* the driver has not answered yet */
    bool opened;
    uint64_t devices_version; /* counts changes of `devices` */
    uint32_t n_devices;
    struct gpu_device devices[GPU_MAX_DEVICES];
    struct gpu_device_reading readings[GPU_MAX_DEVICES];
    int64_t read_ns[GPU_MAX_DEVICES]; /* clock_monotonic_ns(); 0: never */
    uint64_t processes_version;       /* counts lists; 0: none yet */
    int64_t processes_ns;             /* when it was read; 0: never */
    struct gpu_process_list processes;
    /* For each device the last list around which its RAM in use stood still, and how much that was.
     */
    uint64_t paired_version[GPU_MAX_DEVICES];
    double paired_ram_bytes[GPU_MAX_DEVICES];
};

void gpu_feed_view_finish(struct gpu_feed_view *view);

/*
 * Probes the source. The feed is there even when the source has nothing: gpu_feed_update() then
 * tells why. NULL without memory.
 */
struct gpu_feed *gpu_feed_create(
    const struct gpu_source *source, const struct gpu_source_options *options, bool synchronous);

/* Opens the source and takes first figures, in the background unless synchronous. */
void gpu_feed_start(struct gpu_feed *feed);

/* The processes that the source should ask; `pids` ascending, copied. */
void gpu_feed_track(struct gpu_feed *feed, const pid_t *pids, size_t count);

/* Asks for fresh figures; a synchronous feed reads them at once. */
void gpu_feed_request(struct gpu_feed *feed);

/* Brings the view up to date, as far as that needs no waiting. */
void gpu_feed_update(struct gpu_feed *feed, struct gpu_feed_view *view);

/* Asks for a list of processes that is read from now on, whatever lists cost. */
void gpu_feed_request_list(struct gpu_feed *feed);

/* Waits for the devices' figures alone, not past `deadline_ns`; not at all where the source is not
 * open, or the last such wait was in vain and nothing has come since. */
void gpu_feed_await_devices(struct gpu_feed *feed, int64_t deadline_ns);

/* The same for the list that was last requested. */
void gpu_feed_await_list(struct gpu_feed *feed, int64_t deadline_ns);

/* Waits until all that was asked is answered, not past `deadline_ns`; true when it is. */
bool gpu_feed_settle(struct gpu_feed *feed, int64_t deadline_ns);

/* Tells the threads to end, and does not wait. */
void gpu_feed_stop(struct gpu_feed *feed);

/* Gives the threads until `deadline_ns` to end, then lets go of them. */
void gpu_feed_close(struct gpu_feed *feed, int64_t deadline_ns);

#endif
