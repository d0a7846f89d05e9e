#include "machine/os/task_counts.h"

#include "testing.h"

TEST(reads_a_recorded_process)
{
    struct proc_io io;
    assert_int_equal(proc_io_read(fixture("procfs-hybrid"), 4000, &io, NULL), GPUT_OK);
    assert_int_equal(io.read_call_bytes, 1100781);
    assert_int_equal(io.write_call_bytes, 1695);
    assert_int_equal(io.read_bytes, 176128);
    assert_int_equal(io.write_bytes, 4096);
    assert_int_equal(io.cancelled_write_bytes, 0);
}

TEST(kernels_without_storage_accounting_have_less)
{
    struct proc_io io;
    assert_int_equal(proc_io_read(fixture("procfs-old"), 100, &io, NULL), GPUT_OK);
    assert_int_equal(io.read_call_bytes, 323934931);
    assert_int_equal(io.read_bytes, 0);
}

TEST(refuses_what_is_no_io)
{
    struct proc_io io;
    assert_int_equal(proc_io_parse("", &io), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_io_parse("rchar: 1\nwchar: 2", &io), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_io_read(fixture("procfs-old"), 101, &io, NULL), GPUT_ERROR_UNSUPPORTED);
}

RUN_TESTS(NULL, NULL)
