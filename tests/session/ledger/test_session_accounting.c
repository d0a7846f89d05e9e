#include "session/ledger/ledger.h"
#include "session/sampler/session_counts.h"

#include "testing.h"

#include <math.h>

TEST(sums_and_differences)
{
    struct session_counts counts = {0}, before = {0};
    struct rusage usage = {.ru_utime = {1, 500000},
        .ru_stime = {0, 250000},
        .ru_minflt = 7,
        .ru_nvcsw = 3,
        .ru_inblock = 8,
        .ru_maxrss = 100};
    session_counts_add(&counts, &usage);
    usage.ru_maxrss = 50;
    session_counts_add(&counts, &usage);
    assert_int_equal(session_counts_cpu_ns(&counts), 3500000000);
    assert_int_equal(counts.largest_rss_bytes, 100 * 1024);
    session_counts_add(&before, &usage);
    session_counts_subtract(&counts, &before);
    assert_int_equal(session_counts_cpu_ns(&counts), 1750000000);
    assert_int_equal(counts.blocks_read, 8);
    struct gput_accounting accounting;
    session_accounting_clear(&accounting);
    session_accounting_set_counts(&accounting, &counts.tasks);
    assert_true(accounting.minor_page_faults == 7);
    assert_true(accounting.voluntary_context_switches == 3);
}

TEST(what_was_dropped_before_it_was_written_did_not_reach_storage)
{
    struct gput_accounting accounting;
    session_accounting_clear(&accounting);
    assert_true(isnan(accounting.storage_dirtied_bytes));
    session_accounting_set_counts(
        &accounting, &(struct task_counts){.write_bytes = 5000, .cancelled_write_bytes = 4000});
    assert_true(accounting.storage_write_bytes == 1000);
    assert_true(accounting.storage_dirtied_bytes == 5000);
    /* Of a file that other processes had written. */
    session_accounting_set_counts(
        &accounting, &(struct task_counts){.write_bytes = 5000, .cancelled_write_bytes = 6000});
    assert_true(accounting.storage_write_bytes == 0);
}

TEST(what_was_not_counted_is_missing_and_not_zero)
{
    struct gput_accounting accounting;
    session_accounting_clear(&accounting);
    struct session_counts counts = {0};
    session_counts_add_io_fd(&counts, -1);
    assert_int_equal(counts.without_io, 1);
    session_accounting_set_counts(&accounting, &(struct task_counts){.lacks_io = true});
    assert_true(isnan(accounting.read_bytes));
    assert_true(isnan(accounting.kernel_cpu_seconds));
    assert_true(isnan(accounting.processes_missed));
    assert_true(isnan(accounting.system_network_sent_bytes));
}

TEST(no_part_is_less_than_nothing)
{
    for (int i = 1; i < 1000; i++) {
        double whole = 0.05 + i * 1e-6;
        struct gput_accounting accounting = {.kernel_cpu_seconds = whole,
            .kernel_user_cpu_seconds = i * 1e-3,
            .kernel_system_cpu_seconds = -1e-6};
        session_accounting_fit_parts(&accounting);
        assert_true(accounting.kernel_user_cpu_seconds == whole);
        assert_true(accounting.kernel_system_cpu_seconds == 0);
    }
}

RUN_TESTS(NULL, NULL)
