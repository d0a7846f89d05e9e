#include "machine/os/procfs.h"
#include "testing.h"

TEST(grows_and_starts_again)
{
    struct pid_vector pids = {0};
    for (int i = 1; i <= 1000; i++)
        assert_int_equal(pid_vector_append(&pids, i), GPUT_OK);
    assert_int_equal(pids.count, 1000);
    for (int i = 1; i <= 1000; i++)
        assert_int_equal(pids.pids[i - 1], i);
    pids.count = 0;
    assert_int_equal(pid_vector_append(&pids, 7), GPUT_OK);
    assert_int_equal(pids.pids[0], 7);
    pid_vector_finish(&pids);
    assert_null(pids.pids);
    assert_int_equal(pids.capacity, 0);
}

RUN_TESTS(NULL, NULL)
