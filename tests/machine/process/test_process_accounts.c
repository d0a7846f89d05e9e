#include "machine/process/process_accounts.h"
#include "testing.h"

#define SECOND_NS INT64_C(1000000000)

/* Main and a child of it, each with one thread. */
struct stage {
    struct process_tree tree;
    struct process *list[2];
    struct polled polled[2];
    struct process_threads lists[2];
    struct thread threads[2];
};

static void begin(struct stage *stage)
{
    *stage = (struct stage){0};
    for (int i = 0; i < 2; i++) {
        struct process *process = process_table_add(&stage->tree.table, 10 + i);
        assert_non_null(process);
        stage->threads[i].id = process->pid;
        stage->lists[i] = (struct process_threads){.threads = &stage->threads[i], .count = 1};
        process->polled = &stage->polled[i];
        process->threads = &stage->lists[i];
        process->is_main = i == 0;
        process->parent_pid = i == 0 ? 1 : 10;
        stage->list[i] = process;
    }
    stage->tree.processes = stage->list;
    stage->tree.count = 2;
}

static void finish(struct stage *stage)
{
    for (int i = 0; i < 2; i++) {
        stage->list[i]->polled = NULL;
        stage->list[i]->threads = NULL;
    }
    process_table_finish(&stage->tree.table);
}

static void compute(struct stage *stage, int process, int64_t seconds)
{
    stage->lists[process].seen_ns += seconds * SECOND_NS;
    stage->threads[process].run_ns += seconds * SECOND_NS;
}

static void sleep_in(struct stage *stage, int process, int64_t seconds, enum wall_cause cause)
{
    stage->lists[process].seen_ns += seconds * SECOND_NS;
    stage->threads[process].samples.ns[cause] += seconds * SECOND_NS;
    stage->threads[process].samples.count += 10;
}

TEST(main_that_waits_did_what_its_child_did)
{
    struct stage stage;
    begin(&stage);
    sleep_in(&stage, 0, 4, WALL_CHILD);
    compute(&stage, 1, 3);
    sleep_in(&stage, 1, 1, WALL_PIPE);
    struct wall_account account = process_tree_recent_account(&stage.tree);
    assert_int_equal(account.wall_ns, 4 * SECOND_NS);
    assert_int_equal(account.ns[WALL_COMPUTING], 3 * SECOND_NS);
    assert_int_equal(account.ns[WALL_PIPE], SECOND_NS);
    finish(&stage);
}

TEST(what_a_child_did_before_main_waited_is_no_part_of_that)
{
    struct stage stage;
    begin(&stage);
    compute(&stage, 0, 10);
    compute(&stage, 1, 10);
    struct wall_account account = process_tree_recent_account(&stage.tree);
    assert_int_equal(account.ns[WALL_COMPUTING], 10 * SECOND_NS);
    sleep_in(&stage, 0, 1, WALL_CHILD);
    sleep_in(&stage, 1, 1, WALL_TIMER);
    account = process_tree_recent_account(&stage.tree);
    assert_int_equal(account.wall_ns, SECOND_NS);
    assert_int_equal(account.ns[WALL_COMPUTING], 0);
    assert_int_equal(account.ns[WALL_TIMER], SECOND_NS);
    finish(&stage);
}

RUN_TESTS(NULL, NULL)
