/*
 * A block writer writes marks: one vtable, one source file a format. It belongs to one process and
 * one file.
 */
#pragma once

#include "analysis/blocks/block_figures.h"
#include "analysis/blocks/block_losses.h"
#include "analysis/blocks/block_name.h"
#include "base/str.h"
#include "files/marks/block_log.h"
#include "files/marks/sub_tracking_file.h"

#include <gputracker/blocks.h>

#include <pthread.h>

/* A writer's state of one thread; all zero at first. */
struct block_writer_thread {
    int64_t thread_id;
    bool recurses; /* its next mark starts a block that it has open already */
    /* Start of the call that its next mark stops, a `marked_ns`; 0: not known. */
    int64_t started_ns;
    int64_t marked_ns; /* time of its last mark, by the writer's clock */
    struct block_figures_thread figures;
    struct sub_tracking_mark row; /* the current mark, or one that could not be written */
    struct block_losses losses;
    struct block_log_cursor cursor; /* of the log format */
    struct block_log *plain_log;    /* the writer's; NULL before the first mark and after losses */
    struct str line;                /* of the CSV format */
};

/* First member of each format's writer. */
struct block_writer {
    const struct block_writer_methods *methods;
    char *path;
    char *absolute; /* the absolute path */
    int64_t process_id;
    bool exact;
    unsigned columns; /* enum sub_tracking_columns of the new file */
    uint64_t limit_bytes;
    /* Files without thread ids get them when a second thread marks, or when a block starts inside
     * itself: without them concurrent calls of one block could not be distinguished, and marks are
     * not paired like brackets. */
    _Atomic int64_t only_thread;     /* 0 before the first mark */
    _Atomic bool thread_ids_decided; /* present from the start, added, or impossible to add */
    bool shared;                     /* a forked child may join the file: see share() */
    struct block_log *plain_log; /* where a mark is a word: see block_plain.h. NULL: elsewhere */
    struct block_figures figures;
};

struct block_writer_methods {
    size_t bytes; /* size of a writer, all zero except the members above */

    /* Removes an existing file, with all that belongs to it. NULL: unlink() does. */
    int (*remove)(const char *path, struct gput_error *error);
    /* Starts the empty file `fd` (writer->path), which the writer owns from here on, also on
     * failure.
     */
    int (*begin)(struct block_writer *writer, int fd, struct gput_error *error);
    /* The same for the file at writer->path, which another process shared. NULL: not supported. */
    int (*join)(struct block_writer *writer, struct gput_error *error);
    /* Sets writer->shared: the file's columns do not change from here on, so that other processes
     * can append to it. No thread may be marking. NULL: not supported. */
    void (*share)(struct block_writer *writer);
    /* Adds a name; called once for each, in the order of their numbers, before its first use. NULL:
     * not needed. */
    int (*add_name)(
        struct block_writer *writer, const struct block_name *name, struct gput_error *error);
    /* Reads the time and the exact figures, and writes the mark. Any thread. A stop that could not
     * be written is left in thread->row. */
    int (*mark)(struct block_writer *writer, struct block_writer_thread *thread,
        const struct block_name *name, enum sub_tracking_position position,
        struct gput_error *error);
    /* Writes a stop that mark() left in a row. Any thread. */
    int (*keep)(struct block_writer *writer, struct block_writer_thread *thread,
        const struct block_name *name, const struct sub_tracking_mark *row,
        struct gput_error *error);
    /* Adds to the file's count of lost marks; -1: one was written later. NULL: not supported. */
    void (*count_lost)(struct block_writer *writer, int marks);
    /* Counts a call of which a mark was lost, and writes the number as soon as there is space. Any
     * thread. */
    void (*lose_call)(struct block_writer *writer);
    /* Releases a thread's resources when it ends. NULL: there are none. */
    void (*leave)(struct block_writer *writer, struct block_writer_thread *thread);
    /* Completes the file and frees what begin() allocated. */
    int (*finish)(struct block_writer *writer, struct gput_error *error);
    /* In a child after fork: the same without changing the parent's file. NULL: not supported; the
     * memory is not freed. */
    void (*forget)(struct block_writer *writer);
};

/* Those of the format that the extension of a path says. Errors: GPUT_ERROR_INVALID. In a file of
 * its own, so that what writes logs alone can do without the other formats. */
int block_writer_methods_find(
    const char *path, const struct block_writer_methods **methods, struct gput_error *error);

extern const struct block_writer_methods block_writer_csv;
extern const struct block_writer_methods block_writer_sqlite;
extern const struct block_writer_methods block_writer_log;

/*
 * Creates a writer for a new file at `path`, by its extension. The caller owns `*writer`. Errors:
 * as gput_blocks_open().
 */
int block_writer_open(const char *path, const struct gput_blocks_options *options,
    struct block_writer **writer, struct gput_error *error);

/*
 * The same for a file that another process shared: marks are appended. Errors: GPUT_ERROR_STATE
 * when it is not shared; those of opening it.
 */
int block_writer_join(const char *path, const struct gput_blocks_options *options,
    struct block_writer **writer, struct gput_error *error);

/* Completes the file and frees the writer. */
int block_writer_close(struct block_writer *writer, struct gput_error *error);

/* In a child after fork: frees the parent's writer as far as possible. */
void block_writer_abandon(struct block_writer *writer);

/* Releases a thread's resources. `writer` NULL: of a writer that is closed or abandoned. */
void block_writer_end_thread(struct block_writer *writer, struct block_writer_thread *thread);

/* For the writers: whether thread ids are to be added before this mark. All marks so far are then
 * those of `only_thread`, which is this thread if it recurses. */
static inline bool block_writer_needs_thread_ids(
    struct block_writer *writer, const struct block_writer_thread *thread)
{
    if (atomic_load_explicit(&writer->thread_ids_decided, memory_order_acquire))
        return false;
    int64_t only = 0;
    bool second = !atomic_compare_exchange_strong(&writer->only_thread, &only, thread->thread_id) &&
                  only != thread->thread_id;
    return second || thread->recurses;
}

/* For the writers: decides on thread ids, which `add` puts into the file where it can. It is called
 * with the writer's lock held and SIGXFSZ blocked. */
void block_writer_decide_thread_ids(
    struct block_writer *writer, pthread_mutex_t *lock, void (*add)(struct block_writer *writer));

/* For the writers: counts a lost call of this moment. */
void block_writer_count_lost_call(struct block_writer *writer, struct sub_tracking_lost *lost);

/* For the writers: fills a mark of this moment, except its name. */
void block_writer_fill_row(struct block_writer *writer, struct block_writer_thread *thread,
    enum sub_tracking_position position, struct sub_tracking_mark *row);
