#include "model/results_columns.h"
#include "model/results_lines.h"
#include "testing.h"

#include <math.h>
#include <string.h>

TEST(each_measurement_has_its_columns)
{
    static const char *const families[] = {"max", "mean", "now"};
    struct gput_results results = {0};
    double *const values[] = {results.max, results.mean, results.now.values};
    for (int family = 0; family < 3; family++) {
        for (int id = 0; id < GPUT_MEASUREMENT_COUNT; id++) {
            char name[96];
            snprintf(name, sizeof name, "%s.%s", families[family],
                gput_measurement((enum gput_measurement_id)id)->name);
            values[family][id] = 100 + id;
            if (gput_results_number(&results, name) != 100 + id)
                fail_msg("no column %s", name);
        }
    }
}

TEST(each_power_has_its_column)
{
    struct gput_results results = {0};
    for (int i = 0; i < GPUT_ENERGY_FIGURE_COUNT; i++) {
        char name[64];
        snprintf(
            name, sizeof name, "now.watts.%s", gput_energy_figure_name((enum gput_energy_figure)i));
        results.now.watts[i] = 100 + i;
        if (gput_results_number(&results, name) != 100 + i)
            fail_msg("no column %s", name);
    }
}

TEST(names_are_unique_and_have_a_meaning)
{
    size_t count;
    const struct results_list *lists = results_lists(&count);
    for (size_t l = 0; l < count; l++) {
        for (size_t i = 0; i < lists[l].n_columns; i++) {
            const struct gput_results_column *column = &lists[l].columns[i].description;
            size_t hint = 0;
            const struct results_column *found =
                results_column_find(&lists[l], column->name, strlen(column->name), &hint);
            if (found != &lists[l].columns[i])
                fail_msg("two columns %s", column->name);
            assert_true(strlen(column->meaning) > 3);
            assert_true(strlen(column->name) < 256); /* in a file of results */
        }
    }
}

TEST(what_is_not_there_is_not_known)
{
    struct gput_results results = {0};
    assert_true(isnan(gput_results_number(&results, "max.main")));
    assert_true(isnan(gput_results_number(&results, "max.main_ram_")));
    assert_true(isnan(gput_results_number(&results, "peaks.main_source"))); /* a text */
    assert_string_equal(gput_results_text(&results, "elapsed_seconds"), "");
    assert_string_equal(gput_results_text(&results, "nothing"), "");
    assert_true(isnan(gput_results_gpu_number(&results, 0, "max_ram_bytes")));
    assert_string_equal(gput_results_gpu_text(&results, 0, "uuid"), "");
    assert_true(isnan(gput_results_max(&results, GPUT_MEASUREMENT_COUNT)));
    assert_true(isnan(gput_results_energy(&results, GPUT_ENERGY_FIGURE_COUNT)));
}

TEST(figures_and_words_are_read_by_name)
{
    struct gput_gpu gpu = {.uuid = "GPU-1", .selected = true, .now = {.joules = 5}};
    struct gput_results results = {.static_data = {.ram_unit = GPUT_RAM_UNIT_MEGABYTES},
        .elapsed_seconds = 1.5,
        .tracker = {.ticks = 7},
        .peaks = {.main = {.at_most_bytes = 9, .source = "VmHWM"}},
        .n_gpus = 1,
        .gpus = &gpu};
    assert_true(gput_results_number(&results, "elapsed_seconds") == 1.5);
    assert_true(gput_results_number(&results, "tracker.ticks") == 7);
    assert_true(gput_results_number(&results, "peaks.main_at_most_bytes") == 9);
    assert_string_equal(gput_results_text(&results, "peaks.main_source"), "VmHWM");
    assert_string_equal(gput_results_text(&results, "static_data.ram_unit"), "megabytes");
    assert_string_equal(gput_results_gpu_text(&results, 0, "uuid"), "GPU-1");
    assert_true(gput_results_gpu_number(&results, 0, "selected") == 1);
    assert_true(gput_results_gpu_number(&results, 0, "now.joules") == 5);
}

TEST(a_name_with_a_nul_in_it_is_no_column)
{
    size_t count, hint = 0;
    const struct results_list *record = results_lists(&count);
    static const char name[64] = "static_data.ram_system_capacity_bytes";
    assert_non_null(results_column_find(record, name, strlen(name), &hint));
    hint = 0;
    assert_null(results_column_find(record, name, sizeof name, &hint));
}

TEST(values_that_a_column_cannot_have_are_ignored)
{
    size_t count, hint = 0;
    struct gput_results results = {.static_data = {.system_core_count = 3}};
    const struct results_list *record = results_lists(&count);
    const char *name = "static_data.system_core_count";
    const struct results_column *cores = results_column_find(record, name, strlen(name), &hint);
    static const double bad[] = {-1, 5e9, NAN, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        results_column_set_number(cores, &results, bad[i]);
    assert_int_equal(results.static_data.system_core_count, 3);
    results_column_set_number(cores, &results, 4294967295.0);
    assert_int_equal(results.static_data.system_core_count, 4294967295);
}

TEST(beyond_the_last_source_there_is_none)
{
    struct gput_results results = {0};
    results_add_source(&results, "ram", GPUT_SOURCE_EXACT, "counted");
    assert_int_equal(gput_results_source_count(&results), 1);
    assert_string_equal(gput_results_source_name(&results, 0), "ram");
    assert_int_equal(gput_results_source_state(&results, 0), GPUT_SOURCE_EXACT);
    assert_null(gput_results_source_name(&results, 1));
    assert_null(gput_results_source_reason(&results, SIZE_MAX));
    assert_int_equal(gput_results_source_state(&results, 1), GPUT_SOURCE_UNAVAILABLE);
}

TEST(a_source_without_space_is_an_error)
{
    struct gput_results results = {0};
    struct gput_error error;
    for (int i = 0; i < GPUT_MAX_SOURCES; i++)
        assert_int_equal(
            gput_results_add_source(&results, "own", GPUT_SOURCE_EXACT, "counted", &error),
            GPUT_OK);
    assert_int_equal(
        gput_results_add_source(&results, "one_more", GPUT_SOURCE_EXACT, "counted", &error),
        GPUT_ERROR_STATE);
    assert_non_null(strstr(error.message, "\"one_more\""));
    assert_int_equal(gput_results_source_count(&results), GPUT_MAX_SOURCES);
}

/* A machine without any other task. */
TEST(pressure_that_is_known_is_shown_though_nothing_waited)
{
    struct gput_results results = {0};
    const struct results_section *section = results_sections;
    while (strcmp(section->key, "pressure") != 0)
        section++;
    assert_true(section->applies(&results));
    results_forget(&results);
    assert_false(section->applies(&results));
}

RUN_TESTS(NULL, NULL)
