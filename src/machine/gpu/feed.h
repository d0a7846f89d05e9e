/*
 * One source, read in the background by a thread of its own, so that a driver that hangs delays
 * nothing. A reading has the memory in use, the processes that hold it, and the memory in use
 * again, one right after the other: its figures are of one moment.
 *
 * Processes are listed ten times a second at most; at once when a device's memory in use has
 * changed since the last list, or a request says so. Lists take at most a twentieth of the time
 * (call_pace.h), except requested ones.
 *
 * A list has a deadline: a thread that is still in the driver then is replaced by another one,
 * which reads devices meanwhile. The late list is published when it comes, and its thread ends.
 *
 * When a feed is closed while a thread hangs in a driver, the thread frees it after the call
 * returns.
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
    /* The most memory in use of all readings since the reader set it to 0: also of those that a
     * reader which came late has not seen. */
    double max_ram_bytes[GPU_MAX_DEVICES];
    uint64_t processes_version; /* number of lists so far */
    int64_t processes_ns;       /* when the list was read; 0: never */
    int64_t processes_start_ns; /* when reading it began: it lacks what was later */
    struct gpu_process_list processes;
    double list_ram_bytes[GPU_MAX_DEVICES]; /* in use before and after the list; NaN: unknown, or it
                                               changed meanwhile */
};

void gpu_feed_view_finish(struct gpu_feed_view *view);

/*
 * Probes the source; `status` then is what it said. NULL with GPU_SOURCE_ABSENT where the source
 * has no GPU here, NULL with any other state without memory.
 */
struct gpu_feed *gpu_feed_create(const struct gpu_source *source,
    const struct gpu_source_options *options, bool synchronous, struct gpu_source_status *status);

/* Opens the source and takes first figures, in the background unless synchronous. */
void gpu_feed_start(struct gpu_feed *feed);

/* Devices of which nothing is read: their figures are missing, for that reason (static text). NULL:
 * all are read. `skipped` has GPU_MAX_DEVICES. */
void gpu_feed_skip(struct gpu_feed *feed, const bool *skipped, const char *reason);

/* Sets the processes that are tracked; `pids` ascending, copied. */
void gpu_feed_track(struct gpu_feed *feed, const pid_t *pids, size_t count);

/* Purpose of a request. */
enum gpu_feed_request {
    GPU_FEED_FIGURES, /* with a list if one is due */
    GPU_FEED_LIST,    /* and a list that begins from now on, whatever it costs */
    GPU_FEED_ALL,     /* and what is otherwise read less often because it costs much */
};

/* Requests fresh figures; a synchronous feed reads them at once. */
void gpu_feed_request(struct gpu_feed *feed, enum gpu_feed_request what);

/* Updates the view. Does not wait for a driver. */
void gpu_feed_update(struct gpu_feed *feed, struct gpu_feed_view *view);

/* Waits for the requested figures, but not for a list after its deadline, until `deadline_ns` at
 * most. Does not wait when the source is not open, or has not answered for a tenth of a second in
 * which such a wait timed out. */
void gpu_feed_await(struct gpu_feed *feed, int64_t deadline_ns);

/* Waits for the list that was last requested, also after its deadline. Does not wait again for a
 * driver that exceeded `deadline_ns`, until it has answered. */
void gpu_feed_await_list(struct gpu_feed *feed, int64_t deadline_ns);

/* Waits until all requests are answered, also for the source to open, until `deadline_ns` at most;
 * true when they are. */
bool gpu_feed_await_all(struct gpu_feed *feed, int64_t deadline_ns);

/* How many threads it has, with one that has ended its work and is not gone yet. */
unsigned gpu_feed_threads(struct gpu_feed *feed);

/* Asks the thread to end, and does not wait. */
void gpu_feed_stop(struct gpu_feed *feed);

/* Waits for its threads to end until `deadline_ns`, then leaves them alone. Returns the id of the
 * last one, which the kernel may count for some time still; 0: none has run. */
pid_t gpu_feed_close(struct gpu_feed *feed, int64_t deadline_ns);
