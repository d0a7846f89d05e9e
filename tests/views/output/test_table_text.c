#include "views/output/table_text.h"

#include "base/table.h"
#include "base/utf8.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>

/* Two rows: a text, a time, an integer and three numbers with wide names. */
static struct gput_tables *make_tables(void)
{
    struct gput_tables *tables = tables_create(), *made;
    struct gput_table *table = tables_add(tables, "t");
    table_add_column(table, "name", GPUT_COLUMN_TEXT);
    table_add_column(table, "time", GPUT_COLUMN_TEXT);
    table_add_column(table, "gpu", GPUT_COLUMN_INT);
    table_add_column(table, "a_wide_name_us", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "another_name_us", GPUT_COLUMN_DOUBLE);
    table_add_column(table, "yet_another_us", GPUT_COLUMN_DOUBLE);
    const char *names[] = {"traces/of/a/long/name/ränk0.json", "short"};
    for (int row = 0; row < 2; row++) {
        table_put_text(table, names[row]);
        table_put_text(table, "12:26:35");
        table_put_int(table, row);
        for (int column = 0; column < 3; column++)
            table_put_double(table, 10.5 * row + column);
    }
    assert_int_equal(tables_finish_building(tables, &made, NULL), GPUT_OK);
    return made;
}

static char *text_of(const struct gput_tables *tables, size_t screen)
{
    struct str text = {0};
    struct table_text layout = {.screen = screen};
    table_text_add(&layout, gput_tables_get(tables, 0), true, &text);
    return str_steal(&text);
}

TEST(without_a_screen_everything_is_there)
{
    struct gput_tables *tables = make_tables();
    char *text = text_of(tables, 0), *wide = text_of(tables, 98);
    assert_string_equal(text,
        "name                              time      gpu  a_wide_name_us  another_name_us  "
        "yet_another_us\n"
        "traces/of/a/long/name/ränk0.json  12:26:35    0             0.0              1.0  "
        "           2.0\n"
        "short                             12:26:35    1            10.5             11.5  "
        "          12.5\n");
    assert_string_equal(wide, text);
    free(text);
    free(wide);
    gput_tables_destroy(tables);
}

TEST(names_of_another_program_are_shown_in_words)
{
    static const struct table_words words = {"Step:ModeKeys.", "NA"};
    struct gput_tables *tables = tables_create(), *made;
    tables_set_words(tables, &words);
    struct gput_table *table = tables_add(tables, "getnext_outliers");
    table_add_column(table, "training_phase", GPUT_COLUMN_TEXT);
    table_add_column(table, "pin_memory", GPUT_COLUMN_TEXT);
    table_add_column(table, "worker_id", GPUT_COLUMN_INT);
    table_add_column(table, "start_time_us", GPUT_COLUMN_INT);
    table_put_text(table, "Between Step:ModeKeys.EVAL and Step:ModeKeys.TRAIN");
    table_put_text(table, "NA");
    table_put_int(table, -1);
    table_put_int(table, -1);
    assert_int_equal(tables_finish_building(tables, &made, NULL), GPUT_OK);
    char *text = text_of(made, 0);
    assert_string_equal(text,
        "training phase          pin memory       worker id  start time, µs\n"
        "Between EVAL and TRAIN  not recorded  not recorded              -1\n");
    free(text);
    struct str heading = {0};
    table_text_name(gput_tables_get(made, 0), &heading);
    assert_string_equal(str_text(&heading), "Getnext outliers");
    str_finish(&heading);
    gput_tables_destroy(made);
}

TEST(the_longest_text_is_cut_first_in_the_middle)
{
    struct gput_tables *tables = make_tables();
    char *text = text_of(tables, 80);
    assert_string_equal(text,
        "name              time      gpu  a_wide_name_us  another_name_us  yet_another_us\n"
        "traces/…nk0.json  12:26:35    0             0.0              1.0             2.0\n"
        "short             12:26:35    1            10.5             11.5            12.5\n");
    free(text);
    gput_tables_destroy(tables);
}

TEST(columns_without_space_follow_in_blocks_after_what_a_row_is)
{
    struct gput_tables *tables = make_tables();
    char *text = text_of(tables, 68);
    assert_string_equal(text, "name              time      gpu  a_wide_name_us  another_name_us\n"
                              "traces/…nk0.json  12:26:35    0             0.0              1.0\n"
                              "short             12:26:35    1            10.5             11.5\n"
                              "\n"
                              "name              time      gpu  yet_another_us\n"
                              "traces/…nk0.json  12:26:35    0             2.0\n"
                              "short             12:26:35    1            12.5\n");
    free(text);
    gput_tables_destroy(tables);
}

TEST(every_figure_is_there_on_every_screen)
{
    struct gput_tables *tables = make_tables();
    const char *const names[] = {"a_wide_name_us", "another_name_us", "yet_another_us", "gpu"};
    for (size_t screen = 1; screen <= 100; screen++) {
        char *text = text_of(tables, screen), *rest = text;
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            assert_non_null(strstr(text, names[i]));
        for (char *line; screen >= 40 && (line = strsep(&rest, "\n"));)
            assert_true(utf8_width(line) <= screen);
        free(text);
    }
    gput_tables_destroy(tables);
}

RUN_TESTS(NULL, NULL)
