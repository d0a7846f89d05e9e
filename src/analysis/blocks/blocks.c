#include "analysis/blocks/blocks_state.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/wall_clock.h"
#include "files/marks/block_path.h"
#include "files/marks/sub_tracking_columns.h"

#include <gputracker/blocks.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Marks ---- */

/* How a stop finds its start. */
enum pairing {
    LIKE_BRACKETS, /* with the latest start of its name */
    BY_CALL,       /* with the given call's */
    UNKNOWN_CALL,  /* with a given call's that could not be written */
};

/* Counts a mark that could not be written. A lost stop waits until there is space; for a lost
 * start, the stop is not written either. */
static int mark_failed(struct gput_blocks *blocks, struct block_writer_thread *thread,
    const struct block_name *name, enum sub_tracking_position position,
    const struct gput_error *reason)
{
    bool waits = position == SUB_TRACKING_STOP && reason->code != GPUT_ERROR_STATE &&
                 block_losses_add_stop(&thread->losses, name, &thread->row);
    thread->plain_log = NULL; /* until no stop waits any more */
    if (position == SUB_TRACKING_START)
        block_losses_add_start(&thread->losses, name->number);
    if (!waits)
        blocks_call_lost(blocks);
    return blocks_mark_lost(blocks, reason);
}

/* Writes a mark with the current time by the writer's method. The clock is read as close to the
 * block as possible. A stop that could not be written is left in thread->row. */
static int write_mark(struct gput_blocks *blocks, struct block_writer_thread *thread,
    const struct block_name *name, enum sub_tracking_position position, struct gput_error *error)
{
    struct sub_tracking_writer *writer = blocks->writer;
    struct sub_tracking_mark *row = &thread->row;
    bool is_start = position == SUB_TRACKING_START, is_exact = blocks->options.exact;
    if (sub_tracking_writer_needs_thread_ids(writer, thread->thread_id, thread->recurses))
        sub_tracking_writer_decide_thread_ids(writer);
    if (is_start && writer->methods->prepare)
        TRY(writer->methods->prepare(writer, &thread->cursor, thread->thread_id, error));
    sub_tracking_mark_clear_figures(row);
    if (is_exact && is_start)
        block_figures_read(&blocks->figures, &thread->figures, position, &row->exact);
    thread->marked_ns = wall_clock_ns();
    if (is_exact && !is_start)
        block_figures_read(&blocks->figures, &thread->figures, position, &row->exact);
    blocks_place_row(blocks, thread, position, thread->marked_ns, row);
    return writer->methods->add(writer, &thread->cursor, name, row, error);
}

/* Writes a mark after losses, so that a call is in the file completely or not at all. */
static __attribute__((noinline)) int mark_after_losses(struct gput_blocks *blocks,
    struct block_writer_thread *thread, const struct block_name *name,
    enum sub_tracking_position position, enum pairing pairing)
{
    struct gput_error reason;
    struct block_losses *losses = &thread->losses;
    if (position == SUB_TRACKING_STOP && pairing != BY_CALL &&
        block_losses_remove_start(losses, name->number, pairing == UNKNOWN_CALL)) {
        error_set(&reason, GPUT_ERROR_IO, "The start of this call could not be kept.");
        return blocks_mark_lost(blocks, &reason);
    }
    blocks_write_waiting_stops(blocks, thread);
    int code = write_mark(blocks, thread, name, position, &reason);
    if (code != GPUT_OK)
        return mark_failed(blocks, thread, name, position, &reason);
    if (position == SUB_TRACKING_START && pairing == LIKE_BRACKETS)
        block_losses_count_start(losses, name->number);
    return GPUT_OK;
}

/* Writes a mark where a plain mark is not possible. */
static __attribute__((noinline)) int mark_by_writer(struct gput_blocks *blocks,
    struct block_writer_thread *thread, const struct block_name *name,
    enum sub_tracking_position position, enum pairing pairing)
{
    struct gput_error reason;
    if (block_losses_any(&thread->losses))
        return mark_after_losses(blocks, thread, name, position, pairing);
    int code = write_mark(blocks, thread, name, position, &reason);
    if (code != GPUT_OK)
        return mark_failed(blocks, thread, name, position, &reason);
    thread->plain_log = blocks->writer->plain_log;
    return GPUT_OK;
}

/* Counts a plain mark as lost because the log was truncated. */
static __attribute__((noinline)) int mark_cut(struct gput_blocks *blocks,
    struct block_writer_thread *thread, const struct block_name *name,
    enum sub_tracking_position position)
{
    struct gput_error reason;
    block_log_cut_error(&reason);
    sub_tracking_mark_clear_figures(&thread->row);
    blocks_place_row(blocks, thread, position, thread->marked_ns, &thread->row);
    return mark_failed(blocks, thread, name, position, &reason);
}

/* Stores a plain mark: a word of a block log without figures. It is inline, since calling the
 * writer's method would cost about as much as the mark itself. Returns false if the file was
 * truncated, and the mark may be lost. */
static inline bool store_plain_mark(
    struct block_writer_thread *thread, uint32_t name, unsigned position)
{
    int64_t now = wall_clock_ns();
    if (thread->started_ns != 0)
        block_log_put_start_time(thread->plain_log, &thread->cursor, thread->started_ns);
    thread->marked_ns = now;
    block_log_put_plain(&thread->cursor, now, block_log_tag(name, position));
    return !block_log_is_cut(thread->plain_log);
}

/* Writes a mark in the fastest possible way. */
static inline int mark(struct gput_blocks *blocks, struct block_thread *thread,
    const struct block_name *name, enum sub_tracking_position position, enum pairing pairing)
{
    struct block_writer_thread *at = &thread->writer;
    bool is_plain = at->plain_log && block_log_has_plain_space(&at->cursor);
    if (__builtin_expect(!is_plain, 0))
        return mark_by_writer(blocks, at, name, position, pairing);
    if (__builtin_expect(store_plain_mark(at, name->number, position), 1))
        return GPUT_OK;
    return mark_cut(blocks, at, name, position);
}

/* Whether the file has no thread ids yet. The second of two nested calls of a block adds them. */
static inline bool lacks_thread_ids(const struct gput_blocks *blocks)
{
    return !atomic_load_explicit(&blocks->writer->thread_ids_decided, memory_order_relaxed);
}

int gput_blocks_start(struct gput_blocks *blocks, const char *given)
{
    struct block_thread *thread = blocks_this_thread(blocks);
    if (!thread)
        return blocks_no_thread(blocks, true);
    struct block_name name = {0};
    struct gput_error reason;
    int code = blocks->writer ? blocks_name_of(blocks, thread, given, &name, &reason)
                              : blocks_no_writer(blocks);
    if (blocks->writer && code == GPUT_OK)
        thread->writer.recurses = lacks_thread_ids(blocks) && block_thread_has_open(thread, &name);
    bool is_pushed = block_thread_push(thread, &name);
    if (!blocks->writer)
        return code;
    if (code == GPUT_OK && !is_pushed)
        code = error_memory(&reason);
    if (code != GPUT_OK) {
        blocks_call_lost(blocks);
        return blocks_mark_lost(blocks, &reason);
    }
    code = mark(blocks, thread, &name, SUB_TRACKING_START, LIKE_BRACKETS);
    if (code == GPUT_OK)
        thread->open[thread->depth - 1].started_ns = thread->writer.marked_ns;
    return code;
}

int gput_blocks_stop(struct gput_blocks *blocks)
{
    struct block_thread *thread = blocks_this_thread(blocks);
    const struct block_open *open = NULL;
    switch (thread ? block_thread_pop(thread, &open) : BLOCK_NOTHING_OPEN) {
    case BLOCK_POPPED:
        thread->writer.figures.call_started_ns = open->started_ns;
        return mark(blocks, thread, &open->name, SUB_TRACKING_STOP, LIKE_BRACKETS);
    case BLOCK_POPPED_UNMARKED:
        return GPUT_OK;
    default:
        return GPUT_ERROR_STATE;
    }
}

/* Writes a single start or stop. */
static int single_mark(struct gput_blocks *blocks, struct block_thread *thread, const char *given,
    enum gput_block_position position, enum pairing pairing)
{
    if (!blocks->writer)
        return blocks_no_writer(blocks);
    bool is_start = position == GPUT_BLOCK_START;
    struct block_name name = {.number = SUB_TRACKING_NO_NAME};
    struct gput_error reason;
    if (blocks_name_of(blocks, thread, given, &name, &reason) != GPUT_OK) {
        if (is_start && name.number != SUB_TRACKING_NO_NAME)
            block_losses_add_start(&thread->writer.losses, name.number);
        if (is_start)
            blocks_call_lost(blocks);
        return blocks_mark_lost(blocks, &reason);
    }
    if (lacks_thread_ids(blocks)) {
        thread->writer.recurses = is_start && block_thread_has_open(thread, &name);
        if (!is_start)
            block_thread_note_stop(thread, &name);
        else if (!thread->writer.recurses)
            block_thread_record_start(thread, &name);
    }
    return mark(blocks, thread, &name, (enum sub_tracking_position)position, pairing);
}

int gput_blocks_mark(
    struct gput_blocks *blocks, const char *given, enum gput_block_position position)
{
    struct block_thread *thread = blocks_this_thread(blocks);
    if (!thread)
        return blocks_no_thread(blocks, position == GPUT_BLOCK_START);
    if (position != GPUT_BLOCK_START && position != GPUT_BLOCK_STOP)
        return GPUT_ERROR_INVALID;
    thread->writer.figures.call_started_ns = 0;
    return single_mark(blocks, thread, given, position, LIKE_BRACKETS);
}

int gput_blocks_start_call(
    struct gput_blocks *blocks, const char *given, struct gput_block_call *call)
{
    *call = (struct gput_block_call){0};
    struct block_thread *thread = blocks_this_thread(blocks);
    if (!thread)
        return blocks_no_thread(blocks, true);
    int code = single_mark(blocks, thread, given, GPUT_BLOCK_START, BY_CALL);
    if (code == GPUT_OK)
        *call = (struct gput_block_call){thread->writer.marked_ns, blocks->generation + 1};
    return code;
}

/* If the start is the thread's previous mark, the stop can be paired without its time. */
int gput_blocks_stop_call(
    struct gput_blocks *blocks, const char *given, const struct gput_block_call *call)
{
    struct block_thread *thread = blocks_this_thread(blocks);
    if (!thread)
        return blocks_no_thread(blocks, false);
    if (call->process != 0 && call->process != blocks->generation + 1)
        return GPUT_OK; /* started by the parent process */
    if (call->started_ns != thread->writer.marked_ns)
        thread->writer.started_ns = call->started_ns;
    thread->writer.figures.call_started_ns = call->started_ns;
    int code = single_mark(
        blocks, thread, given, GPUT_BLOCK_STOP, call->process == 0 ? UNKNOWN_CALL : BY_CALL);
    thread->writer.started_ns = 0;
    return code;
}

/* ---- Opening and closing ---- */

/* Frees what a log of blocks holds, but for its writer. */
static void free_blocks(struct gput_blocks *blocks)
{
    block_owner_close(&blocks->owner);
    sub_tracking_names_destroy(blocks->names);
    free(blocks->procfs_root);
    free(blocks->sysfs_root);
    free(blocks->path);
    free(blocks->absolute);
    free(blocks);
}

/* Replaces a text of the options by a copy of our own. */
static bool copy_text(char **copy, const char **text)
{
    *copy = *text ? strdup(*text) : NULL;
    bool is_copied = *copy || !*text;
    *text = *copy;
    return is_copied;
}

/* Copies the caller's arguments, which may not live as long as the log. */
static int copy_setup(struct gput_blocks *blocks, const char *path,
    const struct gput_blocks_options *options, struct gput_error *error)
{
    struct gput_blocks_options *kept = &blocks->options;
    *kept = gput_blocks_options_default();
    TRY(sized_read(kept, sizeof *kept, options, error));
    if (kept->limit_bytes == 0)
        kept->limit_bytes = gput_blocks_options_default().limit_bytes;
    if (!copy_text(&blocks->procfs_root, &kept->procfs_root) ||
        !copy_text(&blocks->sysfs_root, &kept->sysfs_root))
        return error_memory(error);
    blocks->path = strdup(path);
    blocks->absolute = block_path_absolute(path);
    blocks->has_process_id = block_path_has_process_id(path);
    if (!blocks->path || !blocks->absolute || !block_owner_open(&blocks->owner))
        return error_memory(error);
    return GPUT_OK;
}

int gput_blocks_open(const char *path, const struct gput_blocks_options *options,
    struct gput_blocks **blocks, struct gput_error *error)
{
    *blocks = NULL;
    struct gput_blocks *created = calloc(1, sizeof *created);
    if (!created)
        return error_memory(error);
    int code = copy_setup(created, path, options, error);
    if (code == GPUT_OK)
        code = blocks_begin_process(created, created->options.join ? JOINS : BEGINS, error);
    if (code == GPUT_OK && pthread_key_create(&created->key, blocks_leave_thread) != 0) {
        sub_tracking_writer_close(created->writer, NULL);
        block_figures_close(&created->figures);
        code = error_memory(error);
    }
    if (code != GPUT_OK) {
        free_blocks(created);
        return code;
    }
    block_owner_set(&created->owner);
    *blocks = created;
    return GPUT_OK;
}

int gput_blocks_close(struct gput_blocks *blocks, struct gput_error *error)
{
    if (!blocks)
        return GPUT_OK;
    struct block_thread *mine = pthread_getspecific(blocks->key);
    bool own = block_owner_is_this(&blocks->owner);
    pthread_key_delete(blocks->key);
    if (mine && (!own || mine->generation != blocks->generation)) {
        blocks_release_thread(NULL, &mine->writer);
        block_thread_destroy(mine);
    }
    while (own && blocks->threads) {
        struct block_thread *thread = blocks->threads;
        blocks->threads = thread->next;
        if (blocks->writer)
            blocks_write_last_stops(blocks, &thread->writer);
        blocks_release_thread(blocks, &thread->writer);
        block_thread_destroy(thread);
    }
    int code = GPUT_OK;
    if (blocks->writer && own)
        code = sub_tracking_writer_close(blocks->writer, error);
    else if (blocks->writer)
        sub_tracking_writer_forget(blocks->writer);
    block_figures_close(&blocks->figures);
    pthread_mutex_destroy(&blocks->lock);
    free_blocks(blocks);
    return code;
}

void gput_blocks_share(struct gput_blocks *blocks)
{
    blocks_make_own(blocks);
    if (blocks->writer && blocks->writer->methods->share)
        blocks->writer->methods->share(blocks->writer);
}

void gput_blocks_read_status(struct gput_blocks *blocks, struct gput_blocks_status *status)
{
    struct gput_blocks_status now = gput_blocks_status_default();
    blocks_make_own(blocks);
    struct block_thread *thread = pthread_getspecific(blocks->key);
    if (thread && blocks->writer && thread->generation == blocks->generation)
        blocks_write_waiting_stops(blocks, &thread->writer);
    pthread_mutex_lock(&blocks->lock);
    now.marks_lost = atomic_load(&blocks->marks_lost);
    now.lost = blocks->lost;
    now.is_renamed = blocks->is_renamed;
    snprintf(now.path, sizeof now.path, "%s", blocks->writer ? blocks->writer->path : "");
    pthread_mutex_unlock(&blocks->lock);
    sized_write(status, &now, sizeof now);
}
