/* What frames write is replayed by a small terminal, which then shows what was wanted. */
#include "testing.h"

#include "base/utf8.h"
#include "live/frame.h"

#include <stdlib.h>
#include <string.h>

struct screen {
    struct grid grid;
    int row, column;
    unsigned style;
};

static void put(struct screen *screen, uint32_t code)
{
    int columns = utf8_columns(code);
    assert_in_range(columns, 1, 2);
    assert_in_range(screen->row, 0, screen->grid.rows - 1);
    assert_true(screen->column + columns <= screen->grid.columns);
    grid_put(&screen->grid, screen->row, screen->column, code, screen->style);
    screen->column += columns;
}

static void set_style(struct screen *screen, const char *parameters)
{
    for (const char *at = parameters; at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL) {
        int number = atoi(at);
        if (number == 0)
            screen->style = 0;
        else if (number == 1)
            screen->style |= STYLE_BOLD;
        else if (number == 7)
            screen->style |= STYLE_REVERSE;
        else if (number >= 90)
            screen->style |= (unsigned)number - 90 + 8;
        else
            screen->style |= (unsigned)number - 30;
    }
}

static void obey(struct screen *screen, const char *parameters, char letter)
{
    if (letter == 'H') {
        assert_int_equal(sscanf(parameters, "%d;%d", &screen->row, &screen->column), 2);
        screen->row--;
        screen->column--;
    } else if (letter == 'm') {
        set_style(screen, parameters);
    } else if (letter == 'K') {
        assert_int_equal(screen->style, 0);
        for (int i = screen->column; i < screen->grid.columns; i++)
            grid_put(&screen->grid, screen->row, i, ' ', STYLE_PLAIN);
    } else {
        assert_true(strcmp(parameters, "?2026") == 0 && (letter == 'h' || letter == 'l'));
    }
}

static void replay(struct screen *screen, const struct str *bytes)
{
    for (const char *at = bytes->data, *end = at + bytes->length; at < end;) {
        if (*at != '\033') {
            put(screen, utf8_next(&at, end));
            continue;
        }
        char parameters[16] = "";
        assert_int_equal(at[1], '[');
        size_t length = strcspn(at + 2, "Hmhl"
                                        "K");
        assert_true(length < sizeof parameters);
        memcpy(parameters, at + 2, length);
        obey(screen, parameters, at[2 + length]);
        at += 3 + length;
    }
}

static void assert_shows(const struct grid *wanted, const struct grid *shown)
{
    for (int i = 0; i < wanted->rows * wanted->columns; i++)
        if (!cell_equals(&wanted->cells[i], &shown->cells[i]))
            fail_msg("row %d, column %d: %x and not %x", i / wanted->columns, i % wanted->columns,
                (unsigned)shown->cells[i].code, (unsigned)wanted->cells[i].code);
}

static void scribble(struct grid *grid)
{
    static const char *const words[] = {
        "word", "\xe4\xb8\xad\xe6\x96\x87", " ", "a\xcc\x81", "   ", "\xe2\x96\x85\xe2\x96\x88"};
    for (int n = rand() % 20; n > 0; n--)
        grid_text(grid, rand() % grid->rows, rand() % grid->columns, rand() % 12,
            (unsigned)(rand() % 3 ? 0 : rand() % 64), words[rand() % 6]);
}

TEST(a_terminal_shows_what_was_wanted)
{
    static const struct frame_options options = {true, true};
    srand(1);
    for (int round = 0; round < 300; round++) {
        struct screen screen = {0};
        struct grid shown = {0}, wanted = {0};
        int columns = 1 + rand() % 40, rows = 1 + rand() % 6;
        assert_true(grid_resize(&screen.grid, columns, rows));
        assert_true(grid_resize(&shown, columns, rows) && grid_resize(&wanted, columns, rows));
        grid_fill(&screen.grid, 0, 0, columns, STYLE_RED, 'x'); /* of before */
        for (int frame = 0; frame < 10; frame++) {
            struct str bytes = {0};
            if (rand() % 4 == 0)
                grid_clear(&wanted);
            scribble(&wanted);
            frame_write(&bytes, frame ? &shown : NULL, &wanted, &options);
            replay(&screen, &bytes);
            assert_shows(&wanted, &screen.grid);
            memcpy(shown.cells, wanted.cells, sizeof *shown.cells * (size_t)(columns * rows));
            str_finish(&bytes);
        }
        grid_finish(&screen.grid);
        grid_finish(&shown);
        grid_finish(&wanted);
    }
}

TEST(nothing_is_written_where_nothing_differs)
{
    static const struct frame_options options = {true, true};
    struct grid grid = {0};
    struct str bytes = {0};
    assert_true(grid_resize(&grid, 20, 3));
    grid_text(&grid, 1, 2, 18, STYLE_BOLD, "same");
    frame_write(&bytes, &grid, &grid, &options);
    assert_int_equal(bytes.length, 0);
    str_finish(&bytes);
    grid_finish(&grid);
}

TEST(one_changed_cell_is_a_few_bytes)
{
    static const struct frame_options options = {false, false};
    struct grid shown = {0}, wanted = {0};
    struct str bytes = {0};
    assert_true(grid_resize(&shown, 80, 24) && grid_resize(&wanted, 80, 24));
    grid_text(&shown, 5, 10, 20, STYLE_RED, "12 MB");
    grid_text(&wanted, 5, 10, 20, STYLE_RED, "13 MB");
    frame_write(&bytes, &shown, &wanted, &options);
    assert_int_equal(bytes.length, strlen("\033[6;12H\033[0m3"));
    assert_memory_equal(bytes.data, "\033[6;12H\033[0m3", bytes.length); /* and no colour */
    str_finish(&bytes);
    grid_finish(&shown);
    grid_finish(&wanted);
}

RUN_TESTS(NULL, NULL)
