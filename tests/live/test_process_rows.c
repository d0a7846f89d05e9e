#include "testing.h"

#include "live/fake_snapshot.h"
#include "live/process_rows.h"

#include <math.h>
#include <string.h>

static struct process_rows rows;
static struct gput_snapshot snapshot;
static struct gput_snapshot_process processes[4000];

static int set_up(void **state)
{
    (void)state;
    rows = (struct process_rows){0};
    snapshot = (struct gput_snapshot){.processes = processes};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    process_rows_finish(&rows);
    return 0;
}

static struct gput_snapshot_process *add(pid_t pid, pid_t parent, const char *name, double cpu)
{
    struct gput_snapshot_process *process = &processes[snapshot.n_processes++];
    *process = (struct gput_snapshot_process){.pid = pid,
        .parent = parent,
        .start_ticks = (uint64_t)pid,
        .cpu_percent = cpu,
        .ram_bytes = 100,
        .private_ram_bytes = 60,
        .gpu_ram_bytes = NAN,
        .cpu_seconds = 1,
        .threads = 2};
    snprintf(process->name, sizeof process->name, "%s", name);
    return process;
}

/* "1 -2 --3": a "-" for each level. */
static void assert_rows(const char *wanted)
{
    char text[512] = "";
    size_t length = 0;
    for (size_t i = 0; i < rows.count; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, i ? " " : "");
        for (unsigned level = 0; level < rows.rows[i].depth; level++)
            text[length++] = '-';
        length += (size_t)snprintf(
            text + length, sizeof text - length, "%d", (int)rows.rows[i].process->pid);
    }
    assert_string_equal(text, wanted);
}

static void a_family(void)
{
    add(3, 2, "grandchild", 50);
    add(2, 1, "child", 1);
    add(4, 1, "other", 20);
    add(1, 999, "main", 0);
    add(5, 3, "last", 0);
}

#define WITH_ROWS(name) TEST_WITH(name, set_up, tear_down)

WITH_ROWS(a_tree_is_sorted_by_what_subtrees_use)
{
    a_family();
    rows.is_tree = true;
    assert_true(process_rows_take(&rows, &snapshot, 1));
    assert_rows("1 -2 --3 ---5 -4");
    assert_true(rows.rows[4].is_last && !rows.rows[1].is_last);
    assert_int_equal(rows.rows[3].open_levels >> 1 & 7, 1); /* a sibling of 2 follows */
    rows.sort = SORT_PID;
    rows.is_tree = false;
    process_rows_arrange(&rows);
    assert_rows("1 2 3 4 5");
    rows.sort = SORT_CPU;
    process_rows_arrange(&rows);
    assert_rows("3 4 2 1 5");
    rows.sort = SORT_NAME;
    process_rows_arrange(&rows);
    assert_rows("2 3 5 1 4");
}

WITH_ROWS(kernel_threads_are_one_row_until_it_is_unfolded)
{
    a_family();
    processes[1].parent = 999; /* pid 2 with a parent is not a kernel thread */
    assert_true(process_rows_take(&rows, &snapshot, 1));
    assert_rows("3 4 2 1 5");
    process_rows_finish(&rows);
    snapshot.n_processes = 0;
    add(1, 0, "init", 3);
    add(2, 0, "kthreadd", 0);
    add(12, 2, "kworker/0:1", 0)->private_ram_bytes = 100;
    add(13, 2, "ksoftirqd/0", 5);
    for (rows.is_tree = false;; rows.is_tree = true) {
        assert_true(process_rows_take(&rows, &snapshot, 1));
        assert_rows("2 1");
        assert_int_equal(rows.rows[0].folded, 2);
        assert_int_equal(rows.rows[0].threads, 6);
        if (rows.is_tree)
            break;
    }
    strcpy(rows.filter, "ksoft");
    rows.is_tree = false;
    process_rows_arrange(&rows);
    assert_rows("13");
    rows.filter[0] = '\0';
    process_rows_arrange(&rows);
    process_rows_move(&rows, 0);
    process_rows_toggle_fold(&rows);
    assert_rows("13 1 2 12");
    assert_int_equal(process_rows_selected(&rows)->process->pid, 2);
    process_rows_toggle_fold(&rows);
    assert_rows("2 1");
}

WITH_ROWS(a_folded_process_has_the_figures_of_its_subtree)
{
    a_family();
    rows.is_tree = true;
    process_rows_take(&rows, &snapshot, 1);
    process_rows_move(&rows, 0); /* the first one */
    process_rows_move(&rows, 1);
    assert_int_equal(process_rows_selected(&rows)->process->pid, 2);
    process_rows_toggle_fold(&rows);
    assert_rows("1 -2 -4");
    const struct process_row *row = process_rows_selected(&rows);
    assert_int_equal(row->folded, 2);
    assert_true(row->cpu_percent == 51 && row->cpu_seconds == 3 && row->threads == 6);
    assert_true(row->ram_bytes == 3 * 60 + 40 && row->ram_is_least);
    assert_true(isnan(row->gpu_ram_bytes));
    process_rows_take(&rows, &snapshot, 1);
    assert_rows("1 -2 -4"); /* it is remembered */
    process_rows_toggle_fold(&rows);
    assert_rows("1 -2 --3 ---5 -4");
    process_rows_move(&rows, 2);
    process_rows_toggle_fold(&rows); /* it has no children */
    assert_rows("1 -2 --3 ---5 -4");
}

WITH_ROWS(a_filter_keeps_ancestors)
{
    a_family();
    rows.is_tree = true;
    snprintf(rows.filter, sizeof rows.filter, "GRAND");
    process_rows_take(&rows, &snapshot, 1);
    assert_rows("1 -2 --3");
    rows.is_tree = false;
    process_rows_arrange(&rows);
    assert_rows("3");
    snprintf(rows.filter, sizeof rows.filter, "nothing has this");
    process_rows_arrange(&rows);
    assert_rows("");
    assert_null(process_rows_selected(&rows));
    process_rows_move(&rows, 1);
}

WITH_ROWS(the_selection_stays_with_its_process)
{
    a_family();
    process_rows_take(&rows, &snapshot, 1);
    process_rows_move(&rows, 1);
    process_rows_move(&rows, 1);
    assert_int_equal(process_rows_selected(&rows)->process->pid, 4);
    processes[2].cpu_percent = 5000;
    process_rows_take(&rows, &snapshot, 1);
    assert_int_equal(process_rows_selected(&rows)->process->pid, 4);
    assert_int_equal(rows.selected, 0);
    /* Its pid is given to another process: that is not selected for it. */
    processes[2].start_ticks = 77777;
    processes[2].cpu_percent = 0;
    process_rows_take(&rows, &snapshot, 1);
    assert_int_equal(process_rows_selected(&rows)->process->pid, 3);
    snapshot.n_processes = 0;
    process_rows_take(&rows, &snapshot, 1);
    assert_null(process_rows_selected(&rows));
}

WITH_ROWS(rows_do_not_jump_for_one_busy_moment)
{
    add(1, 0, "steady", 50);
    add(2, 0, "nervous", 0);
    for (int i = 0; i < 10; i++)
        process_rows_take(&rows, &snapshot, 0.5);
    assert_rows("1 2");
    processes[1].cpu_percent = 100;
    process_rows_take(&rows, &snapshot, 0.5);
    assert_rows("1 2");
    for (int i = 0; i < 10; i++)
        process_rows_take(&rows, &snapshot, 0.5);
    assert_rows("2 1");
}

WITH_ROWS(parents_in_a_circle_are_all_listed)
{
    add(1, 2, "a", 1);
    add(2, 3, "b", 2);
    add(3, 1, "c", 3);
    add(4, 3, "below", 4);
    add(5, 5, "its own parent", 0);
    rows.is_tree = true;
    process_rows_take(&rows, &snapshot, 1);
    assert_int_equal(rows.count, 5);
}

WITH_ROWS(many_processes_in_one_line_or_row)
{
    for (int i = 0; i < 4000; i++)
        add(i + 1, i, "chain", 1);
    rows.is_tree = true;
    process_rows_take(&rows, &snapshot, 1);
    assert_int_equal(rows.count, 4000);
    assert_int_equal(rows.rows[3999].depth, 3999);
    for (int i = 1; i < 4000; i++)
        processes[i].parent = 1;
    process_rows_take(&rows, &snapshot, 1);
    assert_int_equal(rows.count, 4000);
    assert_int_equal(rows.rows[3999].depth, 1);
}

static int reads;
static const char *option;

static char *read_command(void *user, const struct gput_snapshot_process *process)
{
    (void)user;
    char text[64];
    reads++;
    snprintf(text, sizeof text, "%s %s", process->name, option);
    return strdup(text);
}

WITH_ROWS(command_lines_are_read_until_twice_the_same_and_after_execve)
{
    a_family();
    rows.read_command = read_command;
    reads = 0;
    option = "--wrapper";
    process_rows_take(&rows, &snapshot, 1);
    assert_int_equal(reads, 0);
    assert_string_equal(process_rows_command(&rows, &rows.rows[0]), "grandchild --wrapper");
    process_rows_command(&rows, &rows.rows[0]);
    assert_int_equal(reads, 1);
    option = "--option";
    for (int i = 0; i < 4; i++) {
        process_rows_take(&rows, &snapshot, 1);
        assert_string_equal(process_rows_command(&rows, &rows.rows[0]), "grandchild --option");
    }
    assert_int_equal(reads, 3);
    snprintf(processes[0].name, sizeof processes[0].name, "new");
    process_rows_take(&rows, &snapshot, 1);
    assert_string_equal(process_rows_command(&rows, &rows.rows[0]), "new --option");
}

RUN_TESTS(NULL, NULL)
