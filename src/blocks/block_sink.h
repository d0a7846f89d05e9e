/*
 * Where marks go: one vtable, one source file a format. A sink belongs to one process and one file.
 */
#ifndef BLOCKS_BLOCK_SINK_H
#define BLOCKS_BLOCK_SINK_H

#include "base/str.h"
#include "blocks/block_figures.h"
#include "blocks/block_losses.h"
#include "blocks/block_name.h"
#include "formats/marks/block_log.h"
#include "formats/marks/sub_tracking_file.h"

#include <gputracker/blocks.h>

/* What a sink keeps for each thread; all zero at first. */
struct block_sink_thread {
    int64_t thread_id;
    bool recurses;                /* its next mark begins a block that it has open */
    int64_t started_ns;           /* its next mark stops the call that was `marked_ns` then; 0 */
    int64_t marked_ns;            /* when its last mark was made, by the sink's clock */
    struct sub_tracking_mark row; /* of the mark that is made, or could not be */
    struct block_losses losses;
    struct block_log_cursor cursor; /* log */
    struct str line;                /* CSV */
};

/* First member of each kind. */
struct block_sink {
    const struct block_sink_methods *methods;
    char *path;
    char *absolute; /* the same, whatever the working directory */
    int64_t process_id;
    bool exact;
    unsigned columns; /* enum sub_tracking_columns that the file began with */
    uint64_t limit_bytes;
    /* Files that have no thread ids get them when a second thread marks, or when a block is begun
     * within itself: without, calls of one block in two threads at once could not be distinguished,
     * and nobody reads the marks of a block as brackets. */
    _Atomic int64_t only_thread;     /* 0 before the first mark */
    _Atomic bool thread_ids_settled; /* there from the start, added, or not to be had */
    bool shared;                     /* a forked child may join the file: see share() */
    struct block_figures figures;
};

struct block_sink_methods {
    size_t bytes; /* what to allocate, all zero but for the members above */

    /* Begins the empty file `fd` (sink->path), which is the sink's from here on, also on failure.
     */
    int (*begin)(struct block_sink *sink, int fd, struct gput_error *error);
    /* The same for the file at sink->path, which another process shared. NULL: cannot be done. */
    int (*join)(struct block_sink *sink, struct gput_error *error);
    /* Sets sink->shared: what the file has stays as it is from here on, so that other processes can
     * add to it. No thread may be marking. NULL: cannot be done. */
    void (*share)(struct block_sink *sink);
    /* A new name; called once for each, in the order of their numbers, before it is first used.
     * NULL: not needed. */
    int (*add_name)(
        struct block_sink *sink, const struct block_name *name, struct gput_error *error);
    /* Reads the time, and the exact figures, and keeps the mark. Any thread. A stop that could not
     * be kept is left in thread->row. */
    int (*mark)(struct block_sink *sink, struct block_sink_thread *thread,
        const struct block_name *name, enum sub_tracking_position position,
        struct gput_error *error);
    /* Keeps the stop of a row that mark() left, later. Any thread. */
    int (*keep)(struct block_sink *sink, struct block_sink_thread *thread,
        const struct block_name *name, const struct sub_tracking_mark *row,
        struct gput_error *error);
    /* Counts marks that the file lacks, or after all does not (-1). NULL: it does not say. */
    void (*count_lost)(struct block_sink *sink, int marks);
    /* Gives back what a thread used, when it ends. NULL: nothing to give. */
    void (*leave)(struct block_sink *sink, struct block_sink_thread *thread);
    /* Completes the file and gives back what begin() took. */
    int (*finish)(struct block_sink *sink, struct gput_error *error);
    /* In a child after fork: the same without touching the parent's file. NULL: that cannot be
     * done, and its memory stays. */
    void (*forget)(struct block_sink *sink);
};

extern const struct block_sink_methods block_sink_csv;
extern const struct block_sink_methods block_sink_sqlite;
extern const struct block_sink_methods block_sink_log;

/*
 * Makes a sink for `path` by its extension, in a new file. The caller owns `*sink`.
 * Errors: as gput_blocks_open().
 */
int block_sink_open(const char *path, const struct gput_blocks_options *options,
    struct block_sink **sink, struct gput_error *error);

/*
 * The same for a file that another process shared: marks are added to it.
 * Errors: GPUT_ERROR_STATE when nobody did; those of opening it.
 */
int block_sink_join(const char *path, const struct gput_blocks_options *options,
    struct block_sink **sink, struct gput_error *error);

/* Completes and frees it. */
int block_sink_close(struct block_sink *sink, struct gput_error *error);

/* Frees the sink of a parent process, as far as that can be done. */
void block_sink_abandon(struct block_sink *sink);

/* Gives back what a thread used. `sink` NULL: of a sink that is closed or forgotten. */
void block_sink_leave(struct block_sink *sink, struct block_sink_thread *thread);

/* For the sinks: whether thread ids are to be added before this mark. All marks so far are those of
 * `only_thread` then, which is this one if it recurses. */
static inline bool block_sink_needs_thread_ids(
    struct block_sink *sink, const struct block_sink_thread *thread)
{
    if (atomic_load_explicit(&sink->thread_ids_settled, memory_order_acquire))
        return false;
    int64_t only = 0;
    bool second = !atomic_compare_exchange_strong(&sink->only_thread, &only, thread->thread_id) &&
                  only != thread->thread_id;
    return second || thread->recurses;
}

/* For the sinks: a row of this moment, all but its name. */
void block_sink_fill_row(struct block_sink *sink, struct block_sink_thread *thread,
    enum sub_tracking_position position, struct sub_tracking_mark *row);

#endif
