#include "layout.h"

#define MIN_TABLE_ROWS 3
/* From this height on there are headings and lines between the parts. */
#define SPACIOUS_ROWS 16
/* From this width on figures of the machine are next to the others. */
#define WIDE_COLUMNS 120
#define VALUE_COLUMNS 10

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Takes up to `wanted` rows out of those that are left. */
static int take(int *left, int wanted)
{
    int taken = most(least(*left, wanted), 0);
    *left -= taken;
    return taken;
}

/* `left`: with one row for each figure. */
static int figure_rows(int figures, int left)
{
    if (figures == 0)
        return 1;
    return most(1, least(5, 1 + left / 3 / figures));
}

/* Places the parts one below the other. `table`: rows of the table, its heading included. */
static void place(struct layout *layout, bool has_heading, int table, bool has_separator)
{
    int row = 1;
    if (has_heading)
        layout->heading_row = row++;
    layout->figures_row = row;
    int tall = layout->figures - layout->flat_figures;
    row += tall * layout->figure_rows + layout->flat_figures;
    if (layout->machine_row >= 0)
        layout->machine_row = row++;
    if (layout->activity_row >= 0)
        layout->activity_row = row++;
    layout->gpus_row = row;
    layout->blocks_row = layout->gpus_row + layout->gpus;
    layout->table_row = layout->blocks_row + layout->blocks;
    layout->table_rows = most(table - 1, 0);
    row = layout->table_row + table;
    if (has_separator)
        layout->separator_row = row++;
    layout->output_row = row;
}

struct layout layout_make(int columns, int rows, const struct layout_needs *needs)
{
    struct layout layout = {.heading_row = -1,
        .separator_row = -1,
        .machine_row = -1,
        .activity_row = -1,
        .footer_row = rows - 1,
        .main_columns = columns};
    layout.is_too_small = columns < LAYOUT_MIN_COLUMNS || rows < LAYOUT_MIN_ROWS;
    if (layout.is_too_small)
        return layout;
    bool is_spacious = rows >= SPACIOUS_ROWS;
    int left = rows - 2;                         /* title and footer */
    int table = take(&left, 1 + MIN_TABLE_ROWS); /* its heading too */
    int output = needs->has_output ? take(&left, rows >= 8 ? 1 : 0) : 0;
    int separator = needs->has_output && is_spacious ? take(&left, 1) : 0;
    layout.figures = take(&left, needs->figures);
    int heading = is_spacious ? take(&left, 1) : 0;
    bool is_wide = columns >= WIDE_COLUMNS && needs->n_machine > 0;
    if (is_spacious && needs->has_activity)
        layout.activity_row += take(&left, 1);
    if (is_spacious && needs->n_machine > 0 && !is_wide)
        layout.machine_row += take(&left, 1);
    layout.gpus = take(&left, least(needs->gpus, most(1, left / 2)));
    layout.blocks = take(&left, least(needs->blocks, most(1, left / 3)));
    layout.flat_figures = needs->last_is_flat && layout.figures == needs->figures;
    int tall = layout.figures - layout.flat_figures;
    layout.figure_rows = is_spacious ? figure_rows(tall, left) : 1;
    left -= tall * (layout.figure_rows - 1);
    int area = tall * layout.figure_rows + layout.flat_figures + heading;
    if (is_wide && area >= 3) {
        layout.main_columns = columns * 3 / 5;
        layout.machine_figure_rows = most(1, area / needs->n_machine);
        layout.n_machine = least(needs->n_machine, area / layout.machine_figure_rows);
    }
    if (needs->has_output && !needs->output_is_empty)
        output += take(&left, most(left / 2, left - most(needs->processes - MIN_TABLE_ROWS, 0)));
    table += left;
    if (needs->has_output && needs->output_is_large) {
        output += table;
        table = 0;
    }
    layout.output_rows = output;
    place(&layout, heading > 0, table, separator > 0);
    return layout;
}

struct layout_figure layout_make_figure(int columns, bool is_of_machine)
{
    bool has_curve = columns >= 60;
    struct layout_figure figure = {.now = (is_of_machine ? 13 : 8) + VALUE_COLUMNS};
    figure.peak = figure.now + (has_curve && !is_of_machine ? VALUE_COLUMNS : 0);
    figure.bar = figure.peak + 2;
    figure.note_columns = columns >= 70 && !is_of_machine ? 16 : 0;
    figure.note = columns - figure.note_columns;
    int space = most(0, figure.note - figure.bar - (figure.note_columns > 0 ? 2 : 0));
    figure.bar_columns = has_curve       ? (columns >= 100 ? 20 : 10)
                         : is_of_machine ? least(10, space)
                                         : space;
    figure.curve = figure.bar + figure.bar_columns + (has_curve ? 2 : 0);
    figure.curve_columns = most(0, space - (figure.curve - figure.bar));
    return figure;
}

struct layout_table layout_make_table(int columns, bool has_gpus, bool has_activity)
{
    /* The narrowest terminal on which each is shown. */
    static const struct {
        int width, columns;
    } wanted[TABLE_COMMAND] = {
        [TABLE_PID] = {7, 0},
        [TABLE_DOING] = {9, 60},
        [TABLE_BAR] = {11, 100},
        [TABLE_CPU] = {7, 0},
        [TABLE_RAM] = {9, 36},
        [TABLE_GPU_RAM] = {9, 56},
        [TABLE_THREADS] = {5, 80},
        [TABLE_TIME] = {11, 74},
    };
    struct layout_table table = {0};
    int at = 0;
    for (int i = 0; i < TABLE_COMMAND; i++) {
        bool is_shown = columns >= wanted[i].columns && (i != TABLE_GPU_RAM || has_gpus) &&
                        (i != TABLE_BAR || has_activity);
        table.start[i] = at;
        table.width[i] = is_shown ? wanted[i].width : 0;
        at += table.width[i];
    }
    table.start[TABLE_COMMAND] = at + 1;
    table.width[TABLE_COMMAND] = most(columns - at - 1, 0);
    return table;
}
