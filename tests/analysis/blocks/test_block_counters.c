/* Counters of the kernel's own software stand in for those of the processor, which virtual machines
 * lack. */
#include "analysis/blocks/block_counters.h"
#include "testing.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct block_counter_event faults = {
    PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN};
static const struct block_counter_event none = {PERF_TYPE_SOFTWARE, 0xffff};

static void touch_pages(size_t count)
{
    char *pages =
        mmap(NULL, count * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    madvise(pages, count * 4096, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < count; i++)
        pages[i * 4096] = 1;
    munmap(pages, count * 4096);
}

/* False where a container forbids perf_event_open(). */
static bool can_open(
    struct block_counters *counters, const struct block_counter_event events[BLOCK_COUNTERS])
{
    int failure = block_counters_open(counters, events);
    return failure != EPERM && failure != EACCES && failure != ENOSYS;
}

TEST(a_group_counts_each_of_its_events)
{
    const struct block_counter_event events[] = {faults, faults, faults};
    struct block_counters counters = {0};
    int64_t before[BLOCK_COUNTERS], after[BLOCK_COUNTERS];
    if (!can_open(&counters, events))
        SKIP("perf_event_open() is not permitted");
    touch_pages(1);
    block_counters_read(&counters, before);
    touch_pages(100);
    block_counters_read(&counters, after);
    for (int i = 0; i < BLOCK_COUNTERS; i++) {
        assert_in_range(after[i] - before[i], 100, 150); /* a sanitizer has pages, too */
        assert_int_equal(after[i] - before[i], after[0] - before[0]);
    }
    block_counters_close(&counters);
}

TEST(an_event_that_there_is_not_leaves_the_others)
{
    for (int lacking = 0; lacking < BLOCK_COUNTERS; lacking++) {
        struct block_counter_event events[] = {faults, faults, faults};
        struct block_counters counters = {0};
        int64_t counts[BLOCK_COUNTERS];
        if (!can_open(&counters, events))
            SKIP("perf_event_open() is not permitted");
        block_counters_close(&counters);
        events[lacking] = none;
        assert_int_equal(block_counters_open(&counters, events) != 0, lacking == 0);
        touch_pages(10);
        block_counters_read(&counters, counts);
        for (int i = 0; i < BLOCK_COUNTERS; i++)
            assert_int_equal(counts[i] == SUB_TRACKING_UNKNOWN, i == lacking);
        assert_true(counts[(lacking + 1) % BLOCK_COUNTERS] >= 10);
        block_counters_close(&counters);
    }
}

TEST(descriptors_that_the_program_has_taken_are_left_alone)
{
    const struct block_counter_event events[] = {faults, faults, faults};
    struct block_counters counters = {0};
    int64_t counts[BLOCK_COUNTERS];
    int ends[2];
    if (!can_open(&counters, events))
        SKIP("perf_event_open() is not permitted");
    assert_int_equal(pipe(ends), 0);
    for (int i = 0; i < BLOCK_COUNTERS; i++)
        assert_int_equal(dup2(ends[0], counters.fds[i]), counters.fds[i]);
    assert_int_equal(write(ends[1], "0123456789012345678901234567890123456789", 40), 40);
    block_counters_read(&counters, counts);
    assert_int_equal(counts[0], SUB_TRACKING_UNKNOWN);
    int taken = counters.fds[0];
    block_counters_close(&counters);
    char bytes[64];
    assert_int_equal(read(taken, bytes, sizeof bytes), 40);
}

TEST(what_is_not_open_is_unknown)
{
    struct block_counters counters = {0};
    int64_t counts[BLOCK_COUNTERS];
    block_counters_read(&counters, counts);
    assert_int_equal(counts[0], SUB_TRACKING_UNKNOWN);
    block_counters_open(&counters, NULL);
    block_counters_read(&counters, counts);
    assert_int_equal(counts[2], SUB_TRACKING_UNKNOWN);
    block_counters_close(&counters);
}

/* A pinned group that has no counters reads as nothing; one that shared them has less running than
 * enabled time. Neither is a count, and none is scaled. */
TEST(what_was_not_counted_all_the_time_is_unknown)
{
    const struct block_counters counters = {
        .is_tried = true, .fds = {3, -1, 4}, .places = {0, 0, 1}};
    struct block_counters_group group = {
        .number = 2, .enabled_ns = 1000, .running_ns = 1000, .values = {7, 9}};
    int64_t counts[BLOCK_COUNTERS];
    block_counters_parse(&counters, &group, sizeof group, counts);
    assert_int_equal(counts[0], 7);
    assert_int_equal(counts[1], SUB_TRACKING_UNKNOWN);
    assert_int_equal(counts[2], 9);
    for (int i = 0; i < 4; i++) {
        struct block_counters_group other = group;
        if (i == 1)
            other.running_ns = 500;
        else if (i == 2)
            other.number = 0;
        block_counters_parse(&counters, &other, i == 0 ? 0 : i == 3 ? -1 : 24, counts);
        for (int k = 0; k < BLOCK_COUNTERS; k++)
            assert_int_equal(counts[k], SUB_TRACKING_UNKNOWN);
    }
}

TEST(a_check_says_why_there_are_none)
{
    struct gput_error error = {0};
    if (block_counters_check(&error) == GPUT_OK)
        SKIP("the counters can be read here");
    assert_true(strlen(error.message) > 20);
}

RUN_TESTS(NULL, NULL)
