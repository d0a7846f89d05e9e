#include <gputracker/energy_recording.h>

#include "base/file.h"
#include "testing.h"

#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Two segments: 2 s and 1 s. */
static const char lines[] =
    "{\"date\": \"2023-06-30 16:32:14\", \"metrics\": {\"cpu\": {\"intel_power\": 10, "
    "\"absolute_cpu_time_per_pid\": {\"7\": 1, \"8\": 2}}}}\n"
    "{\"date\": \"2023-06-30 16:32:16.500000\", \"metrics\": {\"cpu\": {\"intel_power\": 20, "
    "\"per_process_cpu_uses\": {\"7\": 0.5}}, "
    "\"gpu\": {\"per_gpu_attributable_power\": {\"0\": 5, \"1\": 7, \"all\": 12}, "
    "\"per_gpu_attributable_mem_use\": {\"0\": {\"7\": 100, \"8\": null}, \"1\": {}}}}}\n"
    "\"END OF RECORDING SEGMENT\"\n"
    "{\"date\": \"2023-06-30 16:33:14\", \"metrics\": {\"cpu\": {\"intel_power\": 30, "
    "\"total_mem_use\": 4096}}}\n"
    "{\"date\": \"2023-06-30 16:33:15\", \"metrics\": {\"cpu\": {\"intel_power\": 30}}}\n";

static char folder[64];

static struct gput_energy_recording *recording;

static int open_folder(void **state)
{
    (void)state;
    char path[96];
    snprintf(folder, sizeof folder, "/tmp/test-energy-recording-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/power_metrics.json", folder);
    if (file_write_atomic(path, lines, strlen(lines), NULL) != GPUT_OK)
        return -1;
    return gput_energy_recording_load(folder, &recording, NULL);
}

static int close_folder(void **state)
{
    (void)state;
    char path[96];
    gput_energy_recording_destroy(recording);
    snprintf(path, sizeof path, "%s/power_metrics.json", folder);
    unlink(path);
    return rmdir(folder);
}

static struct gput_energy_metric metric_of(const char *name)
{
    struct gput_energy_metric metric = gput_energy_metric_default();
    assert_int_equal(gput_energy_recording_metric(recording, name, NULL, &metric, NULL), GPUT_OK);
    return metric;
}

TEST(metrics_know_their_unit)
{
    assert_string_equal(metric_of("intel_power").unit, "watts");
    assert_string_equal(metric_of("total_mem_use").unit, "bytes");
    assert_string_equal(metric_of("nvidia_mem_use:0").unit, "bytes");
    assert_string_equal(metric_of("per_gpu_attributable_power:1").unit, "watts");
    assert_null(metric_of("per_process_cpu_uses").unit);
}

TEST(a_metric_is_integrated_segment_by_segment)
{
    struct gput_energy_metric metric = metric_of("intel_power");
    assert_true(metric.total == 67.5 && metric.seconds == 3.5 && metric.max == 30);
    assert_true(metric.points == 4 && metric.segments == 2);
    assert_true(metric_of("absolute_cpu_time_per_pid").average == 3);
    assert_true(gput_energy_recording_total(recording, NULL) == 67.5);
}

TEST(a_metric_by_gpu_is_one_for_each_gpu)
{
    const char *names[4] = {0};
    struct gput_energy_metric metric = metric_of("per_gpu_attributable_power:1");
    struct gput_error error;
    assert_string_equal(metric.device, "1");
    assert_true(metric.max == 7);
    assert_null(metric_of("intel_power").device);
    assert_true(metric_of("nvidia_attributable_power").max == 12); /* "all", which is not a GPU */
    assert_true(metric_of("nvidia_mem_use:0").max == 100 && metric_of("nvidia_mem_use:1").max == 0);
    assert_int_equal(
        gput_energy_recording_select(recording, "per_gpu_attributable_power", names, 4), 2);
    assert_string_equal(names[0], "per_gpu_attributable_power:0");
    assert_string_equal(names[1], "per_gpu_attributable_power:1");
    assert_int_equal(
        gput_energy_recording_select(recording, "per_gpu_attributable_mem_use", names, 1), 2);
    assert_string_equal(names[0], "nvidia_mem_use:0");
    assert_int_equal(gput_energy_recording_select(recording, "intel_power", NULL, 0), 1);
    assert_int_equal(gput_energy_recording_select(recording, "per_gpu", NULL, 0), 0);
    assert_int_equal(gput_energy_recording_metric(
                         recording, "per_gpu_attributable_power", NULL, &metric, &error),
        GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "per_gpu_attributable_power:0"));
}

TEST(the_curves_of_a_metric_by_gpu_are_each_gpus)
{
    const char *name = "per_gpu_attributable_power";
    struct gput_tables *tables;
    char *text;
    assert_int_equal(
        gput_energy_recording_tables(recording, &name, 1, NULL, &tables, NULL), GPUT_OK);
    assert_int_equal(gput_tables_count(tables), 2);
    assert_non_null(gput_tables_find(tables, "per_gpu_attributable_power:1"));
    gput_tables_destroy(tables);
    assert_int_equal(gput_energy_recording_render_curves(
                         recording, &name, 1, NULL, GPUT_FORMAT_CSV, &text, NULL, NULL),
        GPUT_OK);
    assert_string_equal(text, "metric,segment,date,value\n"
                              "per_gpu_attributable_power:0,0,2023-06-30 16:32:16.500000,5.0\n"
                              "per_gpu_attributable_power:1,0,2023-06-30 16:32:16.500000,7.0\n");
    free(text);
}

TEST(a_window_is_of_a_metric)
{
    struct gput_energy_window window =
        gput_energy_recording_window(recording, "total_mem_use", NULL);
    char date[32];
    assert_true(window.start_us == window.end_us);
    gput_energy_recording_date(window.start_us, date, sizeof date);
    assert_string_equal(date, "2023-06-30 16:33:14");
    window = gput_energy_recording_window(
        recording, NULL, &(struct gput_energy_window){INT64_MIN, window.start_us});
    gput_energy_recording_date(window.start_us, date, sizeof date);
    assert_string_equal(date, "2023-06-30 16:32:14");
    gput_energy_recording_date(window.end_us, date, sizeof date);
    assert_string_equal(date, "2023-06-30 16:33:14");
}

TEST(bounds_can_be_seconds_since_1970)
{
    struct gput_energy_window window, same;
    struct gput_error error;
    struct tm moment = {.tm_year = 123,
        .tm_mon = 5,
        .tm_mday = 30,
        .tm_hour = 16,
        .tm_min = 32,
        .tm_sec = 15,
        .tm_isdst = -1};
    char epoch[32], later[32];
    snprintf(epoch, sizeof epoch, "%lld.5", (long long)mktime(&moment));
    snprintf(later, sizeof later, "%lld", (long long)mktime(&moment) + 3600);
    assert_int_equal(
        gput_energy_recording_parse_window(recording, epoch, NULL, &window, NULL), GPUT_OK);
    assert_int_equal(
        gput_energy_recording_parse_window(recording, "1.5", NULL, &same, NULL), GPUT_OK);
    assert_true(window.start_us == same.start_us);
    assert_int_equal(gput_energy_recording_parse_window(recording, later, NULL, &window, &error),
        GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, " has 2023-06-30 16:32:14 to 2023-06-30 16:33:15."));
    assert_int_equal(gput_energy_recording_parse_window(recording, "2", "1", &window, &error),
        GPUT_ERROR_INVALID);
    assert_string_equal(error.message, "The start is after the end.");
}

TEST(a_curve_is_a_table)
{
    const char *const names[] = {"intel_power", "total_mem_use"};
    struct gput_tables *tables;
    assert_int_equal(
        gput_energy_recording_tables(recording, names, 2, NULL, &tables, NULL), GPUT_OK);
    assert_int_equal(gput_tables_count(tables), 2);
    const struct gput_table *table = gput_tables_find(tables, "intel_power");
    assert_int_equal(gput_table_row_count(table), 4);
    assert_string_equal(gput_table_column_name(table, 3), "value");
    assert_string_equal(gput_table_column_unit(table, 3), "watts");
    assert_string_equal(gput_table_text(table, 1, 0), "2023-06-30 16:32:16.500000");
    assert_true(gput_table_double(table, 1, 1) == 2.5);
    assert_true(gput_table_int(table, 1, 2) == 0 && gput_table_int(table, 2, 2) == 1);
    assert_true(gput_table_double(table, 2, 3) == 30);
    /* Seconds are of the recording, not of the metric. */
    assert_true(gput_table_double(gput_tables_find(tables, "total_mem_use"), 0, 1) == 60);
    gput_tables_destroy(tables);
}

TEST(the_summary_is_a_table_of_metrics)
{
    struct gput_tables *tables;
    enum { NAME, GROUP, DEVICE, UNIT, TOTAL, AVERAGE, MAX, SECONDS, POINTS, SEGMENTS };
    assert_int_equal(gput_energy_recording_summary_tables(recording, NULL, &tables, NULL), GPUT_OK);
    const struct gput_table *total = gput_tables_find(tables, "total");
    assert_true(gput_table_double(total, 0, 0) == 67.5);
    assert_true(gput_table_double(total, 0, 1) == gput_energy_recording_seconds(recording, NULL));
    const struct gput_table *metrics = gput_tables_find(tables, "metrics");
    assert_int_equal(gput_table_row_count(metrics), gput_energy_recording_metric_count(recording));
    size_t row = 0;
    while (strcmp(gput_table_text(metrics, row, NAME), "intel_power") != 0)
        row++;
    assert_string_equal(gput_table_text(metrics, row, GROUP), "cpu");
    assert_true(gput_table_is_missing(metrics, row, DEVICE));
    assert_string_equal(gput_table_text(metrics, row, UNIT), "watts");
    assert_true(gput_table_double(metrics, row, TOTAL) == 67.5);
    assert_true(gput_table_double(metrics, row, MAX) == 30);
    assert_true(gput_table_double(metrics, row, SECONDS) == 3.5);
    assert_int_equal(gput_table_int(metrics, row, POINTS), 4);
    assert_int_equal(gput_table_int(metrics, row, SEGMENTS), 2);
    gput_tables_destroy(tables);
}

TEST(a_window_cuts_its_rows)
{
    const char *name = "intel_power";
    struct gput_energy_window window;
    struct gput_tables *tables;
    assert_int_equal(
        gput_energy_recording_parse_window(recording, "1", "2023-06-30 16:33:14", &window, NULL),
        GPUT_OK);
    assert_int_equal(
        gput_energy_recording_tables(recording, &name, 1, &window, &tables, NULL), GPUT_OK);
    assert_int_equal(gput_table_row_count(gput_tables_get(tables, 0)), 2);
    gput_tables_destroy(tables);
}

TEST(what_there_is_not_is_an_error)
{
    const char *const names[] = {"intel_power", "power"};
    struct gput_tables *tables;
    struct gput_energy_window window;
    struct gput_error error;
    assert_int_equal(gput_energy_recording_tables(recording, names, 2, NULL, &tables, &error),
        GPUT_ERROR_NOT_FOUND);
    assert_null(tables);
    assert_non_null(strstr(error.message, "There is no metric \"power\" in "));
    assert_int_equal(gput_energy_recording_parse_window(recording, NULL, "later", &window, &error),
        GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "The end \"later\" is not a valid time of a recording."));
}

/* Found by fuzzing: the reason was read where the caller wants none. */
TEST(a_broken_optional_file_is_a_warning)
{
    struct gput_energy_recording *loaded;
    char path[96];
    snprintf(path, sizeof path, "%s/results_exp.json", folder);
    assert_int_equal(file_write_atomic(path, "{", 1, NULL), GPUT_OK);
    assert_int_equal(gput_energy_recording_load(folder, &loaded, NULL), GPUT_OK);
    assert_non_null(strstr(gput_energy_recording_warning(loaded), "results_exp.json"));
    gput_energy_recording_destroy(loaded);
    unlink(path);
}

RUN_TESTS(open_folder, close_folder)
