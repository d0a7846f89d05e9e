#include "base/file.h"
#include "model/results_columns.h"
#include "results.h"
#include "testing.h"

#include <math.h>
#include <string.h>

/* Nothing is known. */
static void clear(double *figures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        figures[i] = NAN;
}

static struct gput_results no_results(void)
{
    struct gput_results results;
    memset(&results, 0, sizeof results);
    clear(results.max, GPUT_MEASUREMENT_COUNT);
    clear(results.now.values, GPUT_MEASUREMENT_COUNT);
    clear(results.now.watts, GPUT_ENERGY_FIGURE_COUNT);
    clear(&results.now.system_cpu_seconds, 3);
    clear(&results.energy.machine.package, 8);
    clear(&results.energy.main, 8);
    results.accounting.sampled_cpu_seconds = NAN;
    clear(&results.accounting.read_bytes, 5);
    results.accounting.system_network_received_bytes = NAN;
    results.accounting.system_network_sent_bytes = NAN;
    results.static_data.ram_system_capacity_bytes = NAN;
    results.static_data.allowed_ram_bytes = results.static_data.allowed_cores = NAN;
    results.allowed = (struct gput_allowed){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    identity_forget(&results.identity);
    results.tracker.rss_bytes = NAN;
    clear(results.time_went.seconds_of, WALL_CAUSE_COUNT);
    return results;
}

/* Figures whose pages are tests/fixtures/output/metrics.prom and .openmetrics. */
static struct gput_results make_results(void)
{
    struct gput_results results = no_results();
    results.static_data = (struct gput_static_data){.ram_system_capacity_bytes = 33567825920.0,
        .gpu_ram_system_capacity_bytes = 150754820096.0,
        .system_core_count = 16,
        .system_gpu_count = 2,
        .allowed_ram_bytes = 8e9,
        .allowed_cores = 1.5};
    strcpy(results.identity.host, "node1");
    strcpy(results.identity.launcher, "Open MPI");
    strcpy(results.identity.job_id, "a \"job\"");
    strcpy(results.identity.command, "train");
    results.identity.pid = 4711;
    strcpy(results.identity.start, "1970-01-01T00:16:40.250000Z");
    strcpy(results.identity.end, "1970-01-01T00:18:20.500000Z");
    results.identity.exit_status = 3;
    results.identity.rank = 3;
    results.identity.world_size = 4;
    results.elapsed_seconds = 100.25;
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        bool percent =
            gput_measurement((enum gput_measurement_id)i)->quantity == GPUT_QUANTITY_PERCENT;
        results.now.values[i] = percent ? i : 4096.0 * (i + 1);
        results.max[i] = results.now.values[i] * 2;
    }
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++)
        results.now.watts[i] = 10.5 + i;
    results.now.system_cpu_seconds = 400;
    results.now.main_cpu_seconds = 90.5;
    results.now.descendants_cpu_seconds = 9.5;
    results.accounting.sampled_cpu_seconds = 100;
    results.accounting.processes_seen = 7;
    results.accounting.read_bytes = 4096;
    results.accounting.write_bytes = 1e9;
    results.accounting.storage_read_bytes = 0; /* and what was written is not reported */
    results.accounting.system_network_received_bytes = 1e17;
    results.accounting.system_network_sent_bytes = 0;
    double *joules = &results.energy.machine.package;
    for (int i = 0; i < 8; i++)
        joules[i] = 1000 + i;
    results.energy.main = 300;
    results.energy.descendants = 30;
    results.energy.combined = 330;
    results.energy.co2e_grams = 0.033;
    results.time_went.seconds_of[WALL_COMPUTING] = 40.5;
    results.time_went.seconds_of[WALL_CPU] = 49.75;
    results.time_went.seconds_of[WALL_PIPE] = 10;
    results.tracker.cpu_seconds = 0.0125;
    results.tracker.rss_bytes = 3645440;
    results.tracker.ticks = 1000;
    results.tracker.late_ticks = 3;
    results.n_sources = 2;
    results.sources[0] = (struct gput_source){"cpu_energy", GPUT_SOURCE_EXACT, "RAPL"};
    results.sources[1] = (struct gput_source){"gpu_energy", GPUT_SOURCE_SAMPLED, "stood still"};
    results.n_gpus = 2;
    results.gpus = test_gpus;
    memset(test_gpus, 0, sizeof test_gpus);
    for (size_t i = 0; i < 2; i++) {
        results_forget_numbers(results_gpu_list(), &results.gpus[i]);
        results.gpus[i].ram_capacity_bytes = 75377410048.0;
    }
    struct gput_gpu *first = &results.gpus[0];
    strcpy(first->uuid, "GPU-1");
    strcpy(first->name, "A \"quoted\" \\ GPU\nof two lines");
    strcpy(first->vendor, "nvidia");
    strcpy(first->pci_address, "0000:01:00.0");
    first->now.ram_bytes = 1e9;
    first->now.combined_ram_bytes = 5e8;
    first->now.utilization_percent = 37.5;
    first->now.power_watts = 250.5;
    first->now.joules = 25000;
    first->now.temperature_celsius = 61;
    first->now.graphics_clock_mhz = 1755;
    first->power_limit_watts = 700;
    first->power_cap_seconds = 12.5;
    first->pcie_received_bytes = 4096;
    strcpy(results.gpus[1].uuid, "GPU-2");
    return results;
}

static void assert_like_fixture(enum gput_format format, const char *name)
{
    struct gput_results results = make_results();
    struct str expected = {0};
    char *text;
    assert_int_equal(file_read(fixture(name), &expected, NULL), GPUT_OK);
    assert_int_equal(gput_results_render(&results, NULL, format, &text, NULL, NULL), GPUT_OK);
    assert_string_equal(text, str_text(&expected));
    free(text);
    str_finish(&expected);
}

TEST(results_are_written_as_prometheus_reads_them)
{
    assert_like_fixture(GPUT_FORMAT_PROMETHEUS, "output/metrics.prom");
}

TEST(results_are_written_as_openmetrics)
{
    assert_like_fixture(GPUT_FORMAT_OPENMETRICS, "output/metrics.openmetrics");
}

TEST(a_label_is_never_long)
{
    struct gput_results results = make_results();
    char *text;
    memset(results.identity.command, 'a', sizeof results.identity.command - 1);
    results.identity.command[sizeof results.identity.command - 1] = '\0';
    assert_int_equal(
        gput_results_render(&results, NULL, GPUT_FORMAT_PROMETHEUS, &text, NULL, NULL), GPUT_OK);
    const char *command = strstr(text, ",command=\"");
    assert_non_null(command);
    /* The sign for what is cut has three bytes, none of which is ASCII. */
    assert_int_equal(strspn(command + strlen(",command=\""), "a"), 127 - 3);
    assert_memory_equal(command + strlen(",command=\"") + 127 - 3, "???\"", 4);
    free(text);
}

TEST(labels_of_the_user_go_first)
{
    struct gput_results results = make_results();
    struct gput_results_render_options options = gput_results_render_options_default();
    char *text;
    options.labels = "job=train,version=\"x\"";
    assert_int_equal(
        gput_results_render(&results, &options, GPUT_FORMAT_PROMETHEUS, &text, NULL, NULL),
        GPUT_OK);
    assert_non_null(strstr(text, "gputracker_build_info{job=\"train\",version=\"\\\"x\\\"\"} 1\n"));
    assert_non_null(strstr(text, "\ngputracker_system_cores{job=\"train\",version="));
    assert_non_null(strstr(text, ",gpu=\"0\",uuid=\"GPU-1\"} 250.5\n"));
    assert_non_null(strstr(text, ",cause=\"cpu_wait\"} 49.75\n"));
    free(text);
    options.labels = "cause=x"; /* which would make one series of them */
    assert_int_equal(
        gput_results_render(&results, &options, GPUT_FORMAT_PROMETHEUS, &text, NULL, NULL),
        GPUT_OK);
    assert_null(strstr(text, "gputracker_time_went_seconds"));
    free(text);
}

TEST(what_is_not_known_is_left_out)
{
    struct gput_results results = no_results();
    char *text;
    assert_int_equal(
        gput_results_render(&results, NULL, GPUT_FORMAT_PROMETHEUS, &text, NULL, NULL), GPUT_OK);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "memory_used"));
    assert_null(strstr(text, "joules"));
    assert_null(strstr(text, "intel_power"));
    assert_null(strstr(text, "gputracker_main"));
    assert_null(strstr(text, "gputracker_processes"));
    assert_null(strstr(text, "gputracker_gpu_"));
    assert_null(strstr(text, "gpu_memory"));
    assert_non_null(strstr(text, "\ngputracker_system_gpus 0.0\n"));
    free(text);
}

RUN_TESTS(NULL, NULL)
