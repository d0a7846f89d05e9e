/*
 * The state of a log of marks: the process that owns it, its threads and its names. Any thread may
 * call these functions.
 */
#pragma once

#include "analysis/blocks/block_thread.h"
#include "base/error.h"
#include "files/marks/sub_tracking_names.h"
#include "files/marks/sub_tracking_writer.h"

#include <gputracker/blocks.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * The process that a log of marks writes for. Its id is in a page that the kernel wipes in a child
 * (MADV_WIPEONFORK), so a fork is detected by one load, without a system call and without a lock,
 * which a thread missing in the child might hold. If the kernel does not support that, getpid() is
 * called each time.
 */
struct block_owner {
    _Atomic pid_t *process; /* in a page of its own; NULL: not mapped */
    bool wipes;
};

/* Maps the page, which belongs to no process yet. Returns false without memory. */
bool block_owner_open(struct block_owner *owner);
void block_owner_close(struct block_owner *owner);

/* Whether the calling process is the owner. */
static inline bool block_owner_is_this(const struct block_owner *owner)
{
    pid_t process = atomic_load_explicit(owner->process, memory_order_acquire);
    return process > 0 && (owner->wipes || process == getpid());
}

/* Makes the calling process the owner. */
void block_owner_set(struct block_owner *owner);

struct gput_blocks {
    struct block_owner owner; /* the process that this log writes for */

    char *path;          /* as given, with placeholders */
    char *absolute;      /* absolute path, as a child may have another working directory */
    bool has_process_id; /* the pattern gives each process its own path */
    bool is_named;       /* `absolute` is the path of the first process, without placeholders */
    bool is_renamed;     /* the path existed, and another name was taken */
    struct gput_blocks_options options;
    bool has_constant_names; /* the texts given as names never change, so they are not compared */
    char *procfs_root, *sysfs_root; /* owned copies */
    pthread_key_t key;              /* for each thread's struct block_thread */

    /* In a child: memory of its parent that must not be freed here. It stays referenced, so that
     * leak checkers do not report it. */
    struct sub_tracking_writer *parents_writer;
    struct block_thread *parents_threads;

    /* State of the owner; a child starts with a new one. */
    uint64_t generation;
    struct sub_tracking_writer *writer; /* NULL when the file could not be opened: see `lost` */
    struct block_figures figures;       /* used with options.exact */
    struct sub_tracking_names *names;
    _Atomic uint32_t n_published; /* number of names added to the writer */
    pthread_mutex_t lock;         /* guards the members below, and the adding of names to the
                                     writer */
    struct block_thread *threads;
    _Atomic uint64_t marks_lost;
    struct gput_error lost; /* reason of the first loss */
};

/* How a process opens its file. */
enum beginning {
    BEGINS,       /* creates it at the path */
    BEGINS_CHILD, /* creates it with its process id in the name */
    JOINS,        /* joins the shared file at the path, else as BEGINS_CHILD */
};

/* Starts the log's part of this process. Errors: as gput_blocks_open(). */
int blocks_begin_process(
    struct gput_blocks *blocks, enum beginning beginning, struct gput_error *error);

/* Ensures that the log is started for this process: a forked child begins its own part. */
void blocks_make_own(struct gput_blocks *blocks);

/* Counts a lost mark. Returns the code of the reason. */
int blocks_mark_lost(struct gput_blocks *blocks, const struct gput_error *reason);

/* Counts a call that is missing from the file, or lacks its stop. */
void blocks_call_lost(struct gput_blocks *blocks);

/* Write the waiting stops in order, as long as there is space. blocks_write_last_stops() also
 * counts those that still wait as lost; it is called before the thread's state is freed. */
void blocks_write_waiting_stops(struct gput_blocks *blocks, struct block_writer_thread *thread);
void blocks_write_last_stops(struct gput_blocks *blocks, struct block_writer_thread *thread);

/* Count a lost mark and return its error: no memory for its thread, or no file. */
int blocks_no_thread(struct gput_blocks *blocks, bool is_start);
int blocks_no_writer(struct gput_blocks *blocks);

/* Finds or makes the thread's state: at its first mark, or its first one after a fork. Returns NULL
 * without memory. */
struct block_thread *blocks_find_thread(struct gput_blocks *blocks);

/* Frees a thread's state when the thread ends. */
void blocks_leave_thread(void *pointer);

/* Releases a thread's parts of the file and the figures. `blocks` NULL: they are closed, or the
 * parent's. */
void blocks_release_thread(struct gput_blocks *blocks, struct block_writer_thread *thread);

/* Sets the members of a row for a thread's mark at that time, except its name and its figures. */
void blocks_place_row(const struct gput_blocks *blocks, const struct block_writer_thread *thread,
    enum sub_tracking_position position, int64_t time_ns, struct sub_tracking_mark *row);

/* Finds or adds a name. Errors: GPUT_ERROR_INVALID, GPUT_ERROR_MEMORY, those of writing. */
int blocks_find_name(struct gput_blocks *blocks, struct block_thread *thread, const char *given,
    struct block_name *name, struct gput_error *error);

static inline struct block_thread *blocks_this_thread(struct gput_blocks *blocks)
{
    struct block_thread *thread = pthread_getspecific(blocks->key);
    if (thread && block_owner_is_this(&blocks->owner) && thread->generation == blocks->generation)
        return thread;
    return blocks_find_thread(blocks);
}

static inline int blocks_name_of(struct gput_blocks *blocks, struct block_thread *thread,
    const char *given, struct block_name *name, struct gput_error *error)
{
    const struct block_recent_name *recent = block_thread_recent(thread, given);
    if (recent->given == given && given &&
        (blocks->has_constant_names || strcmp(recent->name.text, given) == 0)) {
        *name = recent->name;
        return GPUT_OK;
    }
    return blocks_find_name(blocks, thread, given, name, error);
}
