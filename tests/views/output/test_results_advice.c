/* Advice rests on figures; without them there is none. */
#include "results.h"
#include "testing.h"
#include "views/output/results_advice.h"

#include <math.h>
#include <string.h>

static char texts[MAX_ADVICE][ADVICE_SIZE];

/* A command that used what it had for a minute. */
static struct gput_results busy_minute(void)
{
    struct gput_results results;
    memset(&results, 0, sizeof results);
    results.static_data.ram_system_capacity_bytes = 32e9;
    results.static_data.allowed_ram_bytes = NAN;
    results.static_data.allowed_cores = NAN;
    results.static_data.n_expected_cores = 4;
    results.static_data.system_core_count = 4;
    results.max[GPUT_COMBINED_RAM] = 8e9;
    results.max[GPUT_SYSTEM_RAM] = 12e9;
    results.elapsed_seconds = 60;
    results.accounting.kernel_cpu_seconds = 220;
    results.accounting.captured_percent = 99;
    results.tracker.ticks = 60;
    return results;
}

static void expect(const struct gput_results *results, const char *text)
{
    size_t count = results_advice(results, texts);
    assert_int_equal(count, text ? 1 : 0);
    if (text)
        assert_string_equal(texts[0], text);
}

TEST(there_is_none_where_all_was_used)
{
    struct gput_results results = busy_minute();
    expect(&results, NULL);
}

TEST(ram_near_its_limit)
{
    struct gput_results results = busy_minute();
    results.static_data.allowed_ram_bytes = 8.25e9;
    expect(&results, "RAM peaked at 97 % of its limit of 8.25 GB.");
    results.identity.signal = 9;
    expect(&results,
        "RAM peaked at 97 % of its limit of 8.25 GB, and it was killed: out of memory, most "
        "likely.");
    results.identity.signal = 0;
    results.static_data.allowed_ram_bytes = 64e9;
    expect(&results, "RAM peaked at 12 % of the 64 GB that were allowed.");
    results.static_data.allowed_ram_bytes = 16e9;
    expect(&results, NULL);
}

/* RSS has pages of files that the group was not charged for, and it was charged for page cache. */
TEST(ram_near_the_limit_of_a_group_is_what_the_group_counts)
{
    struct gput_results results = busy_minute();
    struct gput_allowed *allowed = &results.allowed;
    results.static_data.allowed_ram_bytes = allowed->memory_max_bytes = 5e9;
    results.max[GPUT_COMBINED_RAM] = 8e9;
    allowed->limit_ram_bytes = NAN;
    results.peaks.limit_group.bytes = 2e9;
    expect(&results, NULL);
    results.peaks.limit_group.bytes = 4.9e9;
    expect(&results, "RAM peaked at 98 % of its limit of 5 GB.");
    results.max[GPUT_COMBINED_RAM] = 2e9; /* the rest is page cache */
    expect(&results, NULL);
    results.max[GPUT_COMBINED_RAM] = 8e9;
    results.peaks.limit_group.bytes = NAN;
    expect(&results, NULL);
    allowed->limit_ram_bytes = 5e9; /* which is compared with RSS */
    expect(&results, "RAM peaked at 160 % of its limit of 5 GB.");
}

TEST(processes_that_were_killed_for_want_of_memory)
{
    struct gput_results results = busy_minute();
    results.accounting.oom_killed = 1;
    snprintf(results.accounting.oom_killed_reason, sizeof results.accounting.oom_killed_reason,
        "counted by the command's own control group; version 1: without groups below it");
    expect(&results,
        "1 process was killed: out of memory (counted by the command's own control group).");
    results.accounting.oom_killed = 3;
    expect(&results,
        "3 processes were killed: out of memory (counted by the command's own control group).");
}

TEST(a_machine_without_free_ram)
{
    struct gput_results results = busy_minute();
    results.max[GPUT_SYSTEM_RAM] = 31e9;
    expect(&results, "The machine's RAM was 97 % in use.");
}

TEST(cores_that_were_not_used)
{
    struct gput_results results = busy_minute();
    results.accounting.kernel_cpu_seconds = 60;
    expect(&results, "1.0 of 4 cores used.");
    results.static_data.allowed_cores = 1;
    expect(&results, NULL);
    results.static_data.allowed_cores = 64;
    results.accounting.kernel_cpu_seconds = NAN;
    expect(&results, NULL);
    results.elapsed_seconds = results.accounting.kernel_cpu_seconds = 0.9;
    results.accounting.short_lived_cpu_seconds = 0.9; /* `gpu-tracker run true` is not waste */
    expect(&results, NULL);
}

TEST(few_cores_have_the_figure_of_the_summary)
{
    struct gput_results results = busy_minute();
    results.accounting.kernel_cpu_seconds = 1.7;
    expect(&results, "0.03 of 4 cores used.");
    results.accounting.kernel_cpu_seconds = 0.01;
    expect(&results, "under 0.01 of 4 cores used.");
}

TEST(cores_that_others_kept_busy)
{
    struct gput_results results = busy_minute();
    results.accounting.kernel_cpu_seconds = 60;
    results.mean[GPUT_CPU_SYSTEM_SUM] = 380;
    expect(&results, "1.0 of 4 cores used."); /* it did not wait for one */
    results.accounting.run_queue_wait_seconds = NAN;
    expect(&results, "1.0 of 4 cores used: others kept 2.8 of them busy.");
    results.accounting.run_queue_wait_seconds = 30;
    expect(&results, "1.0 of 4 cores used: others kept 2.8 of them busy.");
    results.elapsed_seconds = 2; /* already of a short run */
    results.accounting.kernel_cpu_seconds = 2;
    expect(&results, "1.0 of 4 cores used: others kept 2.8 of them busy.");
    results.mean[GPUT_CPU_SYSTEM_SUM] = 300;
    expect(&results, NULL);
    results.elapsed_seconds = 60;
    results.accounting.kernel_cpu_seconds = 60;
    expect(&results, "1.0 of 4 cores used.");
    results.mean[GPUT_CPU_SYSTEM_SUM] = 380; /* others had the 60 that are not allowed */
    results.static_data.system_core_count = 64;
    expect(&results, "1.0 of 4 cores used.");
    results.mean[GPUT_CPU_SYSTEM_SUM] = NAN;
    expect(&results, "1.0 of 4 cores used.");
}

TEST(gpus_that_were_idle_or_nearly)
{
    struct gput_results results = busy_minute();
    results.n_gpus = 3;
    results.gpus = test_gpus;
    memset(test_gpus, 0, sizeof test_gpus);
    for (unsigned i = 0; i < 3; i++) {
        results.gpus[i].selected = i > 0;
        results.gpus[i].max_combined_ram_bytes = 1e9;
        results.gpus[i].ram_capacity_bytes = 80e9;
        results.gpus[i].max_utilization_percent = results.gpus[i].mean_utilization_percent = 90;
    }
    results.gpus[0].max_utilization_percent = 0; /* it was not asked for */
    results.gpus[1].max_utilization_percent = results.gpus[1].mean_utilization_percent = 0;
    expect(&results, "GPU 1 was idle all the time.");
    results.gpus[1].max_utilization_percent = 100;
    results.gpus[1].mean_utilization_percent = 12;
    expect(&results, "GPU 1 was busy 12 % of the time.");
    results.gpus[1].max_utilization_percent = results.gpus[1].mean_utilization_percent = NAN;
    expect(&results, NULL);
    results.gpus[2].max_ram_bytes = 76e9;
    expect(&results, "The RAM of GPU 2 was 95 % in use.");
}

/* Three that the command sees, of which it used none. */
static struct gput_results unused_gpus(void)
{
    struct gput_results results = busy_minute();
    results.allowed.gpus = NAN;
    results.n_gpus = 3;
    results.gpus = test_gpus;
    memset(test_gpus, 0, sizeof test_gpus);
    for (unsigned i = 0; i < 3; i++) {
        results.gpus[i].selected = true;
        results.gpus[i].ram_capacity_bytes = 80e9;
        results.gpus[i].max_utilization_percent = results.gpus[i].mean_utilization_percent = 0;
    }
    return results;
}

TEST(gpus_of_a_machine_are_not_the_business_of_every_command)
{
    struct gput_results results = unused_gpus();
    expect(&results, NULL);
    results.gpus[0].max_combined_ram_bytes = results.gpus[1].max_combined_ram_bytes = 4e9;
    results.gpus[0].max_utilization_percent = results.gpus[0].mean_utilization_percent = 90;
    results.gpus[1].max_utilization_percent = results.gpus[1].mean_utilization_percent = 90;
    expect(&results, "GPU 2 was not used by the command.");
    results = unused_gpus();
    results.n_gpus = 1;
    expect(&results, "GPU 0 was not used by the command.");
    results.elapsed_seconds = 3;
    results.accounting.kernel_cpu_seconds = 3;
    expect(&results, NULL);
}

TEST(a_gpu_that_was_asked_for_is_missed_after_a_second)
{
    struct gput_results results = unused_gpus();
    results.n_gpus = 1;
    results.allowed.gpus = 1;
    results.elapsed_seconds = results.accounting.kernel_cpu_seconds = 3;
    expect(&results, "GPU 0 was not used by the command.");
    results.allowed.gpus = NAN;
    expect(&results, NULL);
    results.allowed.named_gpus = 1; /* --guuids */
    expect(&results, "GPU 0 was not used by the command.");
    results.gpus[0].max_utilization_percent = 95; /* by others */
    expect(&results, "GPU 0 was not used by the command.");
    results.gpu_peaks.late_list_seconds = 2;
    expect(&results, NULL);
    results.gpu_peaks.late_list_seconds = 0;
    results.gpus[0].max_combined_ram_bytes = NAN; /* drivers hide it in a container */
    expect(&results, NULL);
    results.gpus[0].max_combined_ram_bytes = 0;
    results.elapsed_seconds = results.accounting.kernel_cpu_seconds = 0.5;
    expect(&results, NULL);
}

TEST(samples_that_miss_much)
{
    struct gput_results results = busy_minute();
    results.accounting.captured_percent = 40;
    expect(&results, "Samples saw 40 % of the CPU time. Sample more often (--st).");
    results = busy_minute();
    results.tracker.late_ticks = 30;
    expect(&results, "50 % of the samples were late: the machine was overloaded.");
    results = busy_minute();
    results.tracker.rows_lost = 3;
    expect(&results, "3 samples could not be written to the tracking file.");
}

TEST(processes_that_lived_shortly)
{
    struct gput_results results = busy_minute();
    results.accounting.short_lived_processes = 1601;
    results.accounting.short_lived_cpu_seconds = 88;
    expect(&results, "At least 40 % of CPU time in 1601 or more processes under 50 ms.");
    results.accounting.short_lived_cpu_seconds = 22;
    expect(&results, NULL);
    results.accounting.short_lived_processes = results.accounting.short_lived_cpu_seconds = NAN;
    expect(&results, NULL);
    results.accounting.short_lived_cpu_seconds = 88;
    results.accounting.kernel_cpu_seconds = NAN;
    expect(&results, NULL);
}

TEST(a_short_session_gets_no_advice_on_what_it_left)
{
    struct gput_results results = busy_minute();
    results.elapsed_seconds = 3;
    results.accounting.kernel_cpu_seconds = 0.1;
    results.accounting.captured_percent = 10;
    expect(&results, NULL);
}

RUN_TESTS(NULL, NULL)
