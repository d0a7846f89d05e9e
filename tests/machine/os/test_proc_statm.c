#include "machine/os/proc_stat.h"

#include "testing.h"

TEST(reads_resident_and_shared)
{
    struct proc_statm statm;
    assert_int_equal(proc_statm_read(fixture("procfs-old"), 100, &statm, NULL), GPUT_OK);
    assert_int_equal(statm.resident_pages, 2000);
    assert_int_equal(statm.shared_pages, 500);
}

TEST(reads_zeroes_of_a_zombie)
{
    struct proc_statm statm;
    assert_int_equal(proc_statm_read(fixture("procfs-hybrid"), 4004, &statm, NULL), GPUT_OK);
    assert_int_equal(statm.resident_pages, 0);
}

TEST(refuses_what_is_no_statm)
{
    struct proc_statm statm;
    assert_int_equal(proc_statm_parse("", &statm), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_statm_parse("12", &statm), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_statm_parse("12 34 ", &statm), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_statm_parse("12 x 3", &statm), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_statm_read(fixture("procfs-old"), 5, &statm, NULL), GPUT_ERROR_GONE);
}

RUN_TESTS(NULL, NULL)
