#include "model/results_identity.h"

#include "testing.h"

#include <math.h>
#include <string.h>

static struct gput_results make(void)
{
    struct gput_results results = {.n_gpus = 0};
    results_forget(&results);
    strcpy(results.identity.host, "node1");
    strcpy(results.identity.start, "2026-01-31T23:59:59.250000Z");
    results.identity.rank = 0;
    results.static_data.allowed_ram_bytes = 8e9;
    results.static_data.allowed_cores = 1.5;
    results.allowed.pids_max = 100;
    return results;
}

TEST(names_are_unique)
{
    struct results_identity_column columns[RESULTS_IDENTITY_COLUMNS];
    size_t count = results_identity_columns(columns);
    assert_true(count > 30 && count < RESULTS_IDENTITY_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(columns[i].name) < RESULTS_IDENTITY_NAME - 1);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(columns[i].name, columns[j].name);
    }
}

TEST(names_of_figures_end_in_their_unit)
{
    static const char *const wanted[] = {"elapsed_seconds", "max_combined_ram_bytes",
        "mean_cpu_system_sum_utilization_percent", "peaks_combined_bytes",
        "peaks_combined_at_most_bytes", "accounting_cpu_seconds_kernel", "tracker_node_seconds"};
    struct results_identity_column columns[RESULTS_SESSION_COLUMNS];
    size_t count = results_session_columns(columns), found = 0;
    assert_true(count > 100 && count < RESULTS_SESSION_COLUMNS);
    for (size_t i = 0; i < count; i++) {
        assert_true(strlen(columns[i].name) < RESULTS_IDENTITY_NAME - 1);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(columns[i].name, columns[j].name);
        for (size_t j = 0; j < sizeof wanted / sizeof *wanted; j++)
            found += columns[i].is_figure && strcmp(columns[i].name, wanted[j]) == 0;
    }
    assert_int_equal(found, sizeof wanted / sizeof *wanted);
}

TEST(figures_are_written_and_read_back)
{
    struct gput_results results = make(), read = {.n_gpus = 0};
    struct doc *object = doc_create_object();
    results.elapsed_seconds = 1.5;
    results.max[GPUT_COMBINED_RAM] = 4096;
    results.peaks.combined.at_most_bytes = 8192;
    results.accounting.kernel_cpu_seconds = 0.25;
    results.accounting.processes_seen = 3;
    results_identity_add(&results, object);
    assert_null(doc_get(object, "elapsed_seconds"));
    results_forget(&read);
    results_identity_read(object, &read);
    assert_true(isnan(read.elapsed_seconds));
    results_figures_add(&results, object);
    results_identity_read(object, &read);
    assert_true(read.elapsed_seconds == 1.5 && read.max[GPUT_COMBINED_RAM] == 4096);
    assert_true(read.peaks.combined.at_most_bytes == 8192 && isnan(read.peaks.combined.bytes));
    assert_true(read.accounting.kernel_cpu_seconds == 0.25);
    assert_int_equal(read.accounting.processes_seen, 3);
    doc_destroy(object);
}

TEST(what_is_known_is_written_and_read_back)
{
    struct gput_results results = make(), read = {.n_gpus = 0};
    struct doc *object = doc_create_object();
    results_identity_add(&results, object);
    assert_string_equal(doc_get(object, "host")->string, "node1");
    assert_int_equal(doc_get(object, "rank")->integer, 0);
    assert_int_equal(doc_get(object, "allowed_ram_bytes")->integer, 8000000000);
    assert_true(doc_get(object, "allowed_cores")->number == 1.5);
    assert_null(doc_get(object, "local_rank"));
    assert_null(doc_get(object, "user"));
    results_forget(&read);
    results_identity_read(object, &read);
    assert_memory_equal(&read.identity, &results.identity, sizeof read.identity);
    assert_true(read.static_data.allowed_cores == 1.5 && read.allowed.pids_max == 100);
    assert_true(isnan(read.allowed.gpus));
    doc_destroy(object);
}

TEST(what_is_there_is_not_added_again)
{
    struct gput_results results = make();
    struct doc *object = doc_create_object();
    doc_add_int(object, "rank", 7);
    results_identity_add(&results, object);
    assert_int_equal(doc_get(object, "rank")->integer, 7);
    doc_destroy(object);
}

/* Of other versions, and of other programs. */
TEST(what_does_not_fit_is_not_known)
{
    struct gput_results read = {.n_gpus = 0};
    struct doc *object = doc_create_object();
    doc_add_string(object, "rank", "3");
    doc_add_int(object, "host", 3);
    doc_add_null(object, "user");
    doc_add_string(object, "of_a_later_version", "x");
    results_forget(&read);
    results_identity_read(object, &read);
    assert_true(isnan(read.identity.rank));
    assert_string_equal(read.identity.host, "");
    doc_destroy(object);
}

TEST(times_are_seconds)
{
    assert_true(results_identity_seconds("1970-01-02T00:00:01.250000Z") == 86401.25);
    assert_true(results_identity_seconds("1970-01-01T00:00:05Z") == 5);
    assert_true(isnan(results_identity_seconds("")));
    assert_true(isnan(results_identity_seconds("yesterday")));
}

RUN_TESTS(NULL, NULL)
