/*
 * The driver's side of a feed: what its two threads do. feed.c is the reader's side.
 */
#pragma once

#include "machine/gpu/feed.h"
#include "machine/gpu/list_budget.h"

#include <pthread.h>

struct gpu_feed {
    const struct gpu_source *source;
    struct gpu_source_options options; /* its strings are owned */
    bool synchronous;
    void *state; /* of the source; closed by the last thread that ends */

    pthread_mutex_t lock;                    /* of all below; held only for copying */
    pthread_cond_t wake_devices, wake_lists; /* to the threads */
    pthread_cond_t done;                     /* from the threads */
    unsigned references;                     /* one of the reader, one of each thread */
    unsigned workers;                        /* threads that have not ended */
    bool closing;
    bool finished; /* no more figures will come */

    struct gpu_source_status status;
    bool opening, opened;
    uint64_t devices_version;
    uint32_t n_devices;
    struct gpu_device *devices;          /* GPU_MAX_DEVICES; owned; NULL without `state` */
    struct gpu_device_reading *readings; /* the same */
    int64_t read_ns[GPU_MAX_DEVICES];
    bool skipped[GPU_MAX_DEVICES];
    const char *why_skipped;
    uint64_t devices_asked, devices_answered;
    bool devices_whole, list_whole; /* what is read next is read whole, as sources say */
    int64_t devices_unanswered_ns;  /* since when a request has waited for its answer */
    bool devices_overdue; /* a wait timed out after a tenth of a second, and no answer came since */

    struct gpu_process_list processes;
    uint64_t processes_version;
    int64_t processes_ns, processes_start_ns;
    uint64_t processes_asked, processes_answered;
    uint64_t list_requested; /* processes_asked as of the last request for a list at once */
    bool list_overdue;       /* like devices_overdue, of that list */
    bool moved_list_overdue; /* the same of the list that follows a change of memory */
    bool memory_moved;       /* since the current list, or the one being read */
    uint64_t lists_started;
    uint64_t moved_version; /* the number of the list that follows the last change of memory */
    struct list_budget list_budget;
    int64_t next_list_ns; /* not before then; */
    int64_t next_list_after_move_ns;
    double ram_before_list[GPU_MAX_DEVICES]; /* in use when reading the last list began; NaN:
                                                unknown */
    double list_ram_bytes[GPU_MAX_DEVICES];  /* the same of the last list that was read */
    bool is_unpaired[GPU_MAX_DEVICES];       /* no reading has followed the current list */
    uint64_t paired_version[GPU_MAX_DEVICES];
    double paired_ram_bytes[GPU_MAX_DEVICES];
    struct feed_pids {
        pid_t *pids; /* owned */
        size_t count, capacity;
        uint64_t version;
    } tracked;

    /* Used only by the thread that reads processes. */
    struct gpu_process_list scratch;
    struct feed_pids asked_for;
};

/* Copies the pids. False without memory. */
bool feed_pids_set(struct feed_pids *list, const pid_t *pids, size_t count);

/* All below with the lock held. */

/* Starts the thread that opens the source and reads devices. It starts the one that lists
 * processes. */
bool feed_start_worker(struct gpu_feed *feed);

/* Opens the source, with the lock released meanwhile; true when it is open. */
bool feed_open_source(struct gpu_feed *feed);

/* Reads each device, with the lock released meanwhile, and publishes each as it comes. */
void feed_read_devices(struct gpu_feed *feed);

/* Lists the processes, with the lock released meanwhile. */
void feed_read_processes(struct gpu_feed *feed);

/* When the next list is due; INT64_MAX: on request only. */
int64_t feed_list_due_ns(const struct gpu_feed *feed);

/* Frees it, when its last user has released the lock. */
void feed_destroy(struct gpu_feed *feed);
