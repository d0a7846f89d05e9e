#include "machine/os/proc_list.h"

#include "testing.h"

#include <string.h>
#include <unistd.h>

TEST(lists_all_processes_with_their_parents_in_order)
{
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

TEST(skips_processes_that_end_meanwhile)
{
    struct proc_list list = {0};
    /* The directories are there, the stat files are not. */
    assert_int_equal(proc_list_read(fixture("procfs-threads"), &list, NULL), GPUT_OK);
    assert_int_equal(list.count, 0);
    proc_list_finish(&list);
}

TEST(is_used_again_and_finds_itself)
{
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

TEST(reports_a_missing_procfs)
{
    struct proc_list list = {0};
    struct gput_error error;
    assert_int_equal(proc_list_read("/no/such/root", &list, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "/no/such/root"));
    proc_list_finish(&list);
}

RUN_TESTS(NULL, NULL)
