/* The writer of a sink, on a disk that the test holds up. */
#include "session/sinks/sink_writer.h"

#include "session/sinks/sink.h"
#include "testing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 16

/* What is written to; shared with the writer's thread. */
struct disk {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool hangs;
    bool is_in_use; /* something is being written */
    int written[64];
    size_t count;
    bool has_ended, is_abandoned;
    pthread_t thread;
};

static void begin_use(struct disk *disk)
{
    pthread_mutex_lock(&disk->lock);
    disk->thread = pthread_self();
    disk->is_in_use = true;
    pthread_cond_broadcast(&disk->changed);
    while (disk->hangs)
        pthread_cond_wait(&disk->changed, &disk->lock);
    disk->is_in_use = false;
}

static void end_use(struct disk *disk)
{
    pthread_cond_broadcast(&disk->changed);
    pthread_mutex_unlock(&disk->lock);
}

static void write_item(struct sink_writer *writer, void *output, void *item)
{
    struct disk *disk = output;
    int number;
    memcpy(&number, item, sizeof number);
    begin_use(disk);
    disk->written[disk->count++] = number;
    if (number < 0)
        sink_writer_warn(writer, "%d cannot be written", number);
    sink_writer_set_rows_lost(writer, number < 0);
    end_use(disk);
}

static void end_disk(struct sink_writer *writer, void *output, const struct sink_end *end)
{
    struct disk *disk = output;
    (void)writer;
    begin_use(disk);
    disk->has_ended = true;
    disk->is_abandoned = end->is_abandoned;
    end_use(disk);
}

static const struct sink_writer_job job = {
    .item_size = sizeof(int),
    .max_items = MAX_ITEMS,
    .timeout_seconds = SINK_TIMEOUT_SECONDS,
    .write = write_item,
    .end = end_disk,
};
/* Waits for no disk. */
static const struct sink_writer_job hasty_job = {
    .item_size = sizeof(int),
    .max_items = MAX_ITEMS,
    .timeout_seconds = 0,
    .write = write_item,
    .end = end_disk,
};

static struct sink_writer *create(const struct sink_writer_job *of, struct disk *disk)
{
    struct sink_writer *writer = sink_writer_create(of);
    assert_non_null(writer);
    *disk = (struct disk){0};
    pthread_mutex_init(&disk->lock, NULL);
    pthread_cond_init(&disk->changed, NULL);
    sink_writer_set_output(writer, disk);
    return writer;
}

static void set_hanging(struct disk *disk, bool hangs)
{
    pthread_mutex_lock(&disk->lock);
    disk->hangs = hangs;
    pthread_cond_broadcast(&disk->changed);
    pthread_mutex_unlock(&disk->lock);
}

static void wait_until_in_use(struct disk *disk)
{
    pthread_mutex_lock(&disk->lock);
    while (!disk->is_in_use)
        pthread_cond_wait(&disk->changed, &disk->lock);
    pthread_mutex_unlock(&disk->lock);
}

static bool end(struct sink_writer *writer)
{
    const struct sink_end how = {.is_abandoned = true};
    sink_writer_end(writer, &how);
    return sink_writer_await_end(writer);
}

static void put_many(struct sink_writer *writer, int first, int count)
{
    for (int i = first; i < first + count; i++)
        assert_true(sink_writer_put(writer, &i));
}

TEST(writes_items_in_order_and_completes_them)
{
    struct disk disk;
    struct sink_writer *writer = create(&job, &disk);
    sink_writer_start(writer, false);
    assert_true(sink_writer_has_thread(writer));
    put_many(writer, 0, MAX_ITEMS);
    assert_true(end(writer));
    assert_int_equal(disk.count, MAX_ITEMS);
    for (int i = 0; i < MAX_ITEMS; i++)
        assert_int_equal(disk.written[i], i);
    assert_true(disk.has_ended && disk.is_abandoned);
    assert_false(pthread_equal(disk.thread, pthread_self()));
    assert_true(sink_writer_cpu_ns(writer) > 0);
    sink_writer_destroy(writer);
}

static void flush_disk(struct sink_writer *writer, void *output)
{
    struct disk *disk = output;
    (void)writer;
    begin_use(disk);
    disk->written[disk->count++] = -1;
    end_use(disk);
}

TEST(what_waited_is_flushed_once)
{
    struct disk disk;
    struct sink_writer_job flushing = job;
    flushing.flush = flush_disk;
    struct sink_writer *writer = create(&flushing, &disk);
    int number = 7;
    assert_true(sink_writer_put(writer, &number)); /* there is no thread yet */
    assert_true(disk.count == 2 && disk.written[1] == -1);
    set_hanging(&disk, true);
    sink_writer_start(writer, false);
    put_many(writer, 0, 1);
    wait_until_in_use(&disk);
    put_many(writer, 1, MAX_ITEMS - 1);
    set_hanging(&disk, false);
    assert_true(end(writer));
    assert_int_equal(disk.count, 2 + 1 + 1 + MAX_ITEMS - 1 + 1);
    assert_true(disk.written[3] == -1 && disk.written[disk.count - 1] == -1);
    sink_writer_destroy(writer);
}

TEST(a_drain_waits_until_all_is_written)
{
    struct disk disk;
    struct sink_writer *writer = create(&job, &disk);
    sink_writer_start(writer, true);
    for (int round = 1; round <= 3; round++) {
        put_many(writer, 0, MAX_ITEMS);
        sink_writer_drain(writer);
        assert_int_equal(disk.count, round * MAX_ITEMS);
    }
    assert_true(sink_writer_counts(writer).tasks.minor_faults > 0);
    assert_true(end(writer));
    sink_writer_destroy(writer);
}

TEST(a_disk_that_hangs_delays_nothing_and_memory_is_bounded)
{
    struct disk disk;
    struct sink_writer *writer = create(&job, &disk);
    int one_more = MAX_ITEMS + 1;
    disk.hangs = true;
    sink_writer_start(writer, false);
    put_many(writer, 0, 1);
    wait_until_in_use(&disk);
    put_many(writer, 1, MAX_ITEMS);
    assert_false(sink_writer_put(writer, &one_more));
    set_hanging(&disk, false);
    sink_writer_drain(writer);
    assert_int_equal(disk.count, MAX_ITEMS + 1);
    assert_true(sink_writer_put(writer, &one_more));
    assert_true(end(writer));
    assert_int_equal(disk.written[MAX_ITEMS + 1], one_more);
    sink_writer_destroy(writer);
}

TEST(a_disk_that_hangs_to_the_end_is_left_alone)
{
    struct disk disk;
    struct sink_writer *writer = create(&hasty_job, &disk);
    disk.hangs = true;
    sink_writer_start(writer, false);
    put_many(writer, 0, 1);
    wait_until_in_use(&disk);
    put_many(writer, 1, 3);
    sink_writer_drain(writer);
    assert_false(end(writer));
    sink_writer_destroy(writer);
    /* It answers after all, and everything is written. */
    set_hanging(&disk, false);
    pthread_mutex_lock(&disk.lock);
    while (!disk.has_ended)
        pthread_cond_wait(&disk.changed, &disk.lock);
    pthread_mutex_unlock(&disk.lock);
    assert_int_equal(disk.count, 4);
}

TEST(warnings_and_lost_rows_are_passed_on)
{
    struct disk disk;
    struct sink_writer *writer = create(&job, &disk);
    sink_writer_start(writer, false);
    put_many(writer, -7, 7);
    sink_writer_drain(writer);
    assert_int_equal(sink_writer_rows_lost(writer), 1);
    const char *const expected[] = {"-7 cannot be written", "-6 cannot be written",
        "-5 cannot be written", "-4 cannot be written"}; /* a bounded number */
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        char *text = sink_writer_take_warning(writer);
        assert_string_equal(text, expected[i]);
        free(text);
    }
    assert_null(sink_writer_take_warning(writer));
    assert_true(end(writer));
    sink_writer_destroy(writer);
}

TEST(without_a_thread_items_are_written_at_once)
{
    struct disk disk;
    struct sink_writer *writer = create(&job, &disk);
    put_many(writer, 0, 2 * MAX_ITEMS);
    assert_int_equal(disk.count, 2 * MAX_ITEMS);
    assert_true(pthread_equal(disk.thread, pthread_self()));
    sink_writer_drain(writer);
    assert_true(end(writer));
    assert_true(disk.has_ended);
    sink_writer_destroy(writer);
}

TEST(without_output_there_is_nothing_to_complete)
{
    struct sink_writer *writer = sink_writer_create(&job);
    assert_true(end(writer));
    sink_writer_destroy(writer);
    sink_writer_destroy(NULL);
}

RUN_TESTS(NULL, NULL)
