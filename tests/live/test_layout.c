#include "testing.h"

#include "live/layout.h"

#include <stdbool.h>
#include <string.h>

static bool used[256];

static void take(int row, int rows, int height)
{
    for (int i = row; i < row + rows; i++) {
        assert_in_range(i, 0, height - 1);
        assert_false(used[i]);
        used[i] = true;
    }
}

static void check(int columns, int rows, const struct layout_needs *needs)
{
    struct layout layout = layout_make(columns, rows, needs);
    memset(used, 0, sizeof used);
    assert_false(layout.is_too_small);
    take(0, 1, rows);
    take(layout.footer_row, 1, rows);
    take(layout.heading_row, layout.heading_row >= 0, rows);
    assert_true(layout.figure_rows >= 1);
    take(layout.figures_row,
        (layout.figures - layout.flat_figures) * layout.figure_rows + layout.flat_figures, rows);
    take(layout.machine_row, layout.machine_row >= 0, rows);
    take(layout.activity_row, layout.activity_row >= 0, rows);
    int heading = layout.heading_row >= 0;
    assert_true(layout.machine_figure_rows * layout.n_machine <=
                heading + layout.figure_rows * (layout.figures - layout.flat_figures) +
                    layout.flat_figures);
    assert_true(layout.n_machine <= needs->n_machine);
    take(layout.gpus_row, layout.gpus, rows);
    take(layout.blocks_row, layout.blocks, rows);
    take(layout.table_row, layout.table_rows > 0 ? 1 + layout.table_rows : 0, rows);
    take(layout.separator_row, layout.separator_row >= 0, rows);
    take(layout.output_row, layout.output_rows, rows);
    assert_true(layout.figures <= needs->figures && layout.gpus <= needs->gpus);
    assert_true(needs->output_is_large || layout.table_rows >= 2 || rows < 8);
    assert_true(!needs->has_output || rows < 8 || layout.output_rows >= 1);
    assert_true(needs->has_output || layout.output_rows == 0);
}

TEST(parts_never_overlap)
{
    for (int rows = LAYOUT_MIN_ROWS; rows <= 200; rows += rows < 40 ? 1 : 13)
        for (int n = 0; n < 256; n++) {
            struct layout_needs needs = {.figures = 2 + n % 4,
                .gpus = (n >> 2 & 3) * (n >> 2 & 3) * 7,
                .blocks = (n >> 4 & 3) * 4,
                .processes = n % 5 * 9,
                .n_machine = n % 3 * 3,
                .has_activity = n & 2,
                .last_is_flat = n & 1,
                .has_output = n >> 6 & 1,
                .output_is_large = n >> 7 & 1};
            check(n & 1 ? 80 : 200, rows, &needs);
        }
}

TEST(a_small_terminal_has_what_matters)
{
    struct layout_needs needs = {.figures = 3, .gpus = 1, .has_output = true};
    struct layout layout = layout_make(40, 10, &needs);
    assert_true(layout.figures >= 2 && layout.table_rows >= 3 && layout.output_rows == 1);
    assert_true(layout_make(10, 10, &needs).is_too_small);
    assert_true(layout_make(80, 4, &needs).is_too_small);
}

TEST(output_takes_half_of_the_rest_once_there_is_some)
{
    struct layout_needs needs = {.figures = 3, .has_output = true, .output_is_empty = true};
    struct layout silent = layout_make(80, 40, &needs);
    assert_int_equal(silent.output_rows, 1);
    needs.output_is_empty = false;
    struct layout layout = layout_make(80, 40, &needs);
    assert_true(layout.output_rows >= 10);
    assert_int_equal(
        layout.table_rows + layout.output_rows, silent.table_rows + silent.output_rows);
    assert_int_equal(layout.table_rows, 3);
    needs.processes = 7;
    assert_int_equal(layout_make(80, 40, &needs).table_rows, 7);
    needs.processes = 500;
    layout = layout_make(80, 40, &needs);
    assert_in_range(layout.output_rows - layout.table_rows + 3, 0, 3);
}

TEST(columns_fit_every_width)
{
    for (int columns = LAYOUT_MIN_COLUMNS; columns <= 300; columns++) {
        for (int gpus = 0; gpus < 2; gpus++) {
            struct layout_table table = layout_make_table(columns, gpus, columns & 1);
            for (int i = 1; i < TABLE_COLUMNS; i++)
                assert_true(table.start[i] >= table.start[i - 1] + table.width[i - 1]);
            assert_true(table.start[TABLE_COMMAND] + table.width[TABLE_COMMAND] <= columns);
            assert_true(columns < 30 || table.width[TABLE_COMMAND] >= 12);
            assert_true(gpus || table.width[TABLE_GPU_RAM] == 0);
        }
        for (int is_of_machine = 0; is_of_machine < 2; is_of_machine++) {
            struct layout_figure figure = layout_make_figure(columns, is_of_machine);
            assert_true(figure.now <= figure.peak && figure.peak < figure.bar);
            assert_true(figure.bar + figure.bar_columns <= figure.curve);
            assert_true(
                figure.curve_columns == 0 || figure.curve + figure.curve_columns <= figure.note);
            assert_true(figure.note + figure.note_columns <= columns);
        }
    }
}

RUN_TESTS(NULL, NULL)
