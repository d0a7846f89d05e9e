/*
 * The state of one thread in one log: its open blocks, and a cache of names.
 */
#pragma once

#include "analysis/blocks/block_figures.h"
#include "analysis/blocks/block_losses.h"
#include "files/marks/sub_tracking_writer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCK_THREAD_RECENT 64

/* The state of a thread for the writer; all zero at first. */
struct block_writer_thread {
    int64_t thread_id;
    bool recurses; /* its next mark starts a block that is already open in it */
    /* Start of the call that its next mark stops, as in `marked_ns`; 0: not known. */
    int64_t started_ns;
    int64_t marked_ns; /* time of its last mark, by the writer's clock */
    struct block_figures_thread figures;
    struct sub_tracking_mark row; /* the current mark, or one that could not be written */
    struct block_losses losses;
    struct block_log_cursor cursor; /* position in a log (.gputblocks) */
    struct block_log *plain_log;    /* the writer's log; NULL before the first mark and after
                                       losses */
};

struct block_thread {
    struct gput_blocks *blocks;
    struct block_thread *next; /* next in blocks->threads */
    struct block_thread *previous;
    uint64_t generation; /* generation of `blocks` when this thread registered; a fork changes it */
    struct block_writer_thread writer;

    /* Open blocks. Those of a parent process do not belong in its child's file: the first
     * `inherited` of them end without a mark. */
    struct block_open {
        struct block_name name;
        int64_t started_ns; /* 0: its start is not marked yet */
    } * open;
    size_t depth;
    size_t capacity;
    size_t inherited;
    size_t not_pushed; /* number of blocks begun without memory to push them */

    /* Open blocks that single marks started, each name once; kept until the file has thread ids. */
    struct block_name *started;
    size_t n_started;
    size_t started_capacity;

    /* A cache of names by the address of the caller's text. It is only a hint: the texts are
     * compared, too. */
    struct block_recent_name {
        const char *given;
        struct block_name name;
    } recent[BLOCK_THREAD_RECENT];
};

/* Makes the state of the calling thread, all zero except its id. Returns NULL without memory. */
struct block_thread *block_thread_create(void);
void block_thread_destroy(struct block_thread *thread);

/* Prepares the state in a child after fork(): clears the names, and marks the open blocks as
 * inherited. */
void block_thread_inherit(struct block_thread *thread);

/* block_thread_push() for a full array. */
bool block_thread_push_growing(struct block_thread *thread, const struct block_name *name);

/* Opens a block. Returns false without memory: neither its start nor its end may be marked then. */
static inline bool block_thread_push(struct block_thread *thread, const struct block_name *name)
{
    if (__builtin_expect(thread->depth == thread->capacity, 0))
        return block_thread_push_growing(thread, name);
    thread->open[thread->depth++] = (struct block_open){*name, 0};
    return true;
}

enum block_thread_popped { BLOCK_POPPED, BLOCK_POPPED_UNMARKED, BLOCK_NOTHING_OPEN };

/* block_thread_pop() for a block that was not pushed, does not exist, or is inherited. */
enum block_thread_popped block_thread_pop_unusual(struct block_thread *thread);

/* Closes the block begun last. `*open` is only set for BLOCK_POPPED, and valid until the next
 * push. */
static inline enum block_thread_popped block_thread_pop(
    struct block_thread *thread, const struct block_open **open)
{
    if (__builtin_expect(thread->not_pushed > 0 || thread->depth <= thread->inherited, 0))
        return block_thread_pop_unusual(thread);
    *open = &thread->open[--thread->depth];
    return (*open)->name.text ? BLOCK_POPPED : BLOCK_POPPED_UNMARKED;
}

/* Whether a block of that name is open in this thread of this process. */
bool block_thread_has_open(const struct block_thread *thread, const struct block_name *name);

/* Record that a single mark started a block that was not open, or stopped one. */
void block_thread_record_start(struct block_thread *thread, const struct block_name *name);
void block_thread_note_stop(struct block_thread *thread, const struct block_name *name);

static inline struct block_recent_name *block_thread_recent(
    struct block_thread *thread, const char *given)
{
    uintptr_t address = (uintptr_t)given;
    return &thread->recent[(address ^ address >> 6) % BLOCK_THREAD_RECENT];
}
