#include "blocks/block_sink.h"

#include "base/file_limit.h"
#include "base/wall_clock.h"
#include "formats/marks/sub_tracking_columns.h"
#include "formats/marks/sub_tracking_lost.h"

void block_sink_count_lost_call(struct block_sink *sink, struct sub_tracking_lost *lost)
{
    int64_t now_ns = wall_clock_ns();
    struct sub_tracking_lost call = {
        .calls = 1, .process_id = sink->process_id, .since_ns = now_ns, .until_ns = now_ns};
    sub_tracking_lost_add(lost, &call);
}

void block_sink_fill_row(struct block_sink *sink, struct block_sink_thread *thread,
    enum sub_tracking_position position, struct sub_tracking_mark *row)
{
    sub_tracking_mark_clear_figures(row);
    row->process_id = sink->process_id;
    row->thread_id = thread->thread_id;
    row->position = (uint8_t)position;
    if (thread->started_ns != 0)
        row->started_ns = thread->started_ns;
    if (sink->exact && position == SUB_TRACKING_START)
        block_figures_read(&sink->figures, &thread->figures, position, &row->exact);
    row->timestamp_ns = wall_clock_ns();
    if (sink->exact && position == SUB_TRACKING_STOP)
        block_figures_read(&sink->figures, &thread->figures, position, &row->exact);
    row->timestamp = sub_tracking_seconds_of_ns(row->timestamp_ns);
    thread->marked_ns = row->timestamp_ns;
}

void block_sink_decide_thread_ids(
    struct block_sink *sink, pthread_mutex_t *lock, void (*add)(struct block_sink *sink))
{
    struct file_limit limit;
    pthread_mutex_lock(lock);
    file_limit_block_signal(&limit);
    if (!atomic_load(&sink->thread_ids_decided))
        add(sink);
    file_limit_unblock_signal(&limit);
    atomic_store_explicit(&sink->thread_ids_decided, true, memory_order_release);
    pthread_mutex_unlock(lock);
}
