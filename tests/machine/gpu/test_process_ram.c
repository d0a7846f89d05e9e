#include "machine/gpu/process_ram.h"
#include "scenario.h"

/* The fixture has processes 5000, 5007 and 30. */
#define MAIN 5000
#define CHILD 5007
#define OTHER 30
#define UNKNOWN_PID 31

static struct gpu_process_ram_list ram_list;

/* Adds a list that was made for `asked`, ascending and ended by 0. */
static void add(const struct gpu_process *entries, size_t count, const pid_t *asked,
    const char *missing_on_first)
{
    struct gpu_process_list list = {0};
    const struct gpu_missing missing[2] = {{.ram = missing_on_first}};
    static const uint32_t positions[] = {3, 1};
    struct pid_owner_cache pid_owners = {0};
    pid_t descendants[] = {CHILD, CHILD + 1};
    struct gpu_tree tree = {.main = MAIN, .descendants = descendants, .n_descendants = 2};
    size_t n_tracked_pids = 0;
    while (asked[n_tracked_pids])
        n_tracked_pids++;
    for (size_t i = 0; i < count; i++)
        assert_true(gpu_process_list_add(&list, entries[i]));
    gpu_process_list_sort(&list);
    assert_true(gpu_process_list_set_tracked(&list, asked, n_tracked_pids));
    const struct gpu_process_reading reading = {&list, missing, positions, 2, 7};
    const struct pid_owner_search search = {&pid_owners, fixture("gpu-namespaces/proc"), &tree};
    gpu_process_ram_list_add(&ram_list, &reading, &search);
    gpu_process_list_finish(&list);
    pid_owner_cache_finish(&pid_owners);
}

static void assert_holds(size_t index, pid_t pid, double bytes)
{
    assert_in_range(index, 0, ram_list.count - 1);
    assert_int_equal(ram_list.entries[index].pid, pid);
    assert_number(ram_list.entries[index].ram_bytes, bytes);
}

static int empty(void **state)
{
    (void)state;
    gpu_process_ram_list_finish(&ram_list);
    return 0;
}

static const pid_t both[] = {MAIN, CHILD, 0}, none[] = {0};

TEST_WITH(adds_up_devices_and_clients, NULL, empty)
{
    const struct gpu_process entries[] = {
        {.device = 0, .pid = MAIN, .ram_bytes = 100}, /* compute */
        {.device = 0, .pid = MAIN, .ram_bytes = 70},  /* and graphics */
        {.device = 1, .pid = MAIN, .client = 7, .ram_bytes = 1000},
        {.device = 1, .pid = MAIN, .client = 8, .ram_bytes = 2000},
        {.device = 1, .pid = CHILD, .client = 7, .ram_bytes = 1000},
        {.device = 1, .pid = OTHER, .ram_bytes = 9},
        {.device = 1, .pid = UNKNOWN_PID, .ram_bytes = 9},
    };
    add(entries, 7, both, NULL);
    assert_int_equal(ram_list.count, 2);
    assert_holds(0, MAIN, 3100);
    assert_holds(1, CHILD, 1000);
    assert_int_equal(ram_list.entries[0].read_ns, 7);
}

TEST_WITH(keeps_what_each_holds_on_each_device, NULL, empty)
{
    const struct gpu_process entries[] = {
        {.device = 0, .pid = MAIN, .ram_bytes = 100}, /* the set's device 3 */
        {.device = 1, .pid = MAIN, .client = 7, .ram_bytes = 1000},
        {.device = 1, .pid = MAIN, .client = 8, .ram_bytes = 2000},
        {.device = 1, .pid = CHILD, .client = 7, .ram_bytes = 1000},
        {.device = 1, .pid = OTHER, .ram_bytes = 9},
    };
    static const struct gpu_use expected[] = {
        {.pid = MAIN, .device = 1, .ram_bytes = 3000},
        {.pid = CHILD, .device = 1, .ram_bytes = 1000},
        {.pid = MAIN, .device = 3, .ram_bytes = 100},
    };
    add(entries, 5, both, NULL);
    gpu_process_ram_list_merge(&ram_list);
    assert_int_equal(ram_list.held_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(ram_list.held[i].pid, expected[i].pid);
        assert_int_equal(ram_list.held[i].device, expected[i].device);
        assert_number(ram_list.held[i].ram_bytes, expected[i].ram_bytes);
    }
}

TEST_WITH(only_processes_tracked_at_the_list_have_0, NULL, empty)
{
    const struct gpu_process entries[] = {{.device = 1, .pid = CHILD + 1, .ram_bytes = 5}};
    add(entries, 1, both, NULL);
    assert_int_equal(ram_list.count, 3);
    assert_holds(0, MAIN, 0);
    assert_holds(1, CHILD, 0);
    assert_holds(2, CHILD + 1, 5); /* it began after the list was asked for, and is in it */
    assert_int_equal(empty(NULL), 0);
    add(NULL, 0, none, NULL);
    assert_int_equal(ram_list.count, 0);
}

TEST_WITH(what_no_device_reports_is_unknown, NULL, empty)
{
    const struct gpu_process unreported[] = {
        {.device = 0, .pid = MAIN, .ram_bytes = 100},
        {.device = 1, .pid = MAIN, .ram_bytes = NAN},
    };
    add(unreported, 2, both, "refused");
    assert_holds(0, MAIN, NAN);
    assert_holds(1, CHILD, 0); /* of the second device, which reports it */
}

TEST_WITH(a_process_that_ended_since_the_list_counts, NULL, empty)
{
    const pid_t ended[] = {UNKNOWN_PID, MAIN, 0};
    const struct gpu_process entries[] = {{.device = 0, .pid = UNKNOWN_PID, .ram_bytes = 12}};
    add(entries, 1, ended, NULL);
    assert_holds(0, UNKNOWN_PID, 12);
    assert_holds(1, MAIN, 0);
}

TEST_WITH(lists_of_several_drivers_are_merged, NULL, empty)
{
    const struct gpu_process first[] = {{.device = 0, .pid = MAIN, .ram_bytes = 1}};
    const struct gpu_process second[] = {{.device = 0, .pid = MAIN, .ram_bytes = 10},
        {.device = 0, .pid = CHILD, .ram_bytes = NAN},
        {.device = 1, .pid = CHILD, .ram_bytes = NAN}};
    add(first, 1, none, NULL);
    add(second, 3, both, NULL);
    gpu_process_ram_list_merge(&ram_list);
    assert_int_equal(ram_list.count, 2);
    assert_holds(0, MAIN, 11);
    assert_holds(1, CHILD, NAN);
}

RUN_TESTS(NULL, NULL)
