#include "machine/process/wait_cause.h"

#include "testing.h"

#include <stdio.h>
#include <sys/syscall.h>

static enum wall_cause cause_of_call(const char *channel, long number)
{
    char call[64];
    snprintf(call, sizeof call, "%ld 0x3 0x7f0 0x1 0x0 0x0 0x0 0x7ffd 0x7f1\n", number);
    return wait_cause_of_call(channel, call);
}

TEST(the_function_says_what_it_sleeps_for)
{
    assert_int_equal(wait_cause_of_channel("futex_do_wait"), WALL_LOCK);
    assert_int_equal(wait_cause_of_channel("futex_wait_queue_me"), WALL_LOCK);
    assert_int_equal(wait_cause_of_channel("hrtimer_nanosleep"), WALL_TIMER);
    assert_int_equal(wait_cause_of_channel("anon_pipe_read"), WALL_PIPE);
    assert_int_equal(wait_cause_of_channel("pipe_read"), WALL_PIPE);
    assert_int_equal(wait_cause_of_channel("unix_stream_read_generic"), WALL_SOCKET);
    assert_int_equal(wait_cause_of_channel("poll_schedule_timeout.constprop.0"), WALL_POLL);
    assert_int_equal(wait_cause_of_channel("__iomap_dio_rw"), WALL_STORAGE);
    assert_int_equal(wait_cause_of_channel("locks_lock_inode_wait"), WALL_LOCK);
    assert_int_equal(wait_cause_of_channel("do_wait"), WALL_CHILD);
    assert_int_equal(wait_cause_of_channel("fuse_dev_do_read"), WALL_OTHER);
    assert_int_equal(wait_cause_of_channel("fuse_simple_request"), WALL_STORAGE);
    assert_int_equal(wait_cause_of_channel("do_signal_stop"), WALL_STOPPED);
    assert_int_equal(wait_cause_of_channel("nv_wait_for_event"), WALL_GPU);
}

TEST(one_that_runs_has_no_function)
{
    assert_int_equal(wait_cause_of_channel("0"), WALL_COMPUTING);
    assert_int_equal(wait_cause_of_channel(""), WALL_COMPUTING);
}

TEST(a_function_that_says_nothing_leaves_it_to_the_call)
{
    assert_int_equal(wait_cause_of_channel("worker_thread"), WALL_CAUSE_COUNT);
    assert_int_equal(cause_of_call("worker_thread", SYS_futex), WALL_LOCK);
    assert_int_equal(cause_of_call("worker_thread", SYS_wait4), WALL_CHILD);
    assert_int_equal(cause_of_call("worker_thread", SYS_recvfrom), WALL_SOCKET);
    assert_int_equal(cause_of_call("worker_thread", 99999), WALL_OTHER);
    assert_int_equal(wait_cause_of_call("worker_thread", "running\n"), WALL_OTHER);
    assert_int_equal(wait_cause_of_call("worker_thread", ""), WALL_OTHER);
}

/* A page is read for a read(), or for a page fault: then there is no call. */
TEST(a_page_is_of_storage_or_of_a_fault)
{
    assert_int_equal(wait_cause_of_channel("folio_wait_bit_common"), WALL_CAUSE_COUNT);
    assert_int_equal(cause_of_call("folio_wait_bit_common", SYS_read), WALL_STORAGE);
    assert_int_equal(wait_cause_of_call("folio_wait_bit_common", "-1 0x7ffd 0x7f1\n"), WALL_PAGING);
    assert_int_equal(wait_cause_of_call("folio_wait_bit_common", "running\n"), WALL_CAUSE_COUNT);
}

TEST(a_state_alone_says_little)
{
    assert_int_equal(wait_cause_of_state('R'), WALL_COMPUTING);
    assert_int_equal(wait_cause_of_state('D'), WALL_STORAGE);
    assert_int_equal(wait_cause_of_state('T'), WALL_STOPPED);
    assert_int_equal(wait_cause_of_state('S'), WALL_OTHER);
}

RUN_TESTS(NULL, NULL)
