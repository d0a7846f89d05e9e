#include "machine/process/process_table.h"

#include "testing.h"

#include <math.h>

TEST(the_newest_process_of_a_pid_is_found_first)
{
    struct process_table table = {0};
    assert_null(process_table_get(&table, 7));
    struct process *first = process_table_add(&table, 7), *second = process_table_add(&table, 7);
    /* Also after the table has grown several times. */
    for (pid_t pid = 1000; pid < 2000; pid++)
        assert_non_null(process_table_add(&table, pid));
    assert_ptr_equal(process_table_get(&table, 7), second);
    assert_ptr_equal(process_table_older(second), first);
    assert_null(process_table_older(first));
    process_table_remove(&table, second);
    process_free(second);
    assert_ptr_equal(process_table_get(&table, 7), first);
    process_table_finish(&table);
}

TEST(every_process_is_visited_once_also_while_they_are_removed)
{
    struct process_table table = {0};
    for (pid_t pid = 1; pid <= 300; pid++)
        assert_non_null(process_table_add(&table, pid * 64));
    bool was_visited[301] = {false};
    struct process *after;
    for (struct process *process = process_table_first(&table); process; process = after) {
        assert_false(was_visited[process->pid / 64]);
        was_visited[process->pid / 64] = true;
        after = process_table_next(&table, process);
        process_table_remove(&table, process);
        process_free(process);
    }
    for (int i = 1; i <= 300; i++)
        assert_true(was_visited[i]);
    assert_int_equal(table.count, 0);
    process_table_finish(&table);
}

TEST(a_new_process_has_no_figures)
{
    struct process_table table = {0};
    struct process *process = process_table_add(&table, 7);
    assert_int_equal(process->pid, 7);
    assert_int_equal(process->state, PROCESS_FOUND);
    assert_int_equal(process->cpu_ns, -1);
    assert_true(isnan(process->peak.gpu_ram_bytes));
    assert_null(process->polled);
    assert_int_equal(process_baseline(process)->cpu_ns, 0);
    process_table_finish(&table);
}

RUN_TESTS(NULL, NULL)
