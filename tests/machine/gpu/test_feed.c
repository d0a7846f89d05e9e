/* One source, read in the background: what its reader sees of it. */
#include "base/clock.h"
#include "base/thread.h"
#include "machine/gpu/feed.h"
#include "testing.h"

#include <math.h>
#include <stdatomic.h>
#include <unistd.h>

/* Longer than any test may take. */
#define FOR_EVER (600 * NS_PER_SECOND)

static atomic_bool is_held, is_reading, is_closed;
static atomic_bool is_device_held, is_reading_device; /* as these, of the reading of a device */
static atomic_bool was_whole;                         /* the last list and the device before it */
static atomic_int ram_before, ram_after;              /* in use before and after a list */

static void *probe(const struct gpu_source_options *options, struct gpu_source_status *status)
{
    (void)status;
    return (void *)options;
}

static bool open_source(void *state, struct gpu_source_status *status)
{
    (void)state;
    gpu_source_status_set(status, GPU_SOURCE_AVAILABLE, "", "for a test");
    return true;
}

static uint32_t list_devices(void *state, struct gpu_device *devices, uint32_t capacity)
{
    (void)state;
    (void)devices;
    return capacity > 0;
}

static void read_device(
    void *state, uint32_t device, bool whole, struct gpu_device_reading *reading)
{
    (void)state;
    (void)device;
    atomic_store(&was_whole, whole);
    atomic_store(&is_reading_device, true);
    while (atomic_load(&is_device_held))
        usleep(100);
    atomic_store(&is_reading_device, false);
    reading->ram_used_bytes = atomic_load(&ram_before);
}

static void read_processes(
    void *state, const struct gpu_tracked *tracked, bool whole, struct gpu_process_list *list)
{
    (void)state;
    (void)tracked;
    (void)list;
    atomic_store(&was_whole, whole && atomic_load(&was_whole));
    atomic_store(&is_reading, true);
    while (atomic_load(&is_held))
        usleep(100);
    atomic_store(&is_reading, false);
}

static void close_source(void *state)
{
    (void)state;
    atomic_store(&is_closed, true);
}

static void read_ram(void *state, uint32_t device, struct gpu_device_reading *reading)
{
    (void)state;
    (void)device;
    reading->ram_used_bytes = atomic_load(&ram_after);
}

static const struct gpu_source source = {
    .name = "test",
    .probe = probe,
    .open = open_source,
    .list_devices = list_devices,
    .read_device = read_device,
    .read_ram = read_ram,
    .read_processes = read_processes,
    .close = close_source,
};

static struct gpu_feed *start(void)
{
    static const struct gpu_source_options options = {.procfs_root = "/proc", .sysfs_root = "/sys"};
    atomic_store(&is_held, false);
    atomic_store(&ram_before, 0);
    atomic_store(&ram_after, 0);
    struct gpu_source_status status;
    struct gpu_feed *feed = gpu_feed_create(&source, &options, false, &status);
    assert_non_null(feed);
    gpu_feed_start(feed);
    assert_true(gpu_feed_await_all(feed, clock_monotonic_ns() + FOR_EVER));
    return feed;
}

/* Has the lock of a feed about half of the time, as a thread that publishes has it for moments. It
 * sleeps in between: valgrind would run no other thread. */
struct user_of_lock {
    struct gpu_feed *feed;
    atomic_bool has_begun, is_over;
};

static void *use_lock(void *argument)
{
    static const pid_t pids[100000];
    struct user_of_lock *user = argument;
    while (!atomic_load(&user->is_over)) {
        gpu_feed_track(user->feed, pids, sizeof pids / sizeof *pids);
        atomic_store(&user->has_begun, true);
        usleep(1);
    }
    return NULL;
}

TEST(a_view_is_up_to_date_also_while_a_thread_publishes)
{
    static struct user_of_lock user; /* also of a thread that a failed check leaves */
    user.feed = start();
    pthread_t thread;
    assert_int_equal(thread_start(&thread, THREAD_STACK_BYTES, use_lock, &user), 0);
    while (!atomic_load(&user.has_begun))
        usleep(100);
    for (int i = 0; i < 200; i++) {
        struct gpu_feed_view view = {0};
        usleep(100); /* until that thread has the lock again */
        gpu_feed_update(user.feed, &view);
        assert_true(view.opened);
        assert_true(view.processes_version > 0);
        gpu_feed_view_finish(&view);
    }
    atomic_store(&user.is_over, true);
    pthread_join(thread, NULL);
    gpu_feed_close(user.feed, clock_monotonic_ns() + FOR_EVER);
}

TEST(a_list_is_of_the_moment_at_which_reading_it_began)
{
    struct gpu_feed_view view = {0};
    struct gpu_feed *feed = start();
    atomic_store(&is_held, true);
    gpu_feed_request(feed, GPU_FEED_LIST);
    while (!atomic_load(&is_reading))
        usleep(100);
    int64_t later_ns = clock_monotonic_ns();
    atomic_store(&is_held, false);
    gpu_feed_await_list(feed, clock_monotonic_ns() + FOR_EVER);
    gpu_feed_update(feed, &view);
    assert_true(view.processes_start_ns <= later_ns);
    assert_true(view.processes_ns >= later_ns);
    gpu_feed_close(feed, clock_monotonic_ns() + FOR_EVER);
    gpu_feed_view_finish(&view);
}

static void read_with_list(struct gpu_feed *feed, struct gpu_feed_view *view)
{
    gpu_feed_request(feed, GPU_FEED_LIST);
    assert_true(gpu_feed_await_all(feed, clock_monotonic_ns() + FOR_EVER));
    gpu_feed_update(feed, view);
}

TEST(a_reading_has_the_memory_in_use_around_its_list)
{
    struct gpu_feed_view view = {0};
    struct gpu_feed *feed = start();
    atomic_store(&ram_before, 50000000);
    atomic_store(&ram_after, 50000000);
    read_with_list(feed, &view);
    assert_true(view.list_ram_bytes[0] == 50e6);
    assert_true(view.readings[0].ram_used_bytes == 50e6);
    assert_true(view.read_ns[0] >= view.processes_ns);
    /* Where it has changed meanwhile, the reading has the most of it. */
    atomic_store(&ram_after, 20000000);
    read_with_list(feed, &view);
    assert_true(isnan(view.list_ram_bytes[0]));
    assert_true(view.readings[0].ram_used_bytes == 50e6);
    atomic_store(&ram_after, 90000000);
    read_with_list(feed, &view);
    assert_true(isnan(view.list_ram_bytes[0]));
    assert_true(view.readings[0].ram_used_bytes == 90e6);
    gpu_feed_close(feed, clock_monotonic_ns() + FOR_EVER);
    gpu_feed_view_finish(&view);
}

TEST(a_reader_that_comes_late_gets_the_most_memory_in_use)
{
    struct gpu_feed_view view = {0};
    struct gpu_feed *feed = start();
    static const int readings[] = {50000000, 90000000, 20000000};
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++) {
        atomic_store(&ram_before, readings[i]);
        atomic_store(&ram_after, readings[i]);
        gpu_feed_request(feed, GPU_FEED_FIGURES);
        assert_true(gpu_feed_await_all(feed, clock_monotonic_ns() + FOR_EVER));
    }
    gpu_feed_update(feed, &view);
    assert_true(view.readings[0].ram_used_bytes == 20e6);
    assert_true(view.max_ram_bytes[0] == 90e6);
    /* It stays until the reader has used it. */
    gpu_feed_update(feed, &view);
    assert_true(view.max_ram_bytes[0] == 90e6);
    view.max_ram_bytes[0] = 0;
    gpu_feed_update(feed, &view);
    assert_true(view.max_ram_bytes[0] == 0);
    gpu_feed_request(feed, GPU_FEED_FIGURES);
    assert_true(gpu_feed_await_all(feed, clock_monotonic_ns() + FOR_EVER));
    gpu_feed_update(feed, &view);
    assert_true(view.max_ram_bytes[0] == 20e6);
    gpu_feed_close(feed, clock_monotonic_ns() + FOR_EVER);
    gpu_feed_view_finish(&view);
}

TEST(devices_are_read_on_while_a_list_is_late)
{
    struct gpu_feed_view view = {0};
    struct gpu_feed *feed = start();
    atomic_store(&is_held, true);
    gpu_feed_request(feed, GPU_FEED_LIST);
    for (int bytes = 1000000; bytes <= 9000000; bytes += 2000000) {
        atomic_store(&ram_before, bytes);
        gpu_feed_request(feed, GPU_FEED_FIGURES);
        gpu_feed_await(feed, clock_monotonic_ns() + FOR_EVER);
        gpu_feed_update(feed, &view);
        assert_true(view.readings[0].ram_used_bytes == bytes);
        assert_int_equal(view.processes_version, 1);
    }
    int64_t later_ns = clock_monotonic_ns();
    atomic_store(&is_held, false);
    assert_true(gpu_feed_await_all(feed, clock_monotonic_ns() + FOR_EVER));
    gpu_feed_update(feed, &view);
    assert_int_equal(view.processes_version, 2);
    assert_true(view.processes_start_ns <= later_ns);
    assert_true(isnan(view.list_ram_bytes[0])); /* it was another one before the list */
    assert_true(view.readings[0].ram_used_bytes == 9e6);
    /* The thread that goes on lists, too. */
    atomic_store(&ram_after, 9000000);
    read_with_list(feed, &view);
    assert_int_equal(view.processes_version, 3);
    assert_true(view.list_ram_bytes[0] == 9e6);
    gpu_feed_close(feed, clock_monotonic_ns() + FOR_EVER);
    gpu_feed_view_finish(&view);
}

TEST(a_list_that_is_requested_while_one_is_late_is_read_after_it)
{
    struct gpu_feed_view view = {0};
    struct gpu_feed *feed = start();
    atomic_store(&is_held, true);
    gpu_feed_request(feed, GPU_FEED_LIST);
    gpu_feed_await(feed, clock_monotonic_ns() + FOR_EVER);
    int64_t later_ns = clock_monotonic_ns();
    gpu_feed_request(feed, GPU_FEED_LIST);
    gpu_feed_await(feed, clock_monotonic_ns() + FOR_EVER);
    atomic_store(&is_held, false);
    assert_true(gpu_feed_await_all(feed, clock_monotonic_ns() + FOR_EVER));
    gpu_feed_update(feed, &view);
    assert_true(view.processes_start_ns >= later_ns);
    gpu_feed_close(feed, clock_monotonic_ns() + FOR_EVER);
    gpu_feed_view_finish(&view);
}

TEST(all_is_read_where_it_is_requested_during_a_reading)
{
    struct gpu_feed *feed = start();
    atomic_store(&is_device_held, true);
    gpu_feed_request(feed, GPU_FEED_FIGURES);
    while (!atomic_load(&is_reading_device))
        usleep(100);
    gpu_feed_request(feed, GPU_FEED_ALL);
    atomic_store(&is_device_held, false);
    assert_true(gpu_feed_await_all(feed, clock_monotonic_ns() + FOR_EVER));
    assert_true(atomic_load(&was_whole));
    gpu_feed_close(feed, clock_monotonic_ns() + FOR_EVER);
}

TEST(it_can_be_closed_while_a_list_is_late)
{
    struct gpu_feed *feed = start();
    atomic_store(&is_closed, false);
    atomic_store(&is_held, true);
    gpu_feed_request(feed, GPU_FEED_LIST);
    gpu_feed_await(feed, clock_monotonic_ns() + FOR_EVER);
    gpu_feed_close(feed, clock_monotonic_ns() + NS_PER_SECOND / 100);
    assert_false(atomic_load(&is_closed));
    atomic_store(&is_held, false);
    while (!atomic_load(&is_closed))
        usleep(100);
}

RUN_TESTS(NULL, NULL)
