#include <gputracker/energy_recording.h>

#include "base/file.h"
#include "testing.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Two segments: 2 s and 1 s. */
static const char lines[] =
    "{\"date\": \"2023-06-30 16:32:14\", \"metrics\": {\"cpu\": {\"intel_power\": 10, "
    "\"absolute_cpu_time_per_pid\": {\"7\": 1, \"8\": 2}}}}\n"
    "{\"date\": \"2023-06-30 16:32:16.500000\", \"metrics\": {\"cpu\": {\"intel_power\": 20, "
    "\"per_process_cpu_uses\": {\"7\": 0.5}}}}\n"
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
    return gput_energy_recording_open(folder, &recording, NULL);
}

static int close_folder(void **state)
{
    (void)state;
    char path[96];
    gput_energy_recording_close(recording);
    snprintf(path, sizeof path, "%s/power_metrics.json", folder);
    unlink(path);
    return rmdir(folder);
}

static struct gput_energy_metric metric_of(const char *name)
{
    struct gput_energy_metric metric;
    assert_int_equal(gput_energy_recording_metric(recording, name, NULL, &metric, NULL), GPUT_OK);
    return metric;
}

static void metrics_know_their_unit(void **state)
{
    (void)state;
    assert_string_equal(metric_of("intel_power").unit, "watts");
    assert_string_equal(metric_of("total_mem_use").unit, "bytes");
    assert_string_equal(metric_of("absolute_cpu_time_per_pid").unit, "seconds");
    assert_null(metric_of("per_process_cpu_uses").unit);
}

static void a_metric_is_integrated_segment_by_segment(void **state)
{
    (void)state;
    struct gput_energy_metric metric = metric_of("intel_power");
    assert_true(metric.total == 67.5 && metric.seconds == 3.5 && metric.max == 30);
    assert_true(metric.points == 4 && metric.segments == 2);
    assert_true(metric_of("absolute_cpu_time_per_pid").average == 3);
    assert_true(gput_energy_recording_total(recording, NULL) == 67.5);
}

static void a_curve_is_a_table(void **state)
{
    (void)state;
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

static void a_window_cuts_its_rows(void **state)
{
    (void)state;
    const char *name = "intel_power";
    struct gput_energy_window window;
    struct gput_tables *tables;
    assert_int_equal(
        gput_energy_window_parse(recording, "1", "2023-06-30 16:33:14", &window, NULL), GPUT_OK);
    assert_int_equal(
        gput_energy_recording_tables(recording, &name, 1, &window, &tables, NULL), GPUT_OK);
    assert_int_equal(gput_table_row_count(gput_tables_get(tables, 0)), 2);
    gput_tables_destroy(tables);
}

static void what_there_is_not_is_an_error(void **state)
{
    (void)state;
    const char *const names[] = {"intel_power", "power"};
    struct gput_tables *tables;
    struct gput_energy_window window;
    struct gput_error error;
    assert_int_equal(gput_energy_recording_tables(recording, names, 2, NULL, &tables, &error),
        GPUT_ERROR_NOT_FOUND);
    assert_null(tables);
    assert_non_null(strstr(error.message, "There is no metric \"power\" in "));
    assert_int_equal(
        gput_energy_window_parse(recording, NULL, "later", &window, &error), GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "The end \"later\" is no moment of a recording."));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metrics_know_their_unit),
        cmocka_unit_test(a_metric_is_integrated_segment_by_segment),
        cmocka_unit_test(a_curve_is_a_table),
        cmocka_unit_test(a_window_cuts_its_rows),
        cmocka_unit_test(what_there_is_not_is_an_error),
    };
    return cmocka_run_group_tests_name(
        "analyze/energy_recording", tests, open_folder, close_folder);
}
