#include "blocks/late_calls.h"

#include "base/wall_clock.h"
#include "blocks/blocks_state.h"

void late_call_start(struct gput_blocks *blocks, struct gput_block_call *call)
{
    blocks_make_own(blocks);
    *call = (struct gput_block_call){wall_clock_ns(), blocks->generation + 1};
}

int64_t late_call_elapsed_ns(const struct gput_block_call *call)
{
    return wall_clock_ns() - call->started_ns;
}

static int keep_both(struct gput_blocks *blocks, struct block_thread *thread,
    const struct block_name *name, int64_t started_ns, struct gput_error *error)
{
    struct block_sink_thread *at = &thread->sink;
    struct sub_tracking_mark start = {.position = SUB_TRACKING_START, .timestamp_ns = started_ns};
    struct sub_tracking_mark stop = {
        .position = SUB_TRACKING_STOP, .timestamp_ns = wall_clock_ns(), .started_ns = started_ns};
    TRY(blocks->sink->methods->keep(blocks->sink, at, name, &start, error));
    return blocks->sink->methods->keep(blocks->sink, at, name, &stop, error);
}

int late_call_stop(
    struct gput_blocks *blocks, const char *given, const struct gput_block_call *call)
{
    struct block_thread *thread = blocks_this_thread(blocks);
    if (!thread)
        return blocks_no_thread(blocks, true);
    if (call->process != blocks->generation + 1)
        return GPUT_OK; /* started by the parent process */
    if (!blocks->sink)
        return blocks_no_sink(blocks);
    struct block_name name;
    struct gput_error reason;
    int code = blocks_name_of(blocks, thread, given, &name, &reason);
    if (code == GPUT_OK)
        code = keep_both(blocks, thread, &name, call->started_ns, &reason);
    if (code == GPUT_OK)
        return GPUT_OK;
    blocks_call_lost(blocks);
    return blocks_mark_lost(blocks, &reason);
}
