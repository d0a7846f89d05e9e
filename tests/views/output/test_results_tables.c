#include "results.h"
#include "tables.h"

#include <math.h>

TEST(results_are_tables)
{
    struct gput_gpu gpus[2] = {{.uuid = "GPU-1", .max_ram_bytes = 5e9}, {.max_ram_bytes = NAN}};
    struct gput_results results = {.elapsed_seconds = 1.5, .n_gpus = 2, .gpus = gpus};
    results.max[GPUT_MAIN_RAM] = NAN;
    results_add_source(&results, "ram", GPUT_SOURCE_SAMPLED, "statm");
    struct gput_tables *tables;
    assert_int_equal(gput_results_tables(&results, &tables, NULL), GPUT_OK);

    const struct gput_table *record = gput_tables_find(tables, "results");
    assert_true(gput_table_is_record(record));
    assert_int_equal(gput_table_column_count(record), gput_results_column_count());
    size_t seconds = column_of(record, "elapsed_seconds");
    assert_true(gput_table_double(record, 0, seconds) == 1.5);
    assert_string_equal(gput_table_column_unit(record, seconds), "seconds");
    assert_true(gput_table_is_missing(record, 0, column_of(record, "max.main_ram")));
    assert_int_equal(gput_table_int(record, 0, column_of(record, "tracker.ticks")), 0);

    const struct gput_table *list = gput_tables_find(tables, "gpus");
    assert_int_equal(gput_table_row_count(list), 2);
    assert_string_equal(gput_table_text(list, 0, column_of(list, "uuid")), "GPU-1");
    assert_true(gput_table_is_missing(list, 1, column_of(list, "uuid")));
    assert_true(gput_table_is_missing(list, 1, column_of(list, "max_ram_bytes")));

    const struct gput_table *sources = gput_tables_find(tables, "sources");
    assert_string_equal(gput_table_text(sources, 0, column_of(sources, "state")), "sampled");
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "limits_passed")), 0);
    gput_tables_destroy(tables);
}

RUN_TESTS(NULL, NULL)
