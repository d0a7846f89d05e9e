#include "files/sqlite_file.h"
#include "files/sqlite_tables.h"
#include "temporary.h"

#include <string.h>

static const struct gput_static_data static_data = {
    .ram_unit = GPUT_RAM_UNIT_MEGABYTES, .gpu_ram_unit = GPUT_RAM_UNIT_KILOBYTES};

/* The tables of a database that this SQL makes; NULL with `error`. */
static struct gput_tables *tables_of(const char *sql, struct gput_error *error)
{
    const char *path = temporary("x.sqlite");
    sqlite3 *database;
    assert_int_equal(sqlite_file_remove(path, NULL), GPUT_OK);
    assert_int_equal(sqlite_file_create(path, true, &database, NULL), GPUT_OK);
    assert_int_equal(sqlite_file_run(database, sql, path, NULL), GPUT_OK);
    struct gput_tables *building = tables_create(), *tables = NULL;
    if (sqlite_tables_read(database, path, &static_data, building, error) == GPUT_OK)
        assert_int_equal(tables_finish_building(building, &tables, NULL), GPUT_OK);
    else
        gput_tables_destroy(building);
    sqlite_file_finish(database, path, NULL);
    return tables;
}

FOLDER_TEST(values_have_the_types_of_their_columns)
{
    struct gput_tables *tables =
        tables_of("CREATE TABLE data (a); CREATE TABLE static_data (a);"
                  "CREATE TABLE \"a \"\"b\"\"\" (i INTEGER, t text, r REAL, other);"
                  "INSERT INTO \"a \"\"b\"\"\" VALUES (7, 'x', 1.5, 2), (NULL, NULL, NULL, NULL)",
            NULL);
    assert_int_equal(gput_tables_count(tables), 1);
    const struct gput_table *table = gput_tables_find(tables, "a \"b\"");
    assert_int_equal(gput_table_row_count(table), 2);
    assert_int_equal(gput_table_int(table, 0, 0), 7);
    assert_string_equal(gput_table_text(table, 0, 1), "x");
    assert_true(gput_table_double(table, 0, 2) == 1.5);
    assert_true(gput_table_double(table, 0, 3) == 2);
    for (size_t column = 0; column < 4; column++) {
        assert_true(gput_table_is_missing(table, 1, column));
        assert_null(gput_table_column_unit(table, column));
    }
    gput_tables_destroy(tables);
}

FOLDER_TEST(our_tables_have_units)
{
    struct gput_tables *tables = tables_of(
        "CREATE TABLE energy_data (timestamp REAL, package REAL);"
        "CREATE TABLE process_data (end_timestamp REAL, peak_ram REAL, peak_gpu_ram REAL,"
        " peak_ram_source TEXT);"
        "CREATE TABLE gpu_data (uuid TEXT, ram_used REAL, main_ram REAL, power_watts REAL)",
        NULL);
    static const struct {
        const char *table;
        size_t column;
        const char *unit;
    } expected[] = {
        {"energy_data", 0, "seconds since the epoch"}, {"energy_data", 1, "joules"},
        {"process_data", 0, "seconds since the epoch"}, {"process_data", 1, "megabytes"},
        {"process_data", 2, "kilobytes"}, {"process_data", 3, NULL}, {"gpu_data", 0, NULL},
        {"gpu_data", 1, "kilobytes"}, {"gpu_data", 2, "kilobytes"},
        {"gpu_data", 3, "watts"}, /* as the name says */
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const char *unit =
            gput_table_column_unit(gput_tables_find(tables, expected[i].table), expected[i].column);
        assert_true(!unit == !expected[i].unit);
        if (unit)
            assert_string_equal(unit, expected[i].unit);
    }
    gput_tables_destroy(tables);
}

FOLDER_TEST(a_value_of_another_type_is_refused)
{
    struct gput_error error = {0};
    assert_null(tables_of(
        "CREATE TABLE t (i INTEGER, b REAL); INSERT INTO t VALUES (1, 1), (2, 'x')", &error));
    assert_int_equal(error.code, GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "x.sqlite is invalid: table t, row 2: b is not"));
}

RUN_TESTS(temporary_create, temporary_remove)
