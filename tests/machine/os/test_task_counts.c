#include "machine/os/task_counts.h"

#include "testing.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

TEST(adds_up_threads_that_live)
{
    struct task_counts counts = {.minor_faults = 1};
    assert_int_equal(task_counts_read(fixture("procfs-threads"), 300, &counts, NULL), GPUT_OK);
    /* The leader has exited, other threads live. */
    assert_int_equal(counts.minor_faults, 1 + 100 + 200);
    assert_int_equal(counts.major_faults, 3);
    assert_int_equal(counts.voluntary_switches, 30);
    assert_int_equal(counts.involuntary_switches, 3);
    assert_int_equal(counts.read_call_bytes, 3000);
    assert_int_equal(counts.write_call_bytes, 300);
    assert_int_equal(counts.read_bytes, 4096);
    assert_int_equal(counts.write_bytes, 8192);
    assert_int_equal(counts.cancelled_write_bytes, 4096);
    assert_false(counts.lacks_io);
}

TEST(a_process_that_is_gone_is_an_error)
{
    struct task_counts counts = {0};
    assert_int_equal(
        task_counts_read(fixture("procfs-threads"), 999, &counts, NULL), GPUT_ERROR_GONE);
}

TEST(counts_what_we_do_ourselves)
{
    struct task_counts before = {0}, after = {0};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int null = open("/dev/null", O_WRONLY);
    assert_int_equal(task_counts_read("/proc", getpid(), &before, NULL), GPUT_OK);
    char *pages =
        mmap(NULL, 200 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    madvise(pages, 200 * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < 200; i++)
        pages[i * page] = 1;
    assert_int_equal(write(null, pages, 5000), 5000);
    usleep(1000);
    assert_int_equal(task_counts_read("/proc", getpid(), &after, NULL), GPUT_OK);
    munmap(pages, 200 * page);
    close(null);
    task_counts_subtract(&after, &before);
    assert_true(after.minor_faults >= 200);
    assert_true(after.voluntary_switches >= 1);
    /* Valgrind writes a byte of its own around a system call that may wait. */
    assert_in_range(after.write_call_bytes, 5000, 5100);
}

TEST(differences_are_never_negative)
{
    struct task_counts counts = {.read_bytes = 1024, .minor_faults = 7};
    task_counts_subtract(
        &counts, &(struct task_counts){.read_bytes = 1500, .minor_faults = 2, .lacks_io = true});
    assert_int_equal(counts.read_bytes, 0);
    assert_int_equal(counts.minor_faults, 5);
    assert_true(counts.lacks_io);
}

TEST(each_count_is_raised_separately)
{
    struct task_counts counts = {.read_bytes = 1024, .minor_faults = 7};
    task_counts_raise(
        &counts, &(struct task_counts){.read_bytes = 1500, .minor_faults = 2, .lacks_io = true});
    assert_int_equal(counts.read_bytes, 1500);
    assert_int_equal(counts.minor_faults, 7);
    assert_false(counts.lacks_io);
}

RUN_TESTS(NULL, NULL)
