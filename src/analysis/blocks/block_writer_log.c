#include "analysis/blocks/block_writer.h"
#include "base/wall_clock.h"

struct log_writer {
    struct block_writer base;
    struct block_log *log;
};

static int log_begin(struct block_writer *base, int fd, struct gput_error *error)
{
    atomic_store(&base->thread_ids_decided, true);
    struct block_log_setup setup = {
        .columns = base->columns | SUB_TRACKING_COLUMN_THREAD_ID,
        .process_id = base->process_id,
        .limit_bytes = base->limit_bytes,
    };
    struct block_log **log = &((struct log_writer *)base)->log;
    TRY(block_log_create(fd, base->path, &setup, log, error));
    base->plain_log = (*log)->figures_bytes == 0 ? *log : NULL;
    return GPUT_OK;
}

static int log_add_name(
    struct block_writer *base, const struct block_name *name, struct gput_error *error)
{
    return block_log_add_name(((struct log_writer *)base)->log, name->text, name->length, error);
}

static void log_count_lost(struct block_writer *base, int marks)
{
    struct block_log *log = ((struct log_writer *)base)->log;
    atomic_fetch_add(&log->header->marks_lost, (uint64_t)(int64_t)marks);
}

static void log_lose_call(struct block_writer *base)
{
    struct sub_tracking_lost lost = {0};
    block_writer_count_lost_call(base, &lost);
    block_log_add_lost(((struct log_writer *)base)->log, &lost);
}

/* Leaves a stop that could not be written in thread->row. */
static void leave_row(struct block_writer *base, struct block_writer_thread *thread, int64_t now_ns,
    const struct sub_tracking_exact *exact)
{
    thread->row = (struct sub_tracking_mark){
        .position = SUB_TRACKING_STOP,
        .timestamp_ns = now_ns,
        .started_ns = thread->started_ns,
        .exact = base->exact ? *exact : (struct sub_tracking_exact){0},
    };
}

/* Inline: it is part of each mark. */
static inline int ensure_space(
    struct block_log *log, struct block_writer_thread *thread, struct gput_error *error)
{
    if (block_log_is_cut(log))
        return block_log_cut_error(error);
    if (block_log_has_space(log, &thread->cursor))
        return GPUT_OK;
    return block_log_extend(log, &thread->cursor, thread->thread_id, error);
}

/* The clock is read as close to the block as possible: after reserving space at a start, before
 * that at a stop. */
static int log_mark(struct block_writer *base, struct block_writer_thread *thread,
    const struct block_name *name, enum sub_tracking_position position, struct gput_error *error)
{
    struct block_log *log = ((struct log_writer *)base)->log;
    struct block_log_cursor *cursor = &thread->cursor;
    struct sub_tracking_exact exact;
    int64_t now = 0;
    bool has_exact = log->figures_bytes > 0;
    if (position == SUB_TRACKING_STOP) {
        now = wall_clock_ns();
        if (has_exact)
            block_figures_read(&base->figures, &thread->figures, position, &exact);
    }
    int code = ensure_space(log, thread, error);
    if (code != GPUT_OK && position == SUB_TRACKING_STOP)
        leave_row(base, thread, now, &exact);
    if (code != GPUT_OK)
        return code;
    if (position == SUB_TRACKING_START) {
        if (has_exact)
            block_figures_read(&base->figures, &thread->figures, position, &exact);
        now = wall_clock_ns();
    }
    if (thread->started_ns != 0)
        block_log_put_start_time(log, cursor, thread->started_ns);
    thread->marked_ns = now;
    block_log_put(log, cursor, now, block_log_tag(name->number, position), &exact);
    if (!block_log_is_cut(log))
        return GPUT_OK;
    if (position == SUB_TRACKING_STOP)
        leave_row(base, thread, now, &exact);
    return block_log_cut_error(error);
}

static int log_keep(struct block_writer *base, struct block_writer_thread *thread,
    const struct block_name *name, const struct sub_tracking_mark *row, struct gput_error *error)
{
    struct block_log *log = ((struct log_writer *)base)->log;
    struct block_log_cursor *cursor = &thread->cursor;
    TRY(ensure_space(log, thread, error));
    if (row->started_ns != 0)
        block_log_put_start_time(log, cursor, row->started_ns);
    block_log_put(
        log, cursor, row->timestamp_ns, block_log_tag(name->number, row->position), &row->exact);
    return block_log_is_cut(log) ? block_log_cut_error(error) : GPUT_OK;
}

static void log_leave(struct block_writer *base, struct block_writer_thread *thread)
{
    block_log_release(((struct log_writer *)base)->log, &thread->cursor);
}

static int log_finish(struct block_writer *base, struct gput_error *error)
{
    return block_log_close(((struct log_writer *)base)->log, error);
}

static void log_forget(struct block_writer *base)
{
    block_log_abandon(((struct log_writer *)base)->log);
}

const struct block_writer_methods block_writer_log = {
    .bytes = sizeof(struct log_writer),
    .begin = log_begin,
    .add_name = log_add_name,
    .mark = log_mark,
    .keep = log_keep,
    .count_lost = log_count_lost,
    .lose_call = log_lose_call,
    .leave = log_leave,
    .finish = log_finish,
    .forget = log_forget,
};
