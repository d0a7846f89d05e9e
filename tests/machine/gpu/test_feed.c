/* One source, read in the background: what its reader sees of it. */
#include "base/clock.h"
#include "base/thread.h"
#include "machine/gpu/feed.h"
#include "testing.h"

#include <stdatomic.h>
#include <unistd.h>

/* Longer than any test may take. */
#define FOR_EVER (600 * NS_PER_SECOND)

static atomic_bool is_held, is_reading;

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

/* No memory in use: a change of it would request a list by itself. */
static void read_device(
    void *state, uint32_t device, bool whole, struct gpu_device_reading *reading)
{
    (void)whole;
    (void)state;
    (void)device;
    (void)reading;
}

static void read_processes(
    void *state, const struct gpu_tracked *tracked, bool whole, struct gpu_process_list *list)
{
    (void)whole;
    (void)state;
    (void)tracked;
    (void)list;
    atomic_store(&is_reading, true);
    while (atomic_load(&is_held))
        usleep(100);
    atomic_store(&is_reading, false);
}

static void close_source(void *state)
{
    (void)state;
}

static const struct gpu_source source = {
    .name = "test",
    .probe = probe,
    .open = open_source,
    .list_devices = list_devices,
    .read_device = read_device,
    .read_processes = read_processes,
    .close = close_source,
};

static struct gpu_feed *start(void)
{
    static const struct gpu_source_options options = {.procfs_root = "/proc", .sysfs_root = "/sys"};
    atomic_store(&is_held, false);
    struct gpu_feed *feed = gpu_feed_create(&source, &options, false);
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

static void a_view_is_up_to_date_also_while_a_thread_publishes(void **state)
{
    (void)state;
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

static void a_list_is_of_the_moment_at_which_reading_it_began(void **state)
{
    (void)state;
    struct gpu_feed_view view = {0};
    struct gpu_feed *feed = start();
    atomic_store(&is_held, true);
    gpu_feed_request_list(feed, false);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_is_up_to_date_also_while_a_thread_publishes),
        cmocka_unit_test(a_list_is_of_the_moment_at_which_reading_it_began),
    };
    return cmocka_run_group_tests_name("machine/gpu/feed", tests, NULL, NULL);
}
