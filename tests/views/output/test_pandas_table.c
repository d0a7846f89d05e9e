#include "testing.h"
#include "views/output/pandas_table.h"

#include <math.h>

static void assert_table(struct pandas_table *table, int indent, const char *expected)
{
    struct str text = {0};
    pandas_table_write(table, indent, &text);
    assert_string_equal(str_text(&text), expected);
    str_finish(&text);
    pandas_table_destroy(table);
}

static void names_stand_left_and_figures_right(void **state)
{
    (void)state;
    struct pandas_table *table = pandas_table_create(2, 2);
    pandas_table_set_row_name(table, 0, "main_ram");
    pandas_table_set_row_name(table, 1, "x");
    pandas_table_set_number_column_name(table, 0, "min");
    pandas_table_set_number_column_name(table, 1, "mean");
    pandas_table_set_number(table, 0, 0, 0.086913024);
    pandas_table_set_number(table, 0, 1, 1.77e-06);
    pandas_table_set_number(table, 1, 0, 15);
    pandas_table_set_number(table, 1, 1, NAN);
    assert_table(table, 1,
        "\t                min     mean\n"
        "\tmain_ram 0.08691302 1.77e-06\n"
        "\tx              15.0      NaN\n");
}

static void a_column_of_numbers_is_wider_than_its_name(void **state)
{
    (void)state;
    struct pandas_table *table = pandas_table_create(1, 2);
    pandas_table_set_number_column_name(table, 0, "std");
    pandas_table_set_column_name(table, 1, "std");
    pandas_table_set_number(table, 0, 0, 0);
    pandas_table_set(table, 0, 1, "0.0");
    assert_table(table, 0, "  std std\n  0.0 0.0\n");
}

static void width_counts_characters(void **state)
{
    (void)state;
    struct pandas_table *table = pandas_table_create(2, 1);
    pandas_table_set_column_name(table, 0, "größe");
    pandas_table_set_row_name(table, 0, "é");
    pandas_table_set_row_name(table, 1, "ab");
    pandas_table_set(table, 0, 0, "1");
    assert_table(table, 0, "   größe\né      1\nab      \n");
}

static void no_table_makes_the_text_fail(void **state)
{
    (void)state;
    struct str text = {0};
    pandas_table_set(NULL, 0, 0, "x");
    pandas_table_write(NULL, 0, &text);
    assert_true(text.failed);
    str_finish(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_stand_left_and_figures_right),
        cmocka_unit_test(a_column_of_numbers_is_wider_than_its_name),
        cmocka_unit_test(width_counts_characters),
        cmocka_unit_test(no_table_makes_the_text_fail),
    };
    return cmocka_run_group_tests_name("views/output/pandas_table", tests, NULL, NULL);
}
