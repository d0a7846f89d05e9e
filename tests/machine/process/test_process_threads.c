#include "machine/process/fake_procfs.h"
#include "machine/process/process_threads.h"

#include <stdlib.h>

#define PID 10

/* A process of a fake procfs, polled once. */
struct stage {
    struct fake_procfs fake;
    struct process_view view;
    struct process process;
    struct run_queue_times times;
    int64_t now_ns;
};

static void put_thread(struct stage *stage, int id, const char *schedstat)
{
    fake_write(&stage->fake, schedstat, "%d/task/%d/schedstat", PID, id);
}

static void begin(struct stage *stage, unsigned threads)
{
    *stage = (struct stage){.process = {.pid = PID}};
    fake_procfs_init(&stage->fake);
    fake_put(&stage->fake,
        (struct fake_process){
            .pid = PID, .parent = 1, .threads = threads, .utime = 5, .resident_pages = 9});
    stage->view = process_view_of(stage->fake.root);
    stage->view.free_files = 100;
    assert_int_equal(process_begin_polls(&stage->process, NULL, &stage->view), GPUT_OK);
}

static void read_again(struct stage *stage)
{
    stage->process.polled->has_run = true;
    process_threads_read(&stage->process, &stage->view, false, ++stage->now_ns, &stage->times);
}

static void add_record(struct stage *stage, int id, uint64_t run_ns, uint64_t wait_ns)
{
    const struct taskstats_exit exit = {.thread = id,
        .process = PID,
        .cpu_ns = run_ns,
        .delays = {.has_cpu = true, .cpu_ns = wait_ns}};
    process_threads_add_record(&stage->process, &exit, &stage->times);
}

static void assert_times(const struct stage *stage, int64_t run_ns, int64_t wait_ns)
{
    assert_int_equal(stage->times.run_ns, run_ns);
    assert_int_equal(stage->times.wait_ns, wait_ns);
}

static void finish(struct stage *stage)
{
    process_end_polls(&stage->process, &stage->view);
    assert_int_equal(stage->view.free_files, 100);
    process_free_threads(&stage->process);
    free(stage->process.baseline);
    fake_procfs_finish(&stage->fake);
}

TEST(the_figure_of_one_thread_follows_its_file)
{
    struct stage stage;
    begin(&stage, 1);
    put_thread(&stage, PID, "100 30 2\n");
    read_again(&stage);
    assert_times(&stage, 100, 30);
    put_thread(&stage, PID, "150 90 3\n");
    read_again(&stage);
    assert_times(&stage, 150, 90);
    assert_int_equal(stage.times.threads, 1);
    assert_int_equal(stage.times.uncertain, 0);
    finish(&stage);
}

TEST(one_that_has_not_run_is_not_read)
{
    struct stage stage;
    begin(&stage, 1);
    put_thread(&stage, PID, "100 30 2\n");
    read_again(&stage);
    put_thread(&stage, PID, "150 90 3\n");
    stage.process.polled->has_run = false;
    process_threads_read(&stage.process, &stage.view, false, ++stage.now_ns, &stage.times);
    assert_times(&stage, 100, 30);
    finish(&stage);
}

TEST(what_was_before_tracking_does_not_count)
{
    struct stage stage;
    begin(&stage, 1);
    assert_int_equal(process_set_baseline(&stage.process), GPUT_OK);
    put_thread(&stage, PID, "1000 300 20\n");
    read_again(&stage);
    assert_times(&stage, 0, 0);
    put_thread(&stage, PID, "1100 340 21\n");
    read_again(&stage);
    assert_times(&stage, 100, 40);
    add_record(&stage, PID, 1100, 350);
    assert_times(&stage, 100, 50);
    finish(&stage);
}

TEST(a_sleep_that_the_kernel_counts_as_waiting_is_dropped)
{
    static const struct {
        int64_t slept_ns, wait_ns, expected_ns;
    } cases[] = {{1400000000, 1500000000, 100000000}, {700000000, 800000000, 800000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct stage stage;
        char text[64];
        begin(&stage, 1);
        put_thread(&stage, PID, "1000 30 2\n");
        read_again(&stage);
        stage.process.threads->threads[0].samples =
            (struct wall_samples){.ns[WALL_TIMER] = cases[i].slept_ns,
                .ns[WALL_COMPUTING] = 1500000000 - cases[i].slept_ns,
                .count = (uint64_t)cases[i].slept_ns / 20000000};
        snprintf(text, sizeof text, "1000 %lld 3\n", (long long)cases[i].wait_ns);
        put_thread(&stage, PID, text);
        stage.now_ns = 1500000000 - 1001;
        read_again(&stage);
        assert_in_range(stage.times.wait_ns, cases[i].expected_ns - 2000, cases[i].expected_ns);
        int64_t before_ns = stage.times.wait_ns;
        const struct taskstats_exit exit = {.thread = PID,
            .process = PID,
            .cpu_ns = 1000,
            .elapsed_ns = 1500000000,
            .delays = {.has_cpu = true, .cpu_ns = (uint64_t)cases[i].wait_ns + 5}};
        process_threads_add_record(&stage.process, &exit, &stage.times);
        assert_times(&stage, 1000, before_ns + 5);
        finish(&stage);
    }
}

/* It gives up its memory: that is no part of what it slept before. The record lacks up to 10 ms. */
TEST(what_a_thread_runs_after_its_record_is_of_its_life)
{
    struct stage stage;
    begin(&stage, 1);
    put_thread(&stage, PID, "100 30 2\n");
    read_again(&stage);
    const struct taskstats_exit exit = {.thread = PID,
        .process = PID,
        .cpu_ns = 120,
        .elapsed_ns = 100000000,
        .delays = {.has_cpu = true, .cpu_ns = 40}};
    process_threads_add_record(&stage.process, &exit, &stage.times);
    put_thread(&stage, PID, "30000120 340 4\n");
    read_again(&stage);
    assert_times(&stage, 30000120, 340);
    const struct thread *thread = &stage.process.threads->threads[0];
    struct wall_account account = process_thread_account(&stage.process, thread);
    assert_int_equal(account.wall_ns, 120000300);
    assert_int_equal(account.ns[WALL_UNKNOWN], 89999840);
    finish(&stage);
}

TEST(threads_that_end_keep_theirs)
{
    struct stage stage;
    begin(&stage, 2);
    put_thread(&stage, PID, "100 1 2\n");
    put_thread(&stage, 11, "40 7 2\n");
    read_again(&stage);
    assert_times(&stage, 140, 8);
    fake_remove(&stage.fake, "10/task/11");
    put_thread(&stage, 12, "5 5 1\n");
    read_again(&stage);
    assert_times(&stage, 145, 13);
    assert_int_equal(stage.process.threads->count, 2);
    finish(&stage);
}

/* A record is of the whole life of a thread: what readings gave is in it. */
TEST(a_record_replaces_what_was_read)
{
    struct stage stage;
    begin(&stage, 2);
    stage.view.has_exit_records = true;
    put_thread(&stage, PID, "100 1 2\n");
    put_thread(&stage, 11, "40 7 2\n");
    read_again(&stage);
    add_record(&stage, 11, 50, 20);
    assert_times(&stage, 150, 21);
    fake_remove(&stage.fake, "10/task/11");
    read_again(&stage);
    assert_times(&stage, 150, 21);
    assert_int_equal(stage.process.threads->count, 1);
    /* No reading saw it. */
    add_record(&stage, 13, 3, 4);
    assert_times(&stage, 153, 25);
    assert_int_equal(stage.times.uncertain, 0);
    finish(&stage);
}

TEST(a_record_that_comes_late_is_awaited)
{
    struct stage stage;
    begin(&stage, 2);
    stage.view.has_exit_records = true;
    put_thread(&stage, PID, "100 1 2\n");
    put_thread(&stage, 11, "40 7 2\n");
    read_again(&stage);
    fake_remove(&stage.fake, "10/task/11");
    read_again(&stage);
    add_record(&stage, 11, 50, 20);
    assert_times(&stage, 150, 21);
    finish(&stage);
}

TEST(a_reused_id_is_another_thread)
{
    struct stage stage;
    begin(&stage, 2);
    put_thread(&stage, PID, "100 1 2\n");
    put_thread(&stage, 11, "40 7 2\n");
    read_again(&stage);
    put_thread(&stage, 11, "10 3 1\n");
    read_again(&stage);
    assert_times(&stage, 150, 11);
    assert_int_equal(stage.times.uncertain, 0);
    finish(&stage);
}

/* The record is made before a thread gives its memory up, and is read again as a zombie. */
TEST(what_it_waits_while_it_ends_is_beyond_its_record)
{
    struct stage stage;
    begin(&stage, 1);
    stage.view.has_exit_records = true;
    put_thread(&stage, PID, "100 30 2\n");
    read_again(&stage);
    const struct taskstats_exit exit = {.thread = PID,
        .process = PID,
        .cpu_ns = 100,
        .elapsed_ns = 1000,
        .delays = {.has_cpu = true, .cpu_ns = 200}};
    process_threads_add_record(&stage.process, &exit, &stage.times);
    const struct thread *thread = &stage.process.threads->threads[0];
    assert_int_equal(process_thread_account(&stage.process, thread).wall_ns, 1000);
    put_thread(&stage, PID, "100 700 3\n");
    read_again(&stage);
    thread = &stage.process.threads->threads[0];
    struct wall_account account = process_thread_account(&stage.process, thread);
    assert_int_equal(account.wall_ns, 1500);
    assert_int_equal(account.ns[WALL_UNKNOWN], 700);
    finish(&stage);
}

/* It had another id before, under which it was counted. */
TEST(a_first_thread_that_is_another_one_makes_it_uncertain)
{
    struct stage stage;
    begin(&stage, 1);
    put_thread(&stage, PID, "100 9 2\n");
    read_again(&stage);
    put_thread(&stage, PID, "60 2 1\n");
    read_again(&stage);
    assert_times(&stage, 100, 9);
    assert_int_equal(stage.times.uncertain, 1);
    put_thread(&stage, PID, "65 4 1\n");
    read_again(&stage);
    assert_times(&stage, 105, 11);
    finish(&stage);
}

TEST(a_kernel_that_counts_nothing_is_noticed)
{
    struct stage stage;
    begin(&stage, 1);
    put_thread(&stage, PID, "0 0 0\n");
    read_again(&stage);
    assert_int_equal(stage.times.threads, 0);
    assert_int_equal(stage.times.uncounted, 1);
    const struct taskstats_exit exit = {.thread = PID, .process = PID, .cpu_ns = 5};
    process_threads_add_record(&stage.process, &exit, &stage.times);
    assert_int_equal(stage.times.threads, 0);
    assert_int_equal(stage.times.uncounted, 2);
    finish(&stage);
}

TEST(without_descriptors_files_are_opened_each_time)
{
    struct stage stage;
    begin(&stage, 1);
    unsigned left = stage.view.free_files;
    stage.view.free_files = 0;
    put_thread(&stage, PID, "100 30 2\n");
    read_again(&stage);
    put_thread(&stage, PID, "110 31 2\n");
    read_again(&stage);
    assert_times(&stage, 110, 31);
    stage.view.free_files = left;
    finish(&stage);
}

TEST(between_ticks_several_threads_wait_for_the_next_one)
{
    struct stage stage;
    begin(&stage, 2);
    put_thread(&stage, PID, "100 1 2\n");
    put_thread(&stage, 11, "40 7 2\n");
    process_threads_read(&stage.process, &stage.view, true, ++stage.now_ns, &stage.times);
    assert_times(&stage, 0, 0);
    stage.process.polled->has_run = false;
    process_threads_read(&stage.process, &stage.view, false, ++stage.now_ns, &stage.times);
    assert_times(&stage, 140, 8);
    finish(&stage);
}

RUN_TESTS(NULL, NULL)
