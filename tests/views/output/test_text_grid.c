#include "testing.h"
#include "views/output/text_grid.h"

#include <math.h>

static void assert_grid(struct text_grid *grid, const char *expected)
{
    struct str text = {0};
    text_grid_write(grid, &text);
    assert_string_equal(str_text(&text), expected);
    str_finish(&text);
    text_grid_finish(grid);
}

TEST(names_stand_left_and_figures_right)
{
    struct text_grid grid = {.gap = 1, .indent = 1};
    text_grid_add_names_and_numbers(&grid, 2);
    text_grid_put(&grid, "");
    text_grid_put_wide(&grid, "min");
    text_grid_put_wide(&grid, "mean");
    text_grid_put(&grid, "main_ram");
    text_grid_put_number(&grid, 0.086913024);
    text_grid_put_number(&grid, 1.77e-06);
    text_grid_put(&grid, "x");
    text_grid_put_number(&grid, 15);
    text_grid_put_number(&grid, NAN);
    assert_grid(&grid, "\t                min     mean\n"
                       "\tmain_ram 0.08691302 1.77e-06\n"
                       "\tx              15.0      NaN\n");
}

TEST(a_column_of_numbers_is_wider_than_its_name)
{
    struct text_grid grid = {.gap = 1};
    text_grid_add_names_and_numbers(&grid, 2);
    text_grid_put(&grid, "");
    text_grid_put_wide(&grid, "std");
    text_grid_put(&grid, "std");
    text_grid_put(&grid, "");
    text_grid_put_number(&grid, 0);
    text_grid_put(&grid, "0.0");
    assert_grid(&grid, "  std std\n  0.0 0.0\n");
}

TEST(width_counts_characters)
{
    struct text_grid grid = {.gap = 1};
    text_grid_add_names_and_numbers(&grid, 1);
    static const char *const cells[] = {"", "größe", "é", "1", "ab", ""};
    for (size_t i = 0; i < 6; i++)
        text_grid_put(&grid, cells[i]);
    assert_grid(&grid, "   größe\né      1\nab      \n");
}

/* Three columns: "RAM" goes first, then "CPU". */
static void fill(struct text_grid *grid, size_t screen)
{
    static const char *const cells[] = {"RAM", "CPU", "process", "1.5", "20", "a long command"};
    *grid = (struct text_grid){.gap = 2, .screen = screen};
    text_grid_add_column(grid, (struct text_grid_column){.min_width = 6, .drop = 1});
    text_grid_add_column(grid, (struct text_grid_column){.min_width = 6, .drop = 2});
    text_grid_add_column(
        grid, (struct text_grid_column){.is_left = true, .wanted_width = 14, .least_width = 8});
    for (size_t i = 0; i < 6; i++)
        text_grid_put(grid, cells[i]);
}

TEST(a_narrow_screen_lacks_columns_in_their_order)
{
    struct text_grid grid;
    fill(&grid, 0);
    assert_grid(&grid, "   RAM     CPU  process\n   1.5      20  a long command\n");
    fill(&grid, 30);
    assert_grid(&grid, "   RAM     CPU  process\n   1.5      20  a long command\n");
    fill(&grid, 20);
    assert_grid(&grid, "RAM  CPU  process\n1.5   20  a long co…\n");
    fill(&grid, 14);
    assert_grid(&grid, "CPU  process\n 20  a long c…\n");
    fill(&grid, 10);
    assert_grid(&grid, "process\na long co…\n");
}

TEST(what_a_screen_lacks_can_be_asked)
{
    struct str text = {0};
    struct text_grid grid;
    fill(&grid, 14);
    text_grid_write(&grid, &text);
    assert_true(text_grid_is_dropped(&grid, 0));
    assert_false(text_grid_is_dropped(&grid, 1));
    str_finish(&text);
    text_grid_finish(&grid);
}

RUN_TESTS(NULL, NULL)
