/* What is missing of the tracked processes on a device, given its list and its own figures. */
#include "machine/gpu/attribution.h"
#include "testing.h"

#include <math.h>
#include <string.h>

#define GB 1e9

static struct gpu_process_list list;
static struct gpu_share share;
static struct gpu_device device;
static struct gpu_device_sample sample;
static bool has_listed;

/* A list that was made for tracked processes and shows no process, of a busy GPU. */
static int begin(void **state)
{
    (void)state;
    list = (struct gpu_process_list){.n_tracked_pids = 1};
    share = (struct gpu_share){0};
    device = (struct gpu_device){0};
    sample = (struct gpu_device_sample){.ram_used_bytes = 9 * GB, .utilization_percent = 40};
    has_listed = false;
    return 0;
}

static struct gpu_missing find(void)
{
    return gpu_missing_find(&(struct gpu_listed){&list, 0, &share, &device, &sample, has_listed});
}

TEST_WITH(an_empty_list_of_a_gpu_in_use_leaves_ram_unknown, begin, NULL)
{
    struct gpu_missing missing = find();
    assert_non_null(strstr(missing.ram, "lists no process while memory is in use"));
    assert_string_equal(missing.sm, missing.ram);
    assert_true(missing.ram_is_hidden && missing.ram_may_be_held && missing.sm_may_be_used);
    assert_true(gpu_reason_is_hidden(missing.ram));
    sample.ram_used_bytes = sample.utilization_percent = NAN;
    assert_true(find().ram_may_be_held && find().sm_may_be_used);
}

TEST_WITH(an_empty_list_of_an_unused_gpu_means_0, begin, NULL)
{
    sample.ram_used_bytes = 20e6;
    assert_null(find().ram);
    assert_null(find().sm);
    assert_false(find().ram_is_hidden || find().ram_may_be_held);
}

TEST_WITH(an_idle_gpu_has_0_utilization, begin, NULL)
{
    sample.utilization_percent = 0;
    assert_true(find().ram_is_hidden);
    assert_null(find().sm);
}

TEST_WITH(system_ram_in_use_does_not_show_use_of_the_gpu, begin, NULL)
{
    device.shares_ram = true;
    assert_true(find().ram_is_hidden);
    sample.utilization_percent = 0;
    assert_null(find().ram);
}

TEST_WITH(a_driver_that_lists_visible_processes_hides_none, begin, NULL)
{
    has_listed = true;
    share.n_unattributed = 2;
    assert_null(find().ram);
    assert_null(find().sm);
}

TEST_WITH(pids_that_are_not_visible_may_be_tracked, begin, NULL)
{
    share.n_unattributed = 1;
    sample.ram_used_bytes = 20e6;
    assert_non_null(strstr(find().ram, "pids that are not visible here"));
    list.only_tracked = true; /* KFD's next to those of the card's clients */
    assert_true(find().ram_is_hidden);
}

TEST_WITH(pids_that_are_not_proven_may_be_tracked, begin, NULL)
{
    share.n_unattributed = 1;
    list.pids_unproven = true;
    assert_non_null(strstr(find().ram, "pids that may be of the host"));
    assert_true(gpu_reason_is_hidden(find().ram));
    list.none_tracked_has_files = true;
    assert_null(find().ram);
}

TEST_WITH(processes_without_a_file_of_the_driver_use_nothing, begin, NULL)
{
    list.none_tracked_has_files = true;
    assert_null(find().ram);
    share.n_unattributed = 1;
    assert_null(find().ram);
    assert_null(find().sm);
}

TEST_WITH(a_list_from_before_tracking_leaves_figures_unknown, begin, NULL)
{
    list.n_tracked_pids = 0;
    assert_non_null(strstr(find().ram, "lists no process"));
    assert_true(find().ram_is_hidden);
    assert_false(find().ram_may_be_held || find().sm_may_be_used);
}

TEST_WITH(a_list_of_only_tracked_processes_is_complete, begin, NULL)
{
    list.only_tracked = true;
    assert_null(find().ram);
}

TEST_WITH(missing_samples_are_not_0_while_the_gpu_is_busy, begin, NULL)
{
    share.n_tracked = share.n_visible = 1;
    has_listed = true;
    list.lacks_samples[0] = true;
    assert_non_null(strstr(find().sm, "no samples"));
    assert_true(find().sm_is_hidden && find().sm_may_be_used && find().lacks_samples);
    sample.utilization_percent = 0;
    assert_null(find().sm);
    assert_false(find().lacks_samples);
    sample.utilization_percent = 40;
    share.n_tracked = 0; /* ours are not on the GPU */
    assert_null(find().sm);
}

TEST_WITH(rocm_programs_at_0_percent_are_unknown, begin, NULL)
{
    share.n_tracked = 1;
    list.only_tracked = list.lacks_compute[0] = true;
    assert_non_null(strstr(find().sm, "ROCm"));
    assert_false(find().lacks_samples);
    share.main_sm_percent = 5; /* of its graphics: at least */
    assert_null(find().sm);
}

TEST_WITH(figures_missing_in_the_list_are_missing, begin, NULL)
{
    list.ram_missing[0] = list.sm_missing[0] = "denied";
    assert_string_equal(find().ram, "denied");
    assert_string_equal(find().sm, "denied");
    assert_true(find().ram_may_be_held);
    begin(NULL);
    has_listed = true;
    share.combined_ram_bytes = NAN;
    assert_non_null(strstr(find().ram, "does not report it for the tracked processes"));
    assert_true(find().ram_may_be_held);
    assert_false(find().ram_is_hidden);
}

RUN_TESTS(NULL, NULL)
