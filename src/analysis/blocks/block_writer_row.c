#include "analysis/blocks/block_writer.h"

#include "base/file_limit.h"
#include "base/wall_clock.h"
#include "files/marks/sub_tracking_columns.h"
#include "files/marks/sub_tracking_lost.h"

void block_writer_count_lost_call(struct block_writer *writer, struct sub_tracking_lost *lost)
{
    int64_t now_ns = wall_clock_ns();
    struct sub_tracking_lost call = {
        .calls = 1, .process_id = writer->process_id, .since_ns = now_ns, .until_ns = now_ns};
    sub_tracking_lost_add(lost, &call);
}

void block_writer_fill_row(struct block_writer *writer, struct block_writer_thread *thread,
    enum sub_tracking_position position, struct sub_tracking_mark *row)
{
    sub_tracking_mark_clear_figures(row);
    row->process_id = writer->process_id;
    row->thread_id = thread->thread_id;
    row->position = (uint8_t)position;
    if (thread->started_ns != 0)
        row->started_ns = thread->started_ns;
    if (writer->exact && position == SUB_TRACKING_START)
        block_figures_read(&writer->figures, &thread->figures, position, &row->exact);
    row->timestamp_ns = wall_clock_ns();
    if (writer->exact && position == SUB_TRACKING_STOP)
        block_figures_read(&writer->figures, &thread->figures, position, &row->exact);
    row->timestamp = sub_tracking_seconds_of_ns(row->timestamp_ns);
    thread->marked_ns = row->timestamp_ns;
}

void block_writer_decide_thread_ids(
    struct block_writer *writer, pthread_mutex_t *lock, void (*add)(struct block_writer *writer))
{
    struct file_limit limit;
    pthread_mutex_lock(lock);
    file_limit_block_signal(&limit);
    if (!atomic_load(&writer->thread_ids_decided))
        add(writer);
    file_limit_unblock_signal(&limit);
    atomic_store_explicit(&writer->thread_ids_decided, true, memory_order_release);
    pthread_mutex_unlock(lock);
}
