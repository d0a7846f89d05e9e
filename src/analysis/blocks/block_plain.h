/*
 * Plain marks: words of a block log without figures. They are stored here, inline: reaching the
 * writer's own function by its table would cost about as much as the mark.
 */
#pragma once

#include "analysis/blocks/block_writer.h"
#include "base/wall_clock.h"

/* Whether the thread's next mark is a plain one for which there is space. */
static inline bool block_plain_is_ready(const struct block_writer_thread *thread)
{
    return thread->plain_log && block_log_has_plain_space(&thread->cursor);
}

/* Makes it. False: the file was truncated, and the mark may be lost. */
static inline bool block_plain_mark(
    struct block_writer_thread *thread, uint32_t name, unsigned position)
{
    int64_t now = wall_clock_ns();
    if (thread->started_ns != 0)
        block_log_put_start_time(thread->plain_log, &thread->cursor, thread->started_ns);
    thread->marked_ns = now;
    block_log_put_plain(&thread->cursor, now, block_log_tag(name, position));
    return !block_log_is_cut(thread->plain_log);
}
