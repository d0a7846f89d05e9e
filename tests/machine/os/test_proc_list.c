#include "machine/os/proc_list.h"

#include "testing.h"

#include <string.h>
#include <unistd.h>

static void lists_all_processes_with_their_parents_in_order(void **state)
{
    (void)state;
    struct proc_list list = {0};
    assert_int_equal(proc_list_read(fixture("procfs-old"), &list, NULL), GPUT_OK);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.entries[0].pid, 100);
    assert_int_equal(list.entries[0].ppid, 1);
    assert_int_equal(list.entries[2].pid, 102);
    assert_int_equal(list.entries[2].ppid, 101);

    struct pid_vector children = {0};
    assert_int_equal(proc_list_children(&list, 100, &children), GPUT_OK);
    assert_int_equal(children.count, 1);
    assert_int_equal(children.pids[0], 101);
    pid_vector_finish(&children);
    proc_list_finish(&list);
}

static void skips_processes_that_end_meanwhile(void **state)
{
    (void)state;
    struct proc_list list = {0};
    /* The directories are there, the stat files are not. */
    assert_int_equal(proc_list_read(fixture("procfs-threads"), &list, NULL), GPUT_OK);
    assert_int_equal(list.count, 0);
    proc_list_finish(&list);
}

static void is_used_again_and_finds_itself(void **state)
{
    (void)state;
    struct proc_list list = {0};
    assert_int_equal(proc_list_read(fixture("procfs-old"), &list, NULL), GPUT_OK);
    assert_int_equal(proc_list_read("/proc", &list, NULL), GPUT_OK);
    pid_t parent = 0;
    for (size_t i = 0; i < list.count; i++)
        if (list.entries[i].pid == getpid())
            parent = list.entries[i].ppid;
    proc_list_finish(&list);
    assert_int_equal(parent, getppid());
}

static void reports_a_missing_procfs(void **state)
{
    (void)state;
    struct proc_list list = {0};
    struct gput_error error;
    assert_int_equal(proc_list_read("/no/such/root", &list, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "/no/such/root"));
    proc_list_finish(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_all_processes_with_their_parents_in_order),
        cmocka_unit_test(skips_processes_that_end_meanwhile),
        cmocka_unit_test(is_used_again_and_finds_itself),
        cmocka_unit_test(reports_a_missing_procfs),
    };
    return cmocka_run_group_tests_name("machine/os/proc_list", tests, NULL, NULL);
}
