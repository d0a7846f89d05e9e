#include "base/utf8.h"
#include "view.h"

#include "keys.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* How far a key looks back, and a step of the wheel moves. */
#define BACK_STEP_SECONDS 15
#define WHEEL_ROWS 3

/* Appends what was typed, or takes the last character away. */
static void edit(char *text, size_t size, uint32_t key)
{
    size_t length = strlen(text);
    if (key == KEY_BACKSPACE) {
        while (length > 0 && (text[--length] & 0xC0) == 0x80)
            ;
        text[length] = '\0';
        return;
    }
    char bytes[4];
    if (key < ' ' || key >= KEY_UP || utf8_columns(key) < 0)
        return;
    size_t added = utf8_bytes_of(key, bytes);
    if (length + added >= size)
        return;
    memcpy(text + length, bytes, added);
    text[length + added] = '\0';
}

/* Handles a key while the filter is typed. */
static enum view_action filter_key(struct view *view, uint32_t key)
{
    char *filter = view->processes.filter;
    if (key == KEY_ENTER || key == KEY_ESCAPE)
        view->mode = VIEW_NORMAL;
    if (key == KEY_ESCAPE)
        memcpy(filter, view->filter_before, sizeof view->filter_before);
    edit(filter, sizeof view->processes.filter, key);
    view->top = 0;
    process_rows_arrange(&view->processes);
    return VIEW_NOTHING;
}

/* Handles a key while a line for the command is typed. */
static enum view_action input_key(struct view *view, uint32_t key)
{
    if (key == KEY_ESCAPE)
        view->mode = VIEW_NORMAL;
    edit(view->input, sizeof view->input, key);
    if (key != KEY_ENTER)
        return VIEW_NOTHING;
    view->mode = VIEW_NORMAL;
    return VIEW_SEND_INPUT;
}

/* Handles the answer to the question about a signal. */
static enum view_action signal_key(struct view *view, uint32_t key)
{
    view->mode = VIEW_NORMAL;
    view->signal_number = key == 'y' || key == 'Y' ? SIGTERM
                          : key == '9'             ? SIGKILL
                          : key == '2'             ? SIGINT
                                                   : 0;
    return view->signal_number ? VIEW_SEND_SIGNAL : VIEW_NOTHING;
}

/* Asks which signal to send to the selected process. */
static void begin_signal(struct view *view)
{
    const struct process_row *row = process_rows_selected(&view->processes);
    if (!row) {
        snprintf(view->message, sizeof view->message, "Select a process first (arrow keys).");
        return;
    }
    view->signalled = row->note->id;
    memcpy(view->signalled_name, row->process->name, sizeof view->signalled_name);
    view->mode = VIEW_SIGNAL;
}

static void sort_by(struct view *view, int by)
{
    view->processes.sort =
        (enum process_sort)(((int)view->processes.sort + by + SORT_COUNT) % SORT_COUNT);
    process_rows_arrange(&view->processes);
}

/* Rows down. */
static long way_of(uint32_t key, int shown, long all)
{
    long page = shown > 1 ? shown - 1 : 1;
    return key == KEY_UP || key == 'k'     ? -1
           : key == KEY_DOWN || key == 'j' ? 1
           : key == KEY_PAGE_UP            ? -page
           : key == KEY_PAGE_DOWN          ? page
           : key == KEY_HOME               ? -all
                                           : all;
}

/* Among the processes; where the output has their place, in that. */
static void move(struct view *view, uint32_t key)
{
    if (view->output_is_large) {
        long all = (long)transcript_kept(view->output);
        long up = (long)view->output_up - way_of(key, view->output_page, all);
        view->output_up = up > 0 ? (size_t)up : 0;
    } else {
        process_rows_move(&view->processes, way_of(key, view->page, (long)view->processes.count));
    }
}

/* Shows what was `seconds` earlier, or later; from now on, all goes on. */
static enum view_action look_back(struct view *view, double seconds)
{
    struct view_figures *figures = &view->figures;
    /* The first second has no rate yet. */
    double most = fmin(fmax(figures->elapsed_seconds - 1, 0), BACK_SECONDS);
    double back = figures->back_seconds + seconds;
    figures->back_seconds = back > most ? most : back;
    figures->is_held = back > 0.5;
    if (!figures->is_held)
        figures->back_seconds = 0;
    return VIEW_GO_BACK;
}

/* Handles a key of the table of processes. */
static void list_key(struct view *view, uint32_t key)
{
    switch (key) {
    case 's':
    case KEY_RIGHT:
        sort_by(view, 1);
        break;
    case 'S':
    case KEY_LEFT:
        sort_by(view, -1);
        break;
    case 't':
        view->processes.is_tree = !view->processes.is_tree;
        process_rows_arrange(&view->processes);
        break;
    case ' ':
        process_rows_toggle_fold(&view->processes);
        break;
    case 'K':
    case 'x':
        begin_signal(view);
        break;
    case KEY_ESCAPE:
        view->processes.filter[0] = '\0';
        view->processes.selection.pid = 0;
        view->top = 0;
        process_rows_arrange(&view->processes);
        break;
    case KEY_UP:
    case KEY_DOWN:
    case KEY_PAGE_UP:
    case KEY_PAGE_DOWN:
    case KEY_HOME:
    case KEY_END:
    case 'j':
    case 'k':
        move(view, key);
        break;
    default:
        break;
    }
}

/* Handles a key when nothing is asked. */
static enum view_action normal_key(struct view *view, uint32_t key)
{
    switch (key) {
    case 'q':
    case 'Q':
        return VIEW_CLOSE;
    case '?':
    case 'h':
        view->mode = VIEW_HELP;
        break;
    case '/':
    case 'f':
        memcpy(view->filter_before, view->processes.filter, sizeof view->filter_before);
        view->mode = VIEW_FILTER;
        break;
    case 'p':
        view->figures.is_held = !view->figures.is_held;
        view->figures.back_seconds = 0;
        return VIEW_GO_BACK;
    case 'z':
        view->figures.is_zoomed = !view->figures.is_zoomed;
        break;
    case '<':
    case ',':
        return look_back(view, BACK_STEP_SECONDS);
    case '>':
    case '.':
        return look_back(view, -BACK_STEP_SECONDS);
    case 'o':
        view->output_is_large = view->output && !view->output_is_large;
        view->output_up = 0;
        break;
    case 'i':
        view->input[0] = '\0';
        view->mode = view->takes_input ? VIEW_INPUT : VIEW_NORMAL;
        break;
    case 'L' - '@':
        return VIEW_REDRAW;
    default:
        list_key(view, key);
    }
    return VIEW_NOTHING;
}

/* A click on a process selects it, on a heading sorts by it, on a key of the footer presses it. */
static enum view_action click(struct view *view, int row, int column)
{
    static const int sorts[TABLE_COLUMNS] = {[TABLE_PID] = 1 + SORT_PID,
        [TABLE_CPU] = 1 + SORT_CPU,
        [TABLE_RAM] = 1 + SORT_RAM,
        [TABLE_GPU_RAM] = 1 + SORT_GPU_RAM,
        [TABLE_TIME] = 1 + SORT_TIME,
        [TABLE_COMMAND] = 1 + SORT_NAME};
    const struct layout *layout = &view->layout;
    int below = row - layout->table_row - 1;
    if (row == layout->footer_row) {
        for (size_t i = 0; i < view->n_footer; i++)
            if (column < view->footer[i].end)
                return normal_key(view, view->footer[i].key);
    } else if (row == layout->table_row && layout->table_rows > 0) {
        int at = TABLE_COLUMNS - 1;
        while (at > 0 && (view->table.width[at] == 0 || column < view->table.start[at]))
            at--;
        if (sorts[at] > 0)
            sort_by(view, sorts[at] - 1 - (int)view->processes.sort);
    } else if (below >= 0 && below < layout->table_rows &&
               view->top + (size_t)below < view->processes.count) {
        process_rows_move(&view->processes, LONG_MIN / 2);
        process_rows_move(&view->processes, (long)view->top + below);
    }
    return VIEW_NOTHING;
}

enum view_action view_key(struct view *view, uint32_t key, int row, int column)
{
    view->message[0] = '\0';
    if (view->mode == VIEW_NORMAL && key == KEY_CLICK)
        return click(view, row, column);
    if (view->mode == VIEW_NORMAL && (key == KEY_WHEEL_UP || key == KEY_WHEEL_DOWN)) {
        /* Above the processes the wheel moves through time, else through what is below it. */
        bool up = key == KEY_WHEEL_UP;
        if (row < view->layout.table_row)
            return look_back(view, up ? BACK_STEP_SECONDS : -BACK_STEP_SECONDS);
        for (int i = 0; i < WHEEL_ROWS; i++)
            move(view, up ? KEY_UP : KEY_DOWN);
        return VIEW_NOTHING;
    }
    switch (view->mode) {
    case VIEW_FILTER:
        return filter_key(view, key);
    case VIEW_INPUT:
        return input_key(view, key);
    case VIEW_SIGNAL:
        return signal_key(view, key);
    case VIEW_HELP:
        view->help_top = key == KEY_ESCAPE || key == 'q' ? 0 : view->help_next;
        view->mode = view->help_top > 0 ? VIEW_HELP : VIEW_NORMAL;
        return VIEW_NOTHING;
    default:
        return normal_key(view, key);
    }
}
