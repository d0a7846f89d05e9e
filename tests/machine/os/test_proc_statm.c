#include "machine/os/proc_stat.h"

#include "testing.h"

static void reads_resident_and_shared(void **state)
{
    (void)state;
    struct proc_statm statm;
    assert_int_equal(proc_statm_read(fixture("procfs-old"), 100, &statm, NULL), GPUT_OK);
    assert_int_equal(statm.resident_pages, 2000);
    assert_int_equal(statm.shared_pages, 500);
}

static void reads_zeroes_of_a_zombie(void **state)
{
    (void)state;
    struct proc_statm statm;
    assert_int_equal(proc_statm_read(fixture("procfs-hybrid"), 4004, &statm, NULL), GPUT_OK);
    assert_int_equal(statm.resident_pages, 0);
}

static void refuses_what_is_no_statm(void **state)
{
    (void)state;
    struct proc_statm statm;
    assert_int_equal(proc_statm_parse("", &statm), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_statm_parse("12", &statm), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_statm_parse("12 34 ", &statm), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_statm_parse("12 x 3", &statm), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_statm_read(fixture("procfs-old"), 5, &statm, NULL), GPUT_ERROR_GONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_resident_and_shared),
        cmocka_unit_test(reads_zeroes_of_a_zombie),
        cmocka_unit_test(refuses_what_is_no_statm),
    };
    return cmocka_run_group_tests_name("machine/os/proc_statm", tests, NULL, NULL);
}
