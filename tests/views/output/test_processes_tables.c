#include "model/processes.h"

#include "tables.h"

#include <math.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static const struct gput_table *table_of(
    const struct gput_processes *list, const char *name, struct gput_tables **tables)
{
    assert_int_equal(gput_processes_tables(list, tables, NULL), GPUT_OK);
    return gput_tables_find(*tables, name);
}

static void each_process_is_a_row(void **state)
{
    (void)state;
    struct gput_process family[] = {
        {.pid = 7,
            .name = "main",
            .command_line = "main -x",
            .start_ns = SECOND,
            .end_ns = 3 * SECOND,
            .cpu_seconds = 1.5,
            .peak_ram_bytes = 5e6,
            .peak = GPUT_PROCESS_PEAK_FINAL,
            .peak_gpu_ram_bytes = NAN,
            .read_bytes = 10,
            .has_status = true,
            .status = 0x700},
        {.pid = 8, .parent = 7, .peak_ram_bytes = NAN, .has_status = true, .status = 9},
    };
    struct gput_processes list = {.processes = family, .count = 2};
    struct gput_tables *tables;
    const struct gput_table *table = table_of(&list, "processes", &tables);
    assert_int_equal(gput_table_row_count(table), 2);
    assert_true(gput_table_is_missing(table, 0, column_of(table, "parent")));
    assert_int_equal(gput_table_int(table, 1, column_of(table, "parent")), 7);
    assert_string_equal(gput_table_text(table, 0, column_of(table, "command_line")), "main -x");
    assert_true(gput_table_is_missing(table, 1, column_of(table, "name")));
    assert_true(gput_table_double(table, 0, column_of(table, "end_timestamp")) == 3);
    assert_true(gput_table_is_missing(table, 1, column_of(table, "end_timestamp")));
    assert_int_equal(gput_table_int(table, 0, column_of(table, "peak_ram_bytes")), 5000000);
    assert_string_equal(gput_table_text(table, 0, column_of(table, "at_least")), "all");
    assert_true(gput_table_is_missing(table, 1, column_of(table, "at_least")));
    assert_string_equal(gput_table_text(table, 0, column_of(table, "peak_ram_source")), "final");
    assert_true(gput_table_is_missing(table, 0, column_of(table, "peak_gpu_ram_bytes")));
    assert_int_equal(gput_table_int(table, 0, column_of(table, "exit_status")), 7);
    assert_true(gput_table_is_missing(table, 0, column_of(table, "signal")));
    assert_true(gput_table_is_missing(table, 1, column_of(table, "exit_status")));
    assert_int_equal(gput_table_int(table, 1, column_of(table, "signal")), 9);
    gput_tables_destroy(tables);
}

static void the_others_are_summed_up(void **state)
{
    (void)state;
    struct gput_processes list = {.others = {.count = 12, .cpu_seconds = 2.5, .read_bytes = NAN}};
    struct gput_tables *tables;
    const struct gput_table *table = table_of(&list, "other_processes", &tables);
    assert_true(gput_table_is_record(table));
    assert_int_equal(gput_table_int(table, 0, column_of(table, "count")), 12);
    assert_true(gput_table_double(table, 0, column_of(table, "cpu_seconds")) == 2.5);
    assert_true(gput_table_is_missing(table, 0, column_of(table, "read_bytes")));
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "processes")), 0);
    gput_tables_destroy(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_process_is_a_row),
        cmocka_unit_test(the_others_are_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
