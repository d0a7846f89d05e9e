#include "analysis/blocks/late_calls.h"

#include "analysis/blocks/blocks_state.h"
#include "base/wall_clock.h"

void late_call_start(struct gput_blocks *blocks, struct gput_block_call *call)
{
    blocks_make_own(blocks);
    *call = (struct gput_block_call){wall_clock_ns(), blocks->generation + 1};
}

int64_t late_call_elapsed_ns(const struct gput_block_call *call)
{
    return wall_clock_ns() - call->started_ns;
}

void late_thread_note(struct gput_blocks *blocks, struct late_thread *late)
{
    late->thread = blocks_this_thread(blocks);
    if (late->thread && blocks->writer && blocks->options.exact)
        block_figures_read(
            &blocks->figures, &late->thread->writer.figures, SUB_TRACKING_STOP, &late->exact);
}

/* Reads the current figures of the process; those of the thread are from when it was noted. */
static void read_exact(struct gput_blocks *blocks, const struct late_thread *late,
    int64_t started_ns, struct sub_tracking_exact *exact)
{
    struct block_thread *mine = blocks_this_thread(blocks);
    if (!mine || !blocks->options.exact)
        return;
    mine->writer.figures.call_started_ns = started_ns;
    block_figures_read(&blocks->figures, &mine->writer.figures, SUB_TRACKING_STOP, exact);
    block_figures_take_thread(exact, &late->exact);
}

/* Writes the stop of a call with the current time, and with `with_start` its start before it. */
static int keep(struct gput_blocks *blocks, const struct late_thread *late,
    const struct block_name *name, int64_t started_ns, bool with_start, struct gput_error *error)
{
    struct block_writer_thread *at = &late->thread->writer;
    const struct sub_tracking_writer_methods *methods = blocks->writer->methods;
    struct sub_tracking_mark start = {0}, stop = {.exact = late->exact};
    blocks_place_row(blocks, at, SUB_TRACKING_START, started_ns, &start);
    blocks_place_row(blocks, at, SUB_TRACKING_STOP, wall_clock_ns(), &stop);
    stop.started_ns = started_ns;
    read_exact(blocks, late, started_ns, &stop.exact);
    if (with_start)
        TRY(methods->add(blocks->writer, &at->cursor, name, &start, error));
    return methods->add(blocks->writer, &at->cursor, name, &stop, error);
}

int late_call_stop_of(struct gput_blocks *blocks, const struct late_thread *late, const char *given,
    const struct gput_block_call *call, bool with_start)
{
    blocks_make_own(blocks);
    if (call->process != blocks->generation + 1)
        return GPUT_OK; /* started by the parent process */
    if (!late->thread)
        return blocks_no_thread(blocks, with_start);
    if (!blocks->writer)
        return blocks_no_writer(blocks);
    struct block_name name;
    struct gput_error reason;
    int code = blocks_name_of(blocks, late->thread, given, &name, &reason);
    if (code == GPUT_OK)
        code = keep(blocks, late, &name, call->started_ns, with_start, &reason);
    if (code == GPUT_OK)
        return GPUT_OK;
    blocks_call_lost(blocks);
    return blocks_mark_lost(blocks, &reason);
}

int late_call_stop(struct gput_blocks *blocks, const char *name, const struct gput_block_call *call)
{
    struct late_thread mine = {.thread = blocks_this_thread(blocks)};
    return late_call_stop_of(blocks, &mine, name, call, true);
}
