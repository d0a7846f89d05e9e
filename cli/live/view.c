#include "view.h"

#include "base/clock.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <gputracker/recorded.h>

/* Of the curves. */
#define SPAN_SECONDS 60
/* The curve of a command that hardly computes is no higher than this asks for. */
#define MIN_FULL_CPU_PERCENT 10

void view_finish(struct view *view)
{
    view_figures_finish(&view->figures);
    process_rows_finish(&view->processes);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* ---- the upper part ---- */

/* Draws what is tracked, and for how long. */
static void draw_title(const struct view *view, struct grid *grid)
{
    char right[64], time[QUANTITY_SIZE];
    double seconds = view->figures.elapsed_seconds - view->figures.back_seconds;
    const char *state = view->figures.is_held ? "held  " : view->has_ended ? "ended  " : "";
    snprintf(right, sizeof right, "%s%s", state, quantity_elapsed(seconds, time));
    int width = (int)strlen(right) + 1;
    grid_fill(grid, 0, 0, grid->columns, STYLE_REVERSE, ' ');
    grid_text(grid, 0, 1, grid->columns - width - 2, STYLE_REVERSE | STYLE_BOLD, view->title);
    grid_text(grid, 0, grid->columns - width, width, STYLE_REVERSE, right);
}

/* Draws the headings of the figures' columns. */
static void draw_heading(const struct view *view, struct grid *grid, int row, int columns)
{
    struct layout_figure at = layout_make_figure(columns, false);
    char when[48], time[QUANTITY_SIZE];
    snprintf(when, sizeof when, "last minute");
    if (view->figures.back_seconds > 0)
        snprintf(when, sizeof when, "minute up to %s ago",
            quantity_elapsed(view->figures.back_seconds, time));
    grid_text_right(
        grid, row, 0, at.now, STYLE_GRAY, view->figures.back_seconds > 0 ? "then" : "now");
    if (at.peak > at.now)
        grid_text_right(grid, row, at.now, at.peak - at.now, STYLE_GRAY, "peak");
    grid_text(grid, row, at.bar, at.bar_columns, STYLE_GRAY, "of all");
    grid_text(grid, row, at.curve, at.curve_columns, STYLE_GRAY, when);
}

/* The upper end of its curve: all there is, else what was the most so far. A low figure must not
 * fill its curve because the last minute had no higher one. */
static double full_of(const struct view_figures *figures, enum figure_id id)
{
    const struct figure *figure = &figures->figures[id];
    if (figure->full > 0 && !figures->is_zoomed)
        return figure->full;
    return fmax(figure->peak, id == FIGURE_CPU ? MIN_FULL_CPU_PERCENT : 0);
}

/* Draws a line from `column` on. */
static void draw_figure(const struct view_figures *figures, enum figure_id id, struct grid *grid,
    int row, int rows, int column, const struct layout_figure *at)
{
    const struct figure *figure = &figures->figures[id];
    char text[QUANTITY_SIZE], note[48];
    enum quantity quantity = figure_quantity(id);
    double value = figure_value(figures, id);
    int name_end = (int)strlen(figure_name(figures, id)) + 1;
    grid_text(grid, row, column, at->now, STYLE_CYAN, figure_name(figures, id));
    grid_text_right(grid, row, column + name_end, at->now - name_end, STYLE_BOLD,
        quantity_text(quantity, value, text));
    if (at->peak > at->now)
        grid_text_right(grid, row, column + at->now, at->peak - at->now, STYLE_PLAIN,
            quantity_text(quantity, figure->peak, text));
    if (figure->full > 0)
        meter_draw(
            grid, row, column + at->bar, at->bar_columns, figure_palette(id), value / figure->full);
    struct curve_place place = {.row = row,
        .column = column + at->curve,
        .columns = at->curve_columns,
        .rows = rows,
        .span = SPAN_SECONDS,
        .back = figures->back_seconds,
        .full = full_of(figures, id),
        .palette = figure_palette(id)};
    live_curve_draw(&figure->curve, grid, &place);
    figure_note(figures, id, note, sizeof note);
    grid_text(grid, row, column + at->note, at->note_columns, STYLE_PLAIN, note);
}

/* Draws the figures of what is tracked, each with its curve. */
static void draw_figures(const struct view *view, const struct layout *layout, struct grid *grid)
{
    int row = layout->figures_row, left = layout->figures;
    struct layout_figure at = layout_make_figure(layout->main_columns, false);
    if (layout->heading_row >= 0)
        draw_heading(view, grid, layout->heading_row, layout->main_columns);
    for (int id = 0; id < FIGURE_MAIN_COUNT && left > 0; id++) {
        if (!figure_is_shown(&view->figures, (enum figure_id)id))
            continue;
        int rows = left > layout->flat_figures ? layout->figure_rows : 1;
        draw_figure(&view->figures, (enum figure_id)id, grid, row, rows, 0, &at);
        row += rows;
        left--;
    }
}

/* Each core is one glyph, as high as it is busy; a glyph is the mean of several cores where there
 * are more of them than columns. Returns the columns that they take. */
static int draw_cores(
    const struct view_figures *figures, struct grid *grid, int row, int column, int columns)
{
    size_t n_cores = figures->n_cores, space = columns > 0 ? (size_t)columns : 0;
    size_t count = n_cores < space ? n_cores : space, next = 0;
    if (figures->back_seconds > 0) /* they are known of now alone */
        return grid_text(grid, row, column, columns, STYLE_GRAY, "-");
    for (size_t i = 0; i < count; i++) {
        size_t first = next;
        double sum = 0;
        for (; next < (i + 1) * n_cores / count; next++)
            sum += figures->cores[next];
        double share = sum / (double)(next - first) / 100;
        meter_put(grid, row, column + (int)i, PALETTE_USE, share,
            isnan(share) ? 0 : 1 + (int)(share * 6));
    }
    return (int)count;
}

/* What the machine does, right of the figures. */
static void draw_machine_figures(
    const struct view *view, const struct layout *layout, struct grid *grid)
{
    int row = layout->heading_row >= 0 ? layout->heading_row : layout->figures_row;
    int column = layout->main_columns + 2, columns = grid->columns - column;
    struct layout_figure at = layout_make_figure(columns, true);
    int left = layout->n_machine;
    if (left > 0 && view->figures.n_cores > 0) {
        grid_text(grid, row, column, at.now, STYLE_CYAN, "Cores");
        draw_cores(&view->figures, grid, row, column + 13, columns - 13);
        row += layout->machine_figure_rows;
        left--;
    }
    for (int id = FIGURE_MAIN_COUNT; id < FIGURE_COUNT && left > 0; id++) {
        if (!figure_is_shown(&view->figures, (enum figure_id)id))
            continue;
        draw_figure(&view->figures, (enum figure_id)id, grid, row, layout->machine_figure_rows,
            column, &at);
        row += layout->machine_figure_rows;
        left--;
    }
}

/* The same in one line, as far as there is space. */
static void draw_machine_line(const struct view_figures *figures, struct grid *grid, int row)
{
    int column = 0;
    if (figures->n_cores > 0 && figures->n_cores <= (size_t)grid->columns / 4) {
        column = grid_text(grid, row, 0, grid->columns, STYLE_CYAN, "Cores ");
        column += draw_cores(figures, grid, row, column, grid->columns - column) + 2;
    }
    for (int id = FIGURE_MAIN_COUNT; id < FIGURE_COUNT; id++) {
        char value[QUANTITY_SIZE];
        const char *name = figure_name(figures, (enum figure_id)id);
        double now = figure_value(figures, (enum figure_id)id);
        quantity_text(figure_quantity((enum figure_id)id), now, value);
        if (!figure_is_shown(figures, (enum figure_id)id) ||
            column + (int)(strlen(name) + strlen(value)) + 1 > grid->columns)
            continue;
        bool is_wait = figure_palette((enum figure_id)id) == PALETTE_WAIT;
        column += grid_text(grid, row, column, grid->columns, STYLE_CYAN, name) + 1;
        column += grid_text(grid, row, column, grid->columns,
                      is_wait ? meter_style(PALETTE_WAIT, now / 100) : STYLE_PLAIN, value) +
                  2;
    }
}

/* Temperature, clock and what slows the card, as far as they are known. */
static void describe_card(const struct gpu_figure *gpu, bool is_ascii, char *text, size_t size)
{
    char watts[2 * QUANTITY_SIZE + 4];
    if (gpu->watts_limit > 0)
        quantity_share(QUANTITY_WATTS, gpu->watts, gpu->watts_limit, watts, sizeof watts);
    else
        quantity_text(QUANTITY_WATTS, gpu->watts, watts);
    int length = snprintf(text, size, "%s", watts);
    if (gpu->celsius > 0)
        length += snprintf(text + length, size - (size_t)length, "  %.0f %sC", gpu->celsius,
            is_ascii ? "" : "\u00b0");
    if (gpu->clock_mhz > 0)
        snprintf(text + length, size - (size_t)length, "  %.2f GHz", gpu->clock_mhz / 1000);
}

/* Its use and its RAM with their last minute, then the card, then who uses it, which are known of
 * now alone. */
static void draw_gpu(const struct view *view, size_t index, struct grid *grid, int row)
{
    const struct gpu_figure *gpu = &view->figures.gpus[index];
    struct layout_figure at = layout_make_figure(grid->columns, false);
    char text[QUANTITY_SIZE], note[128], ram[2 * QUANTITY_SIZE + 4];
    double back = view->figures.back_seconds, use = live_curve_value(&gpu->utilization, back),
           bytes = live_curve_value(&gpu->ram, back);
    snprintf(note, sizeof note, "GPU %zu", index);
    grid_text(grid, row, 0, at.now, STYLE_CYAN, note);
    int name_end = (int)strlen(note) + 1;
    grid_text_right(grid, row, name_end, at.now - name_end, STYLE_BOLD,
        quantity_text(QUANTITY_PERCENT, use, text));
    if (at.peak > at.now)
        grid_text_right(grid, row, at.now, at.peak - at.now, STYLE_PLAIN,
            quantity_text(QUANTITY_PERCENT, gpu->utilization.peak, text));
    int column = at.bar, curve = grid->columns >= 150 ? 30 : grid->columns >= 100 ? 16 : 0;
    int columns = curve > 0 ? curve : grid->columns >= 80 ? 10 : 0;
    struct curve_place place = {.row = row,
        .column = column,
        .columns = columns,
        .rows = 1,
        .span = SPAN_SECONDS,
        .back = back,
        .full = 100,
        .palette = PALETTE_USE};
    live_curve_draw(&gpu->utilization, grid, &place);
    column += columns > 0 ? columns + 2 : 0;
    quantity_share(QUANTITY_BYTES, bytes, gpu->capacity_bytes, ram, sizeof ram);
    column += grid_text(grid, row, column, grid->columns - column,
                  meter_style(PALETTE_SCARCE, bytes / gpu->capacity_bytes), ram) +
              2;
    place.column = column;
    place.columns = curve;
    place.full = gpu->capacity_bytes;
    place.palette = PALETTE_SCARCE;
    live_curve_draw(&gpu->ram, grid, &place);
    column += curve > 0 ? curve + 2 : 0;
    bool is_now = !(back > 0), is_hot = gpu->celsius > gpu->slowdown_celsius - 5;
    if (is_now) {
        describe_card(gpu, grid->is_ascii, note, sizeof note);
        column += grid_text(grid, row, column, grid->columns - column,
                      is_hot ? STYLE_YELLOW : STYLE_PLAIN, note) +
                  2;
    }
    if (is_now && gpu->slowed_by[0]) {
        snprintf(note, sizeof note, "slowed by %.100s", gpu->slowed_by);
        column += grid_text(grid, row, column, grid->columns - column, STYLE_RED, note) + 2;
    }
    if (is_now && gpu->users[0])
        column += grid_text(grid, row, column, grid->columns - column, STYLE_PLAIN, gpu->users) + 2;
    grid_text(grid, row, column, grid->columns - column, STYLE_GRAY, gpu->name);
}

/* Draws the code blocks that are open. */
static void draw_blocks(const struct view *view, const struct layout *layout, struct grid *grid)
{
    for (int i = 0; i < layout->blocks; i++) {
        const struct open_block *block = &view->blocks->blocks[i];
        char text[QUANTITY_SIZE], note[192];
        int row = layout->blocks_row + i, hidden = (int)view->blocks->count - layout->blocks;
        grid_text(grid, row, 0, 8, STYLE_CYAN, i == 0 ? "Blocks" : "");
        grid_text_right(
            grid, row, 8, 10, STYLE_PLAIN, quantity_elapsed(view->now - block->start, text));
        snprintf(note, sizeof note, "%s", block->name);
        int used = grid_text(grid, row, 20, grid->columns - 20, STYLE_BOLD, note);
        if (i == layout->blocks - 1 && hidden > 0)
            snprintf(note, sizeof note, "and %d more", hidden);
        else if (block->calls > 1)
            snprintf(note, sizeof note, "%u calls", block->calls);
        else
            snprintf(note, sizeof note, "in %lld", (long long)block->process_id);
        grid_text(grid, row, 22 + used, grid->columns - 22 - used, STYLE_GRAY, note);
    }
}

/* ---- processes ---- */

/* Draws the headings of the table; the one that it is sorted by is bold. */
static void draw_table_heading(
    const struct view *view, const struct layout_table *table, struct grid *grid, int row)
{
    static const char *const names[TABLE_COLUMNS] = {
        "PID", "Doing", "", "CPU %", "RAM", "GPU RAM", "Thr", "CPU time", "Command"};
    static const int sorts[TABLE_COLUMNS] = {
        SORT_PID, -1, -1, SORT_CPU, SORT_RAM, SORT_GPU_RAM, -1, SORT_TIME, SORT_NAME};
    for (int i = 0; i < TABLE_COLUMNS; i++) {
        unsigned style = sorts[i] == (int)view->processes.sort ? STYLE_BOLD : STYLE_GRAY;
        if (i == TABLE_COMMAND)
            grid_text(grid, row, table->start[i], table->width[i], style, names[i]);
        else if (i == TABLE_DOING && table->width[i] > 0)
            grid_text(grid, row, table->start[i] + 1, table->width[i] - 1, style, names[i]);
        else
            grid_text_right(grid, row, table->start[i], table->width[i], style, names[i]);
    }
}

/* The lines that lead to a process; returns the columns they take. */
static int draw_branch(const struct process_row *row, struct grid *grid, int y, int x, int width)
{
    bool ascii = grid->is_ascii;
    int used = 0;
    /* Where there is no space for all levels, the outer ones are left out. */
    unsigned most = width > 4 ? (unsigned)width / 4 : 1;
    unsigned level = row->depth > most ? row->depth - most + 1 : 1;
    for (; level <= row->depth; level++, used += 2) {
        bool is_own = level == row->depth;
        bool goes_on = level < 64 && (row->open_levels >> level & 1);
        uint32_t glyph = ' ';
        if (is_own)
            glyph = row->is_last ? (ascii ? '`' : 0x2514) : (ascii ? '|' : 0x251C);
        else if (goes_on)
            glyph = ascii ? '|' : 0x2502;
        grid_put(grid, y, x + used, glyph, STYLE_GRAY);
        grid_put(grid, y, x + used + 1, is_own ? (ascii ? '-' : 0x2500) : ' ', STYLE_GRAY);
    }
    return used;
}

/* Draws the command line of a process, in the tree with its branch. */
static void draw_command(
    struct view *view, const struct process_row *row, struct grid *grid, int y, int x, int width)
{
    char folded[32];
    int used = view->processes.is_tree ? draw_branch(row, grid, y, x, width) : 0;
    if (row->folded > 0) {
        snprintf(folded, sizeof folded, "[+%zu] ", row->folded);
        used += grid_text(grid, y, x + used, width - used, STYLE_CYAN, folded);
    }
    const char *command = process_rows_command(&view->processes, row);
    bool lives = row->process->threads > 0;
    grid_text(grid, y, x + used, width - used, lives ? STYLE_PLAIN : STYLE_GRAY, command);
    if (lives) /* the program stands out from its arguments */
        grid_restyle(
            grid, y, x + used, least((int)strcspn(command, " "), width - used), STYLE_BOLD);
}

/* A word of what a process does, in the colours of the bar. */
static unsigned style_of_doing(const char *doing)
{
    static const struct {
        const char *word;
        unsigned style;
    } words[] = {{"running", STYLE_GREEN}, {"CPU wait", STYLE_RED}, {"quota", STYLE_RED},
        {"storage", STYLE_YELLOW}, {"paging", STYLE_YELLOW}, {"stopped", STYLE_MAGENTA}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, doing) == 0)
            return words[i].style;
    return STYLE_GRAY;
}

/* Draws the row of a process. */
static void draw_process(struct view *view, const struct process_row *row,
    const struct layout_table *table, struct grid *grid, int y)
{
    char text[TABLE_COMMAND][QUANTITY_SIZE + 1];
    snprintf(text[TABLE_PID], sizeof text[0], "%d", (int)row->process->pid);
    text[TABLE_BAR][0] = '\0';
    snprintf(
        text[TABLE_CPU], sizeof text[0], isnan(row->cpu_percent) ? "-" : "%.1f", row->cpu_percent);
    quantity_text(QUANTITY_BYTES, row->ram_bytes, text[TABLE_RAM]);
    if (row->ram_is_least)
        strcat(text[TABLE_RAM], "+");
    quantity_text(QUANTITY_BYTES, row->gpu_ram_bytes, text[TABLE_GPU_RAM]);
    snprintf(text[TABLE_THREADS], sizeof text[0], "%u", row->threads);
    quantity_text(QUANTITY_SECONDS, row->cpu_seconds, text[TABLE_TIME]);
    const char *doing = process_row_doing(row);
    if (table->width[TABLE_DOING] > 0)
        grid_text(grid, y, table->start[TABLE_DOING] + 1, table->width[TABLE_DOING] - 1,
            style_of_doing(doing), doing);
    if (table->width[TABLE_BAR] > 0)
        meter_draw_activity(
            grid, y, table->start[TABLE_BAR] + 1, table->width[TABLE_BAR] - 1, row->activity);
    for (int i = 0; i < TABLE_COMMAND; i++) {
        if (i == TABLE_DOING || i == TABLE_BAR)
            continue;
        bool is_idle = (i == TABLE_CPU && !(row->cpu_percent >= 0.05)) ||
                       (i == TABLE_GPU_RAM && !(row->gpu_ram_bytes > 0));
        if (table->width[i] > 1)
            grid_text_right(grid, y, table->start[i] + 1, table->width[i] - 1,
                is_idle ? STYLE_GRAY : STYLE_PLAIN, text[i]);
    }
    draw_command(view, row, grid, y, table->start[TABLE_COMMAND], table->width[TABLE_COMMAND]);
}

/* Scrolls the table to its selected row, and not beyond its end. */
static void keep_selection_in_view(struct view *view)
{
    const struct process_rows *rows = &view->processes;
    size_t page = view->page > 0 ? (size_t)view->page : 1;
    if (process_rows_selected(rows)) {
        if (rows->selected < view->top)
            view->top = rows->selected;
        if (rows->selected >= view->top + page)
            view->top = rows->selected - page + 1;
    }
    if (view->top + page > rows->count)
        view->top = rows->count > page ? rows->count - page : 0;
}

/* Draws the table of processes. */
static void draw_processes(struct view *view, const struct layout *layout, struct grid *grid)
{
    const struct process_rows *rows = &view->processes;
    view->page = layout->table_rows;
    if (layout->table_rows <= 0)
        return;
    struct layout_table table = view->table = layout_make_table(
        grid->columns, view->figures.n_gpus > 0, !isnan(process_rows_activity(rows).computing));
    draw_table_heading(view, &table, grid, layout->table_row);
    keep_selection_in_view(view);
    for (int i = 0; i < layout->table_rows && view->top + (size_t)i < rows->count; i++) {
        size_t index = view->top + (size_t)i;
        int y = layout->table_row + 1 + i;
        draw_process(view, &rows->rows[index], &table, grid, y);
        if (process_rows_selected(rows) == &rows->rows[index])
            grid_restyle(grid, y, 0, grid->columns, STYLE_REVERSE);
    }
}

/* ---- the lower part ---- */

/* Draws the last lines that the command printed, or those that one scrolled to. */
static void draw_output(struct view *view, const struct layout *layout, struct grid *grid)
{
    char below[48];
    if (!view->output || layout->output_rows <= 0)
        return;
    if (layout->separator_row >= 0) {
        grid_fill(grid, layout->separator_row, 0, grid->columns, STYLE_GRAY,
            grid->is_ascii ? '-' : 0x2500);
        grid_text(grid, layout->separator_row, 2, grid->columns - 2, STYLE_GRAY, " output ");
    }
    /* Keep what one scrolled to in its place when lines come. */
    int rows = layout->output_rows;
    size_t lines = transcript_lines(view->output), kept = transcript_kept(view->output);
    size_t most = kept > (size_t)rows ? kept - (size_t)rows : 0;
    if (view->output_up > 0 && lines > view->output_lines)
        view->output_up += lines - view->output_lines;
    view->output_up = view->output_up < most ? view->output_up : most;
    view->output_lines = lines;
    view->output_page = rows;
    transcript_draw(view->output, grid, layout->output_row, layout->output_rows, view->output_up);
    if (view->output_up == 0)
        return;
    snprintf(below, sizeof below, " %zu line%s below ", view->output_up,
        view->output_up == 1 ? "" : "s");
    int row = layout->separator_row >= 0 ? layout->separator_row : layout->output_row;
    grid_text_right(grid, row, 0, grid->columns, STYLE_YELLOW, below);
}

/* Draws a question, and the end of the answer that is being typed. */
static void prompt(struct grid *grid, int row, const char *question, const char *typed)
{
    int used = grid_text(grid, row, 0, grid->columns, STYLE_BOLD, question);
    int space = grid->columns - used - 1;
    /* The end of a long text is what is being typed. */
    size_t length = strlen(typed), skipped = 0;
    while (length - skipped > (size_t)(space > 0 ? space : 0))
        skipped++;
    while ((typed[skipped] & 0xC0) == 0x80)
        skipped++;
    used += grid_text(grid, row, used, space, STYLE_PLAIN, typed + skipped);
    grid_put(grid, row, used, ' ', STYLE_REVERSE);
}

/* Keys with what they do, as many as there is space for. */
static void draw_keys(struct view *view, struct grid *grid, int row)
{
    const char *sort = process_sort_name(view->processes.sort);
    const struct {
        const char *key, *meaning, *value;
        bool is_shown;
        uint32_t pressed;
    } keys[] = {
        {"q", view->runs_command ? "close" : "quit", "", true, 'q'},
        {"?", "help", "", true, '?'},
        {"s", "sort: ", sort, true, 's'},
        {"t", view->processes.is_tree ? "flat" : "tree", "", true, 't'},
        {"/", "filter", "", true, '/'},
        {"<", "earlier", "", true, '<'},
        {">", "later", "", view->figures.is_held, '>'},
        {"p", view->figures.is_held ? "go on" : "hold", "", true, 'p'},
        {"K", "signal", "", true, 'K'},
        {"i", "input", "", view->takes_input, 'i'},
        {"o", "output", "", view->output != NULL, 'o'},
    };
    int at = 0;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char text[48];
        snprintf(text, sizeof text, " %s%s", keys[i].meaning, keys[i].value);
        int width = (int)(strlen(keys[i].key) + strlen(text));
        if (!keys[i].is_shown || at + width > grid->columns)
            continue;
        at += grid_text(grid, row, at, grid->columns - at, STYLE_CYAN, keys[i].key);
        at += grid_text(grid, row, at, grid->columns - at, STYLE_PLAIN, text) + 2;
        view->footer[view->n_footer++] = (struct footer_key){at, keys[i].pressed};
    }
}

/* With all that can be answered; the process is selected, and the row has its name. */
static void ask_signal(const struct view *view, int columns, char *question, size_t size)
{
    int pid = (int)view->signalled.pid;
    int length = snprintf(question, size,
        "Send SIGTERM to %d %s?  y yes  9 SIGKILL  2 SIGINT  other keys: no", pid,
        view->signalled_name);
    if (length > columns)
        snprintf(question, size, "Signal %d? y TERM  9 KILL  2 INT", pid);
}

/* Draws the last row: a question, a message, the filter, or the keys. */
static void draw_footer(struct view *view, struct grid *grid, int row)
{
    char question[160];
    switch (view->mode) {
    case VIEW_FILTER:
        prompt(grid, row, "Filter: ", view->processes.filter);
        return;
    case VIEW_INPUT:
        prompt(grid, row, "To the command: ", view->input);
        return;
    case VIEW_SIGNAL:
        ask_signal(view, grid->columns, question, sizeof question);
        grid_text(grid, row, 0, grid->columns, STYLE_BOLD | STYLE_YELLOW, question);
        return;
    default:
        break;
    }
    if (view->message[0]) {
        grid_text(grid, row, 0, grid->columns, STYLE_YELLOW, view->message);
    } else if (view->processes.filter[0]) {
        snprintf(question, sizeof question, "Filter: %s  (%zu of %zu)  Esc: all",
            view->processes.filter, view->processes.count, view->processes.total);
        grid_text(grid, row, 0, grid->columns, STYLE_PLAIN, question);
    } else {
        draw_keys(view, grid, row);
    }
}

/* Draws the help page. */
static void draw_help(struct view *view, struct grid *grid)
{
    static const char *const lines[][2] = {
        {"q", "close the view"},
        {"up down j k", "select a process"},
        {"PgUp PgDn", "a page up or down"},
        {"s S", "sort by next, by previous"},
        {"t", "tree or flat"},
        {"space", "fold or unfold a process"},
        {"/", "show processes with a text"},
        {"K x", "signal a selected process"},
        {"< >", "look back ten minutes"},
        {"p", "hold the view; go on"},
        {"z", "curves up to their peak"},
        {"mouse", "select, sort, scroll"},
        {"o", "output: large, to scroll"},
        {"i", "type a line to the command"},
        {"Ctrl-L", "draw everything anew"},
        {"kthreadd", "kernel threads, folded"},
        {"now, peak", "of all tracked processes"},
        {"1.2 GB+", "a folded one: that or more"},
        {"-", "not known"},
    };
    for (int row = 0; row < grid->rows; row++)
        grid_fill(grid, row, 0, grid->columns, STYLE_PLAIN, ' ');
    draw_title(view, grid);
    int count = (int)(sizeof lines / sizeof lines[0]), end = view->help_top + grid->rows - 2;
    for (int i = view->help_top; i < count && i < end; i++) {
        int row = 1 + i - view->help_top;
        grid_text(grid, row, 1, 13, STYLE_CYAN, lines[i][0]);
        grid_text(grid, row, 14, grid->columns - 14, STYLE_PLAIN, lines[i][1]);
    }
    view->help_next = end < count ? end : 0;
    grid_text(grid, grid->rows - 1, 0, grid->columns, STYLE_PLAIN,
        view->help_next ? "Any key: more" : "Any key: back");
}

void view_draw(struct view *view, struct grid *grid)
{
    struct layout_needs needs = {.gpus = (int)view->figures.n_gpus,
        .blocks = view->blocks ? (int)view->blocks->count : 0,
        .has_output = view->output != NULL,
        .output_is_empty = view->output && transcript_is_empty(view->output),
        .output_is_large = view->output_is_large};
    struct activity activity = process_rows_activity(&view->processes);
    needs.has_activity = !isnan(activity.computing);
    needs.n_machine = view->figures.n_cores > 0;
    for (int id = 0; id < FIGURE_COUNT; id++)
        *(id < FIGURE_MAIN_COUNT ? &needs.figures : &needs.n_machine) +=
            figure_is_shown(&view->figures, (enum figure_id)id);
    view->most_processes =
        view->processes.total > view->most_processes ? view->processes.total : view->most_processes;
    needs.processes = view->most_processes < INT_MAX ? (int)view->most_processes : INT_MAX;
    needs.last_is_flat = figure_is_shown(&view->figures, FIGURE_THREADS);
    struct layout layout = view->layout = layout_make(grid->columns, grid->rows, &needs);
    grid_clear(grid);
    view->n_footer = 0;
    if (layout.is_too_small) {
        grid_text(grid, 0, 0, grid->columns, STYLE_PLAIN, "too small");
        return;
    }
    if (view->mode == VIEW_HELP) {
        draw_help(view, grid);
        return;
    }
    draw_title(view, grid);
    draw_figures(view, &layout, grid);
    draw_machine_figures(view, &layout, grid);
    if (layout.machine_row >= 0)
        draw_machine_line(&view->figures, grid, layout.machine_row);
    if (layout.activity_row >= 0) {
        /* What all tracked processes do, as a bar and in words. */
        int row = layout.activity_row;
        struct activity shares = activity_shares(activity);
        const struct {
            const char *word;
            double share;
        } parts[] = {{"computing", shares.computing}, {"waiting for a CPU", shares.cpu_wait},
            {"storage", shares.storage},
            {"asleep", 1 - shares.computing - shares.cpu_wait - shares.storage}};
        int bar = grid->columns >= 100 ? 20 : grid->columns >= 60 ? 16 : 10, column = 8 + bar + 2;
        grid_text(grid, row, 0, 8, STYLE_CYAN, "Doing");
        meter_draw_activity(grid, row, 8, bar, activity);
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
            char text[48];
            if (!(parts[i].share >= 0.005))
                continue;
            snprintf(text, sizeof text, "%.0f %% %s", 100 * parts[i].share, parts[i].word);
            column += grid_text(grid, row, column, grid->columns - column, STYLE_PLAIN, text) + 2;
        }
    }
    for (int i = 0; i < layout.gpus; i++)
        draw_gpu(view, (size_t)i, grid, layout.gpus_row + i);
    draw_blocks(view, &layout, grid);
    draw_processes(view, &layout, grid);
    draw_output(view, &layout, grid);
    draw_footer(view, grid, layout.footer_row);
}

#define MIN_PAUSE_MS 1000
/* The pause is so many times as long as the reading before. */
#define PAUSE_SHARE 100
/* Reading more would hold the view up; a session of hours has files like that. */
#define MAX_BYTES (32 << 20)

void open_blocks_finish(struct open_blocks *blocks)
{
    free(blocks->blocks);
    *blocks = (struct open_blocks){0};
}

static bool lives(const struct gput_snapshot *snapshot, int64_t process_id)
{
    const struct gput_snapshot_process *process;
    for (size_t i = 0; (process = gput_snapshot_process(snapshot, i)); i++)
        if (process->pid == process_id)
            return process->threads > 0;
    return false;
}

/* The block of that name in that process; NULL without memory. */
static struct open_block *block_of(
    struct open_blocks *blocks, const char *name, int64_t process_id, double start)
{
    for (size_t i = 0; i < blocks->count; i++)
        if (blocks->blocks[i].process_id == process_id &&
            strncmp(blocks->blocks[i].name, name, sizeof blocks->blocks[i].name - 1) == 0)
            return &blocks->blocks[i];
    if (blocks->count == blocks->capacity) {
        size_t capacity = blocks->capacity * 2 + 16;
        struct open_block *grown = realloc(blocks->blocks, capacity * sizeof *grown);
        if (!grown)
            return NULL;
        blocks->blocks = grown;
        blocks->capacity = capacity;
    }
    struct open_block *block = &blocks->blocks[blocks->count++];
    *block = (struct open_block){.process_id = process_id, .start = start};
    snprintf(block->name, sizeof block->name, "%s", name);
    return block;
}

static int compare(const void *a, const void *b)
{
    const struct open_block *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

/* Columns of the table, in its order. */
enum { PROCESS_ID, THREAD_ID, NAME, START };

/* Counts the open calls of each block and process that lives. */
static void take_table(struct open_blocks *blocks, const struct gput_table *table,
    const struct gput_snapshot *snapshot)
{
    for (size_t row = 0; row < gput_table_row_count(table); row++) {
        int64_t process_id = gput_table_int(table, row, PROCESS_ID);
        double start = gput_table_double(table, row, START);
        if (!lives(snapshot, process_id))
            continue;
        struct open_block *block =
            block_of(blocks, gput_table_text(table, row, NAME), process_id, start);
        if (!block)
            return;
        block->calls++;
        block->start = start < block->start ? start : block->start;
    }
    if (blocks->count > 1)
        qsort(blocks->blocks, blocks->count, sizeof *blocks->blocks, compare);
}

bool open_blocks_update(
    struct open_blocks *blocks, const struct gput_snapshot *snapshot, int64_t now)
{
    struct stat info;
    struct gput_tables *tables = NULL;
    if (!blocks->path || now < blocks->due_ms)
        return false;
    blocks->count = 0;
    if (stat(blocks->path, &info) == 0 && info.st_size <= MAX_BYTES &&
        gput_recorded_open_calls(blocks->path, &tables, NULL) == GPUT_OK)
        take_table(blocks, gput_tables_find(tables, "open_calls"), snapshot);
    gput_tables_destroy(tables);
    int64_t pause = PAUSE_SHARE * (clock_monotonic_ms() - now);
    blocks->due_ms = now + (pause > MIN_PAUSE_MS ? pause : MIN_PAUSE_MS);
    return true;
}
