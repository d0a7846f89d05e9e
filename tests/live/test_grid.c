#include "testing.h"

#include "live/grid.h"

#include <string.h>

static struct grid grid;

static int set_up(void **state)
{
    (void)state;
    grid = (struct grid){0};
    return grid_resize(&grid, 10, 2) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    grid_finish(&grid);
    return 0;
}

/* The first row in ASCII; other glyphs are "w" (two columns) or "g". */
static const char *row(void)
{
    static char text[16];
    for (int i = 0; i < 10; i++)
        text[i] = grid.cells[i].columns == 0   ? '_'
                  : grid.cells[i].columns == 2 ? 'w'
                  : grid.cells[i].code > 126   ? 'g'
                                               : (char)grid.cells[i].code;
    text[10] = '\0';
    return text;
}

TEST_WITH(text_is_clipped, set_up, tear_down)
{
    assert_int_equal(grid_text(&grid, 0, 1, 5, 0, "abcdefgh"), 5);
    assert_string_equal(row(), " abcd~    ");
    assert_int_equal(grid_text(&grid, 0, 6, 4, 0, "wxyz"), 4);
    assert_string_equal(row(), " abcd~wxyz");
    assert_int_equal(grid_text(&grid, 0, 8, 10, 0, "123456"), 6);
    assert_string_equal(row(), " abcd~wx12");
    grid_text(&grid, 5, 0, 10, 0, "outside");
    grid_text(&grid, -1, -3, 10, 0, "outside");
    assert_string_equal(row(), " abcd~wx12");
    assert_int_equal(grid_text(&grid, 0, 0, 0, 0, "none"), 0);
    assert_int_equal(grid_text(&grid, 0, 0, -4, 0, "none"), 0);
}

TEST_WITH(what_a_terminal_obeys_is_never_in_a_cell, set_up, tear_down)
{
    grid_text(&grid, 0, 0, 10, 0, "a\033[2J\x9b\xc2\x9b\xff");
    assert_string_equal(row(), "a?[2J???  ");
}

TEST_WITH(glyphs_of_two_columns_are_whole_or_not_there, set_up, tear_down)
{
    grid_text(&grid, 0, 0, 10, 0, "\xe4\xb8\xad\xe6\x96\x87x");
    assert_string_equal(row(), "w_w_x     ");
    grid_text(&grid, 0, 1, 1, 0, "a");
    assert_string_equal(row(), " aw_x     ");
    grid_put(&grid, 0, 1, 0x4E2D, 0);
    assert_string_equal(row(), " w_ x     ");
    grid_put(&grid, 0, 9, 0x4E2D, 0); /* does not fit */
    assert_string_equal(row(), " w_ x     ");
    assert_int_equal(grid_text(&grid, 0, 5, 4, 0, "\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad"), 4);
    assert_string_equal(row(), " w_ xw_~  ");
}

TEST_WITH(what_combines_or_turns_text_round_is_left_out, set_up, tear_down)
{
    grid_text(&grid, 0, 0, 10, 0, "e\xcc\x81\xe2\x80\xaetxt\xd7\x90.");
    assert_string_equal(row(), "etxtg.    ");
}

TEST_WITH(an_ascii_terminal_gets_ascii, set_up, tear_down)
{
    grid.is_ascii = true;
    grid_text(&grid, 0, 0, 10, 0, "\xc3\xa9\xe4\xb8\xad.");
    assert_string_equal(row(), "??.       ");
}

TEST_WITH(text_is_aligned_to_the_right, set_up, tear_down)
{
    grid_text_right(&grid, 0, 0, 8, STYLE_BOLD, "1.20 GB");
    assert_string_equal(row(), " 1.20 GB  ");
    grid_text_right(&grid, 0, 0, 4, 0, "123456");
    assert_string_equal(row(), "123~0 GB  ");
}

RUN_TESTS(NULL, NULL)
