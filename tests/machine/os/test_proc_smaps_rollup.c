#include "machine/os/proc_smaps.h"

#include "testing.h"

#include <unistd.h>

TEST(reads_a_recorded_rollup)
{
    struct proc_smaps_rollup rollup;
    assert_int_equal(
        proc_smaps_rollup_read(fixture("procfs-hybrid"), 4000, &rollup, NULL), GPUT_OK);
    assert_true(rollup.has_pss_parts);
    assert_int_equal(rollup.pss_anonymous_bytes, 7066 * 1024);
    assert_int_equal(rollup.private_bytes, (2300 + 2884) * 1024);
}

TEST(older_kernels_do_not_split_pss)
{
    struct proc_smaps_rollup rollup;
    assert_int_equal(proc_smaps_rollup_read(fixture("procfs-old"), 101, &rollup, NULL), GPUT_OK);
    assert_false(rollup.has_pss_parts);
    assert_int_equal(rollup.private_bytes, 600 * 1024);
    assert_int_equal(rollup.shared_bytes, 712 * 1024);
    assert_int_equal(rollup.anonymous_bytes, 600 * 1024);
    assert_int_equal(rollup.shared_hugetlb_bytes, 2048 * 1024);
    assert_int_equal(rollup.private_hugetlb_bytes, 4096 * 1024);
}

TEST(distinguishes_missing_rollups_from_missing_processes)
{
    struct proc_smaps_rollup rollup;
    assert_int_equal(
        proc_smaps_rollup_read(fixture("procfs-old"), 100, &rollup, NULL), GPUT_ERROR_UNSUPPORTED);
    assert_int_equal(
        proc_smaps_rollup_read(fixture("procfs-old"), 5, &rollup, NULL), GPUT_ERROR_GONE);
}

TEST(refuses_what_is_no_rollup)
{
    struct proc_smaps_rollup rollup;
    assert_int_equal(proc_smaps_rollup_parse("", &rollup), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_smaps_rollup_parse("1000-2000 [rollup]", &rollup), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_smaps_rollup_parse("1000-2000 [rollup]\nRss:            4 kB\n", &rollup),
        GPUT_ERROR_FORMAT);
}

TEST(reads_its_own)
{
    struct proc_smaps_rollup rollup;
    int code = proc_smaps_rollup_read("/proc", getpid(), &rollup, NULL);
    if (code == GPUT_ERROR_UNSUPPORTED)
        SKIP("Linux before 4.14");
    assert_int_equal(code, GPUT_OK);
    assert_true(rollup.private_bytes > 0);
}

RUN_TESTS(NULL, NULL)
