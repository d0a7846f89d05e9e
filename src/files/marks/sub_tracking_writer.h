/*
 * The writers of sub-tracking files: one vtable, one source file a format. Each writes in one of
 * these ways:
 *
 * - a whole file: marks that are there already (sub_tracking_writer_create() in
 *   sub_tracking_file.h). It is written to a temporary path, in large parts, and renamed at the
 *   end.
 * - live: marks of the program that makes them. Each survives the end of the program; threads mark
 *   at once, and forked children may join the file. What could not be written is counted.
 * - a single mark (gput_sub_tracking_mark()): of a script, which is another process for each.
 */
#pragma once

#include "base/part_file.h"
#include "files/marks/block_log.h"
#include "files/marks/sub_tracking_file.h"

#include <pthread.h>
#include <stdatomic.h>

/* First member of each format's writer. */
struct sub_tracking_writer {
    const struct sub_tracking_writer_methods *methods;
    char *path;       /* as given, for messages */
    char *target;     /* its absolute path (live), or that with its links resolved (whole) */
    unsigned columns; /* enum sub_tracking_columns of the new file */

    /* Of a whole file: */
    struct part_file part;            /* the temporary path until then */
    struct sub_tracking_names *names; /* in the order of a file that has a list of them; or NULL */
    struct block_log_cursor cursor;   /* of the log format */

    /* Of a live one: */
    bool is_live;
    int64_t process_id;
    uint64_t limit_bytes;
    pthread_mutex_t lock; /* of the format's members; not taken for marks in a log */
    /* Files without thread ids get them when a second thread marks, or when a block starts inside
     * itself: without them concurrent calls of one block could not be distinguished, and marks are
     * not paired like brackets. */
    _Atomic int64_t only_thread;     /* 0 before the first mark */
    _Atomic bool thread_ids_decided; /* present from the start, added, or impossible to add */
    bool shared;                     /* a forked child may join the file: see share() */
    struct block_log *plain_log;     /* where a mark is a word: see blocks.c. NULL: elsewhere */
};

struct sub_tracking_writer_methods {
    enum sub_tracking_format format;
    size_t bytes; /* size of a writer, all zero except the members above */

    /* Removes an existing file, with all that belongs to it. NULL: unlink() does. */
    int (*remove)(const char *path, struct gput_error *error);
    /* Starts the empty file `fd`, which the writer owns from here on, also on failure: that at
     * writer->path, or writer->part. */
    int (*begin)(struct sub_tracking_writer *writer, int fd, struct gput_error *error);
    /* The same for the live file at writer->path, which another process shared. NULL: not
     * supported. */
    int (*join)(struct sub_tracking_writer *writer, struct gput_error *error);
    /* Sets writer->shared: the file's columns do not change from here on, so that other processes
     * can append to it. No thread may be marking. NULL: not supported. */
    void (*share)(struct sub_tracking_writer *writer);
    /* Adds thread ids to the live file, where it can. The lock is held, and SIGXFSZ blocked. NULL:
     * it has them. */
    void (*add_thread_ids)(struct sub_tracking_writer *writer);
    /* Adds a name; called once for each, in the order of their numbers, before its first use. NULL:
     * not needed. */
    int (*add_name)(struct sub_tracking_writer *writer, const struct block_name *name,
        struct gput_error *error);
    /* Makes space for a mark of that thread, so that adding it takes no time. NULL: not needed. */
    int (*prepare)(struct sub_tracking_writer *writer, struct block_log_cursor *cursor,
        int64_t thread_id, struct gput_error *error);
    /* Writes a mark, whose name is `name`. Any thread; the cursor is that thread's. */
    int (*add)(struct sub_tracking_writer *writer, struct block_log_cursor *cursor,
        const struct block_name *name, const struct sub_tracking_mark *row,
        struct gput_error *error);
    /* As sub_tracking_reader_pass(), from a reader of the same format. NULL: nothing. */
    int (*pass)(struct sub_tracking_writer *writer, struct sub_tracking_reader *reader,
        unsigned cores, size_t *count, struct gput_error *error);
    /* Counts lost calls, and writes the number as soon as there is space. Any thread. */
    void (*add_lost)(struct sub_tracking_writer *writer, const struct sub_tracking_lost *lost);
    /* Adds to the file's count of lost marks; -1: one was written later. NULL: it has none, and
     * whole files have lost calls in rows. */
    void (*count_lost)(struct sub_tracking_writer *writer, int64_t marks);
    /* Leaves the space of a thread that ends to others. NULL: it has none. */
    void (*leave)(struct sub_tracking_writer *writer, struct block_log_cursor *cursor);
    /* Completes the file and frees what begin() allocated, also after a failure of add(). */
    int (*finish)(struct sub_tracking_writer *writer, struct gput_error *error);
    /* In a child after fork: the same without changing the parent's file. NULL: not supported; the
     * memory is not freed. */
    void (*forget)(struct sub_tracking_writer *writer);
    /* Adds a single mark to the file at `path`, which is made where it is missing; other processes
     * may do so at once. NULL: not supported. */
    int (*append)(const char *path, const char *name, const struct sub_tracking_mark *row,
        struct gput_error *error);
};

/* Finds the methods of the format that the extension of a path names. It has a file of its own,
 * so that a writer of logs alone does not link the other formats. Errors: GPUT_ERROR_INVALID. */
int sub_tracking_writer_methods_find(
    const char *path, const struct sub_tracking_writer_methods **methods, struct gput_error *error);

extern const struct sub_tracking_writer_methods sub_tracking_csv_writer;
extern const struct sub_tracking_writer_methods sub_tracking_sqlite_writer;
extern const struct sub_tracking_writer_methods sub_tracking_log_writer;

/* sub_tracking_writer_create() for a format. */
int sub_tracking_writer_begin(const char *path, const struct sub_tracking_writer_methods *methods,
    unsigned columns, struct sub_tracking_writer **writer, struct gput_error *error);

/* ---- Live ---- */

struct sub_tracking_live {
    const struct sub_tracking_writer_methods *methods;
    unsigned columns;
    int64_t process_id;
    uint64_t limit_bytes; /* of a log */
    bool overwrite;
};

/*
 * Creates a file at `path`. On success the caller owns `*writer`
 * (sub_tracking_writer_close()). Errors: GPUT_ERROR_EXISTS (without `overwrite`), those of
 * creating it, GPUT_ERROR_MEMORY.
 */
int sub_tracking_writer_open(const char *path, const struct sub_tracking_live *live,
    struct sub_tracking_writer **writer, struct gput_error *error);

/*
 * Joins a file that another process shared: marks are appended. Errors: GPUT_ERROR_STATE when it is
 * not shared; those of opening it.
 */
int sub_tracking_writer_join(const char *path, const struct sub_tracking_live *live,
    struct sub_tracking_writer **writer, struct gput_error *error);

/* Completes the file and frees the writer. */
int sub_tracking_writer_close(struct sub_tracking_writer *writer, struct gput_error *error);

/* In a child after fork: frees the parent's writer. False: it cannot be freed. */
bool sub_tracking_writer_forget(struct sub_tracking_writer *writer);

/* Counts a call of which a mark was lost at this moment. */
void sub_tracking_writer_lose_call(struct sub_tracking_writer *writer);

/* Whether thread ids are to be added before this mark. All marks so far are then those of
 * `only_thread`, which is this thread if the mark `recurses`: starts a block inside itself. */
static inline bool sub_tracking_writer_needs_thread_ids(
    struct sub_tracking_writer *writer, int64_t thread_id, bool recurses)
{
    if (atomic_load_explicit(&writer->thread_ids_decided, memory_order_acquire))
        return false;
    int64_t only = 0;
    bool second = !atomic_compare_exchange_strong(&writer->only_thread, &only, thread_id) &&
                  only != thread_id;
    return second || recurses;
}

/* Adds thread ids, unless that was decided already. */
void sub_tracking_writer_decide_thread_ids(struct sub_tracking_writer *writer);
