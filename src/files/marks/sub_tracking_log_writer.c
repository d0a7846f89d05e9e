#include "files/marks/sub_tracking_writer.h"

struct log_writer {
    struct sub_tracking_writer base;
    struct block_log *log;
};

static struct block_log *log_of(struct sub_tracking_writer *base)
{
    return ((struct log_writer *)base)->log;
}

/* Creates the log in the new file. */
static int log_begin(struct sub_tracking_writer *base, int fd, struct gput_error *error)
{
    struct block_log **log = &((struct log_writer *)base)->log;
    const struct block_log_setup setup = {
        .columns = base->columns | (base->is_live ? SUB_TRACKING_COLUMN_THREAD_ID : 0u),
        .process_id = base->process_id,
        .limit_bytes = base->limit_bytes,
    };
    TRY(block_log_create(fd, base->path, &setup, log, error));
    base->plain_log = (*log)->figures_bytes == 0 ? *log : NULL;
    return GPUT_OK;
}

static int log_add_name(
    struct sub_tracking_writer *base, const struct block_name *name, struct gput_error *error)
{
    return block_log_add_name(log_of(base), name->text, name->length, error);
}

/* Gives a cursor space for a mark, in a new chunk where it has none. */
static int log_prepare(struct sub_tracking_writer *base, struct block_log_cursor *cursor,
    int64_t thread_id, struct gput_error *error)
{
    struct block_log *log = log_of(base);
    if (block_log_is_cut(log))
        return block_log_cut_error(error);
    if (block_log_has_space(log, cursor))
        return GPUT_OK;
    return block_log_extend(log, cursor, thread_id, error);
}

/* Adds a mark; process, thread and start are written where they are not those of the mark before.
 */
static int log_add(struct sub_tracking_writer *base, struct block_log_cursor *cursor,
    const struct block_name *name, const struct sub_tracking_mark *row, struct gput_error *error)
{
    struct block_log *log = log_of(base);
    TRY(log_prepare(base, cursor, row->thread_id, error));
    block_log_put_owner(cursor, row->process_id, row->thread_id);
    bool has_starts = base->is_live || base->columns & SUB_TRACKING_COLUMN_STARTED;
    if (has_starts && row->started_ns != SUB_TRACKING_UNKNOWN)
        block_log_put_start_time(log, cursor, row->started_ns);
    block_log_put(
        log, cursor, row->timestamp_ns, block_log_tag(name->number, row->position), &row->exact);
    return block_log_is_cut(log) ? block_log_cut_error(error) : GPUT_OK;
}

static void log_add_lost(struct sub_tracking_writer *base, const struct sub_tracking_lost *lost)
{
    block_log_add_lost(log_of(base), lost);
}

static void log_count_lost(struct sub_tracking_writer *base, int64_t marks)
{
    atomic_fetch_add(&log_of(base)->header->marks_lost, (uint64_t)marks);
}

static void log_leave(struct sub_tracking_writer *base, struct block_log_cursor *cursor)
{
    block_log_release(log_of(base), cursor);
}

static int log_finish(struct sub_tracking_writer *base, struct gput_error *error)
{
    block_log_free_cursor(&base->cursor);
    return block_log_close(log_of(base), error);
}

static void log_forget(struct sub_tracking_writer *base)
{
    block_log_abandon(log_of(base));
}

const struct sub_tracking_writer_methods sub_tracking_log_writer = {
    .format = SUB_TRACKING_LOG,
    .bytes = sizeof(struct log_writer),
    .begin = log_begin,
    .add_name = log_add_name,
    .prepare = log_prepare,
    .add = log_add,
    .add_lost = log_add_lost,
    .count_lost = log_count_lost,
    .leave = log_leave,
    .finish = log_finish,
    .forget = log_forget,
};
