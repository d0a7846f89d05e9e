#include "machine/gpu/attribution.h"
#include "testing.h"

#include <math.h>

/* The fixture has processes 5000, 5007 and 30. */
#define MAIN 5000
#define CHILD 5007
#define OTHER 30
#define UNKNOWN_PID 31

static struct gpu_share shares[2];

static uint32_t attribute_list(const struct gpu_process *entries, size_t count, bool unproven)
{
    struct gpu_process_list list = {.pids_unproven = unproven};
    struct pid_owner_cache pid_owners = {0};
    pid_t descendants[] = {CHILD, CHILD + 1, CHILD + 2};
    struct gpu_tree tree = {.main = MAIN, .descendants = descendants, .n_descendants = 3};
    for (size_t i = 0; i < count; i++)
        assert_true(gpu_process_list_add(&list, entries[i]));
    gpu_process_list_sort(&list);
    const struct pid_owner_search search = {&pid_owners, fixture("gpu-namespaces/proc"), &tree};
    uint32_t unknown = gpu_attribute(&list, 2, &search, shares);
    gpu_process_list_finish(&list);
    pid_owner_cache_finish(&pid_owners);
    return unknown;
}

static uint32_t attribute(const struct gpu_process *entries, size_t count)
{
    return attribute_list(entries, count, false);
}

TEST(a_process_that_is_not_listed_has_0)
{
    assert_int_equal(attribute(NULL, 0), 0);
    assert_true(shares[1].main_ram_bytes == 0 && shares[1].combined_ram_bytes == 0);
    assert_true(shares[1].main_sm_percent == 0);
}

TEST(a_client_held_by_several_counts_once_in_each_sum)
{
    const struct gpu_process entries[] = {
        {.device = 1, .pid = CHILD + 1, .client = 7, .ram_bytes = 100, .sm_percent = 5},
        {.device = 1, .pid = MAIN, .client = 7, .ram_bytes = 100, .sm_percent = 5},
        {.device = 1, .pid = CHILD, .client = 7, .ram_bytes = 100, .sm_percent = 5},
        {.device = 1, .pid = MAIN, .client = 8, .ram_bytes = 30, .sm_percent = 1},
        {.device = 0, .pid = CHILD, .client = 7, .ram_bytes = 1000, .sm_percent = 2},
        {.device = 0, .pid = OTHER, .client = 9, .ram_bytes = 5000, .sm_percent = 50},
    };
    assert_int_equal(attribute(entries, 6), 0);
    assert_true(shares[1].main_ram_bytes == 130);
    assert_true(shares[1].descendants_ram_bytes == 100);
    assert_true(shares[1].combined_ram_bytes == 130);
    assert_true(shares[1].descendants_sm_percent == 5);
    assert_true(shares[1].all_sm_percent == 6);
    assert_true(shares[0].all_sm_percent == 52);
    assert_true(shares[0].main_ram_bytes == 0);
    assert_true(shares[0].combined_ram_bytes == 1000);
}

TEST(sums_with_unknown_parts_are_lower_bounds)
{
    const struct gpu_process entries[] = {
        {.pid = CHILD, .ram_bytes = NAN, .sm_percent = NAN},
        {.pid = CHILD + 1, .ram_bytes = 40, .sm_percent = 3},
        {.pid = CHILD + 2, .ram_bytes = NAN, .sm_percent = NAN},
        {.pid = MAIN, .ram_bytes = NAN, .sm_percent = NAN},
        {.pid = MAIN, .ram_bytes = NAN, .sm_percent = 4},
        {.device = 1, .pid = CHILD, .ram_bytes = 0, .sm_percent = 0},
        {.device = 1, .pid = MAIN, .ram_bytes = NAN, .sm_percent = NAN},
    };
    attribute(entries, 7);
    assert_true(isnan(shares[0].main_ram_bytes));
    assert_true(shares[0].main_sm_percent == 4);
    assert_true(shares[0].descendants_ram_bytes == 40);
    assert_true(shares[0].combined_ram_bytes == 40);
    assert_true(shares[0].ram_is_at_least && shares[0].sm_is_at_least);
    assert_true(shares[1].descendants_ram_bytes == 0);
    assert_true(isnan(shares[1].combined_ram_bytes) && isnan(shares[1].main_sm_percent));
}

/* The host's pids can be equal to ours. A client was found in the files of our own process. */
TEST(pids_that_may_be_of_another_namespace_are_unknown)
{
    const struct gpu_process entries[] = {
        {.pid = MAIN, .ram_bytes = 10, .sm_percent = 4},
        {.pid = CHILD, .ram_bytes = 20, .sm_percent = 5},
        {.pid = OTHER, .ram_bytes = 30, .sm_percent = 6},
        {.device = 1, .pid = MAIN, .client = 3, .ram_bytes = 5},
    };
    assert_int_equal(attribute_list(entries, 4, true), 3);
    assert_true(shares[0].combined_ram_bytes == 0 && shares[0].unattributed_ram_bytes == 60);
    assert_true(shares[0].n_visible == 0 && shares[0].n_tracked == 0);
    assert_true(shares[1].main_ram_bytes == 5);
}

TEST(unknown_pids_and_their_memory_are_reported)
{
    const struct gpu_process entries[] = {
        {.pid = UNKNOWN_PID, .ram_bytes = 10, .sm_percent = NAN},
        {.pid = UNKNOWN_PID + 1, .ram_bytes = NAN, .sm_percent = NAN},
        {.device = 1, .pid = UNKNOWN_PID, .client = 3, .ram_bytes = 5},
    };
    assert_int_equal(attribute(entries, 3), 3);
    assert_int_equal(shares[0].n_unattributed, 2);
    assert_int_equal(shares[1].n_unattributed, 1);
    assert_true(shares[0].unattributed_ram_bytes == 10);
    assert_true(shares[1].unattributed_ram_bytes == 5);
    assert_true(shares[0].combined_ram_bytes == 0);
}

TEST(a_descendant_that_ended_since_the_list_counts)
{
    const struct gpu_process entries[] = {{.pid = UNKNOWN_PID, .ram_bytes = 10},
        {.pid = MAIN, .ram_bytes = 2}, {.pid = UNKNOWN_PID + 1, .ram_bytes = 70}};
    const pid_t asked[] = {UNKNOWN_PID, MAIN};
    struct gpu_process_list list = {0};
    struct pid_owner_cache pid_owners = {0};
    struct gpu_tree tree = {.main = MAIN};
    for (size_t i = 0; i < 3; i++)
        assert_true(gpu_process_list_add(&list, entries[i]));
    assert_true(gpu_process_list_set_tracked(&list, asked, 2));
    gpu_process_list_sort(&list);
    const struct pid_owner_search search = {&pid_owners, fixture("gpu-namespaces/proc"), &tree};
    gpu_attribute(&list, 1, &search, shares);
    assert_true(shares[0].descendants_ram_bytes == 10);
    assert_true(shares[0].main_ram_bytes == 2);
    assert_int_equal(shares[0].n_unattributed, 1);
    gpu_process_list_finish(&list);
    pid_owner_cache_finish(&pid_owners);
}

RUN_TESTS(NULL, NULL)
