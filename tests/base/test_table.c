#include "base/table.h"
#include "testing.h"

#include <math.h>

/* Two rows: 1, 0.5, "a", and missing values. */
static struct gput_tables *make_tables(void)
{
    struct gput_tables *tables = tables_create(), *made;
    struct gput_table *table = tables_add(tables, "first");
    table_add_column(table, "count", GPUT_COLUMN_INT);
    table_add_column(table, "size_bytes", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "text", GPUT_COLUMN_TEXT);
    table_put_int(table, 1);
    table_put_double(table, 0.5);
    table_put_text(table, "a");
    for (int i = 0; i < 3; i++)
        table_put_missing(table);
    tables_add_record(tables, "second");
    assert_int_equal(tables_finish_building(tables, &made, NULL), GPUT_OK);
    return made;
}

TEST(returns_the_cells_that_were_set)
{
    struct gput_tables *tables = make_tables();
    const struct gput_table *table = gput_tables_get(tables, 0);
    assert_int_equal(gput_table_row_count(table), 2);
    assert_int_equal(gput_table_int(table, 0, 0), 1);
    assert_true(gput_table_double(table, 0, 1) == 0.5);
    assert_string_equal(gput_table_text(table, 0, 2), "a");
    for (size_t column = 0; column < 3; column++) {
        assert_false(gput_table_is_missing(table, 0, column));
        assert_true(gput_table_is_missing(table, 1, column));
    }
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "second")), 0);
    gput_tables_destroy(tables);
}

TEST(columns_are_contiguous)
{
    struct gput_tables *tables = tables_create();
    struct gput_table *table = tables_add(tables, "t");
    table_add_column(table, "i", GPUT_COLUMN_INT);
    table_add_column(table, "d", GPUT_COLUMN_DOUBLE);
    assert_null(gput_table_doubles(table, 1));
    for (int row = 0; row < 1000; row++) {
        table_put_int(table, row);
        table_put_double(table, row * 0.5);
    }
    for (int row = 0; row < 1000; row++) {
        assert_int_equal(gput_table_ints(table, 0)[row], row);
        assert_true(gput_table_doubles(table, 1)[row] == row * 0.5);
    }
    gput_tables_destroy(tables);
}

TEST(an_incomplete_row_does_not_count)
{
    struct gput_tables *tables = make_tables();
    struct gput_table *table = (struct gput_table *)gput_tables_get(tables, 0);
    table_put_int(table, 7);
    assert_int_equal(gput_table_row_count(table), 2);
    gput_tables_destroy(tables);
}

TEST(units_are_set_or_in_the_name)
{
    struct gput_tables *tables = make_tables();
    const struct gput_table *table = gput_tables_get(tables, 0);
    assert_null(gput_table_column_unit(table, 0));
    assert_string_equal(gput_table_column_unit(table, 1), "bytes");
    struct gput_table *other = tables_add(tables, "other");
    table_add_column(other, "x_bytes", GPUT_COLUMN_DOUBLE);
    table_set_unit(other, "gigabytes");
    table_set_unit(other, "megabytes");
    table_add_column(other, "_us", GPUT_COLUMN_DOUBLE);
    assert_string_equal(gput_table_column_unit(other, 0), "megabytes");
    assert_string_equal(gput_table_column_unit(other, 1), "microseconds");
    gput_tables_destroy(tables);
}

TEST(a_retained_table_outlives_its_list)
{
    struct gput_tables *tables = make_tables();
    const struct gput_table *table = gput_table_retain(gput_tables_get(tables, 0));
    assert_int_equal(gput_tables_select(tables, "second", NULL), GPUT_OK);
    gput_tables_destroy(tables);
    assert_string_equal(gput_table_name(table), "first");
    assert_string_equal(gput_table_text(table, 0, 2), "a");
    gput_table_release(table);
    gput_table_release(NULL);
}

TEST(beyond_the_last_row_or_column_all_is_missing)
{
    struct gput_tables *tables = make_tables();
    const struct gput_table *table = gput_tables_get(tables, 0);
    assert_null(gput_table_column_name(table, 3));
    assert_null(gput_table_column_unit(table, SIZE_MAX));
    assert_null(gput_table_column_meaning(table, 3));
    assert_null(gput_table_ints(table, 3));
    assert_null(gput_table_doubles(table, 3));
    assert_true(gput_table_is_missing(table, 0, 3));
    assert_true(gput_table_is_missing(table, 2, 0));
    assert_true(gput_table_int(table, 2, 0) == INT64_MIN);
    assert_true(isnan(gput_table_double(table, SIZE_MAX, 1)));
    assert_null(gput_table_text(table, 2, 2));
    gput_tables_destroy(tables);
}

RUN_TESTS(NULL, NULL)
