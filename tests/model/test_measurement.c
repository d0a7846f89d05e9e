#include "base/text.h"
#include "model/measurement_list.h"
#include "testing.h"

#include <gputracker/energy.h>
#include <gputracker/limits.h>
#include <gputracker/measurement.h>
#include <gputracker/results.h>

#include <string.h>

TEST(every_row_is_whole_and_found_by_its_name)
{
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        const struct gput_measurement *row = gput_measurement((enum gput_measurement_id)i);
        assert_int_equal(row->id, i);
        assert_non_null(row->name);
        assert_non_null(row->read_from);
        assert_ptr_equal(gput_measurement_find(row->name), row);
    }
    assert_null(gput_measurement_find("no_such_thing"));
    assert_null(gput_measurement_find(""));
}

#define COLUMN(ID) gput_measurement(GPUT_##ID)->name,
#define TIMESTAMP() "timestamp",

/* Other programs read them by name and position: more may only follow. */
TEST(columns_of_tracking_files_keep_their_places)
{
    static const char columns[] =
        "main_ram,descendants_ram,combined_ram,system_ram,main_gpu_ram,descendants_gpu_ram,"
        "combined_gpu_ram,system_gpu_ram,gpu_sum_utilization_percent,"
        "gpu_hardware_utilization_percent,main_n_threads,descendants_n_threads,combined_n_threads,"
        "cpu_system_sum_utilization_percent,cpu_system_hardware_utilization_percent,"
        "cpu_main_sum_utilization_percent,cpu_main_hardware_utilization_percent,"
        "cpu_descendants_sum_utilization_percent,cpu_descendants_hardware_utilization_percent,"
        "cpu_combined_sum_utilization_percent,cpu_combined_hardware_utilization_percent,"
        "timestamp,";
    const char *all[] = {TRACKING_FILE_COLUMNS(COLUMN, TIMESTAMP)};
    char names[4096] = "";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        strcat(names, all[i]);
        strcat(names, ",");
    }
    assert_memory_equal(names, columns, strlen(columns));
}

TEST(no_measurement_has_two_columns)
{
    bool has[GPUT_MEASUREMENT_COUNT] = {false};
    for (size_t i = 0; i < TRACKED_MEASUREMENTS; i++) {
        assert_false(has[tracked_measurements[i]]);
        has[tracked_measurements[i]] = true;
    }
}

TEST(a_name_says_what_kind_of_number_it_is)
{
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        const struct gput_measurement *row = gput_measurement((enum gput_measurement_id)i);
        enum gput_quantity quantity = GPUT_QUANTITY_COUNT;
        if (text_ends_with(row->name, "_percent"))
            quantity = GPUT_QUANTITY_PERCENT;
        else if (text_ends_with(row->name, "_gpu_ram"))
            quantity = GPUT_QUANTITY_GPU_RAM;
        else if (text_ends_with(row->name, "_ram"))
            quantity = GPUT_QUANTITY_RAM;
        else if (!strstr(row->name, "_n_"))
            fail_msg("%s ends in neither _ram nor _percent, nor is it a count (_n_…)", row->name);
        if (row->quantity != quantity)
            fail_msg("%s is not what the end of its name says", row->name);
    }
}

/* It was built with a newer version. */
TEST(a_program_may_ask_for_what_is_not_there)
{
    assert_null(gput_measurement(GPUT_MEASUREMENT_COUNT));
    assert_null(gput_limit_kind_name(GPUT_LIMIT_KIND_COUNT));
    assert_null(gput_energy_figure_name(GPUT_ENERGY_FIGURE_COUNT));
    assert_non_null(gput_results_column(gput_results_column_count() - 1));
    assert_null(gput_results_column(gput_results_column_count()));
}

RUN_TESTS(NULL, NULL)
