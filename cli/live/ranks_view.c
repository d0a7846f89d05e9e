#include "ranks_view.h"

#include "base/error.h"
#include "frame.h"
#include "guard.h"
#include "keys.h"
#include "quantity.h"
#include "ranks.h"
#include "terminal.h"
#include "track/signals.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRAW_MS 500
/* Rows above the ranks, and below. */
#define HEAD_ROWS 5
#define FOOT_ROWS 1

struct ranks_view {
    const char *source;
    struct rank_row *rows; /* owned */
    size_t count, top;     /* `top`: the first row that is shown */
    char message[200];     /* why there are no rows */
};

/* ---- drawing ---- */

/* A sum over rows, of those of which it is known. */
struct sum {
    double value, full;
};

static bool is_of_machine(const struct rank_row *row, const char *machine)
{
    return machine[0] && strcmp(row->machine, machine) == 0;
}

/* The CPU of all ranks of all cores that they may use: of one machine, no more than it has. */
static struct sum add_cores(const struct rank_row *rows, size_t count)
{
    struct sum sum = {0};
    for (size_t i = 0; i < count; i++) {
        const char *machine = rows[i].machine;
        double allowed = rows[i].allowed_cores > 0 ? rows[i].allowed_cores : 0;
        size_t before = 0;
        sum.value += rows[i].cores > 0 ? rows[i].cores : 0;
        while (before < i && !is_of_machine(&rows[before], machine))
            before++;
        if (before < i)
            continue; /* it was added with the first one of its machine */
        for (size_t k = i + 1; k < count; k++)
            if (is_of_machine(&rows[k], machine) && rows[k].allowed_cores > 0)
                allowed += rows[k].allowed_cores;
        sum.full += rows[i].machine_cores > 0 ? fmin(allowed, rows[i].machine_cores) : allowed;
    }
    return sum;
}

/* The rank that comes closest to what it may have of memory; without one, the largest. */
static const struct rank_row *fullest(const struct rank_row *rows, size_t count)
{
    const struct rank_row *found = NULL;
    for (size_t i = 0; i < count; i++) {
        bool is_fuller = found && rows[i].capacity_bytes > 0 && found->capacity_bytes > 0
                             ? rows[i].ram_bytes / rows[i].capacity_bytes >
                                   found->ram_bytes / found->capacity_bytes
                             : found && rows[i].ram_bytes > found->ram_bytes;
        if (!isnan(rows[i].ram_bytes) && (!found || is_fuller))
            found = &rows[i];
    }
    return found;
}

/* Draws how many ranks there are and how they are, and the CPU and RAM of all. */
static void draw_head(const struct ranks_view *view, struct grid *grid)
{
    char text[160], value[2 * QUANTITY_SIZE + 4];
    size_t n_silent = 0, n_failed = 0, n_held = 0;
    for (size_t i = 0; i < view->count; i++) {
        n_silent += view->rows[i].state == RANK_SILENT;
        n_failed += view->rows[i].state == RANK_FAILED;
        n_held += view->rows[i].state == RANK_STRAGGLER;
    }
    grid_fill(grid, 0, 0, grid->columns, STYLE_REVERSE, ' ');
    const struct {
        size_t count;
        const char *word;
    } parts[] = {{n_silent, "silent"}, {n_failed, "failed"}, {n_held, "held up"}};
    int length =
        snprintf(text, sizeof text, "%zu rank%s", view->count, view->count == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].count > 0)
            length += snprintf(text + length, sizeof text - (size_t)length, ", %zu %s",
                parts[i].count, parts[i].word);
    int used = grid_text(grid, 0, 1, grid->columns / 2, STYLE_REVERSE | STYLE_BOLD, view->source);
    grid_text_right(grid, 0, used + 2, grid->columns - used - 3, STYLE_REVERSE, text);

    int bar = grid->columns >= 60 ? 20 : 10, note = 19 + bar;
    struct sum cpu = add_cores(view->rows, view->count);
    const struct rank_row *full = fullest(view->rows, view->count);
    grid_text(grid, 1, 0, 8, STYLE_CYAN, "CPU");
    grid_text_right(grid, 1, 4, 12, STYLE_BOLD,
        quantity_text(QUANTITY_CORES, view->count ? 100 * cpu.value : NAN, value));
    grid_text(grid, 2, 0, 8, STYLE_CYAN, "RAM");
    grid_text_right(grid, 2, 4, 12, STYLE_BOLD,
        quantity_text(QUANTITY_BYTES, full ? full->ram_bytes : NAN, value));
    if (cpu.full > 0) {
        meter_draw(grid, 1, 18, bar, PALETTE_USE, cpu.value / cpu.full);
        snprintf(text, sizeof text, "of %g cores", cpu.full);
        grid_text(grid, 1, note, grid->columns - note, STYLE_PLAIN, text);
    }
    if (full && full->capacity_bytes > 0) {
        meter_draw(grid, 2, 18, bar, PALETTE_SCARCE, full->ram_bytes / full->capacity_bytes);
        snprintf(text, sizeof text, "of %s in the fullest rank, %.60s",
            quantity_text(QUANTITY_BYTES, full->capacity_bytes, value), full->name);
        grid_text(grid, 2, note, grid->columns - note, STYLE_PLAIN, text);
    }
}

static const struct {
    const char *word;
    unsigned style;
} states[] = {[RANK_RUNS] = {"", STYLE_PLAIN},
    [RANK_ENDED] = {"ended", STYLE_GRAY},
    [RANK_STRAGGLER] = {"lags", STYLE_YELLOW},
    [RANK_FAILED] = {"failed", STYLE_RED},
    [RANK_SILENT] = {"silent", STYLE_RED}};

/* Where the columns of ranks begin; of figures, where they end. */
struct columns {
    int name, machine, bar, bar_columns, cpu, ram, gpu, time, note;
};

/* Places the columns of the table, as far as there is space for them. */
static struct columns lay_out(const struct ranks_view *view, int columns)
{
    int name = 4, machine = 7;
    bool has_gpus = false;
    for (size_t i = 0; i < view->count; i++) {
        int length = (int)strlen(view->rows[i].name), host = (int)strlen(view->rows[i].machine);
        name = length > name ? length : name;
        machine = host > machine ? host : machine;
        has_gpus |= !isnan(view->rows[i].gpu_percent);
    }
    name = name < 22 ? name : 22;
    machine = columns < 60 ? 0 : machine < 16 ? machine : 16;
    struct columns at = {.machine = name + 2};
    at.bar = at.machine + (machine ? machine + 2 : 0);
    at.bar_columns = columns >= 100 ? 20 : columns >= 60 ? 10 : 0;
    at.cpu = at.bar + at.bar_columns + 7;
    at.ram = at.cpu + 9;
    at.gpu = at.ram + (has_gpus && columns >= 70 ? 7 : 0);
    at.time = at.gpu + (columns >= 50 ? 12 : 0);
    at.note = at.time + 2;
    return at;
}

/* Draws the row of a rank. */
static void draw_row(const struct rank_row *row, const struct columns *at, struct grid *grid, int y)
{
    char text[QUANTITY_SIZE], note[256];
    unsigned style = row->state == RANK_SILENT ? STYLE_GRAY : STYLE_PLAIN;
    grid_text(grid, y, 0, at->machine - 2, states[row->state].style | STYLE_BOLD, row->name);
    if (at->bar > at->machine)
        grid_text(grid, y, at->machine, at->bar - at->machine - 1, style, row->machine);
    meter_draw_activity(grid, y, at->bar, at->bar_columns, row->shares);
    int left = at->bar + at->bar_columns;
    grid_text_right(grid, y, left, at->cpu - left, style,
        quantity_text(QUANTITY_CORES, 100 * row->cores, text));
    grid_text_right(grid, y, at->cpu, at->ram - at->cpu, style,
        quantity_text(QUANTITY_BYTES, row->ram_bytes, text));
    grid_text_right(grid, y, at->ram, at->gpu - at->ram, style,
        quantity_text(QUANTITY_PERCENT, row->gpu_percent, text));
    grid_text_right(
        grid, y, at->gpu, at->time - at->gpu, style, quantity_elapsed(row->seconds, text));
    snprintf(note, sizeof note, "%s%s%s", states[row->state].word,
        states[row->state].word[0] && row->note[0] ? ": " : "", row->note);
    grid_text(grid, y, at->note, grid->columns - at->note, states[row->state].style, note);
}

/* Draws the whole screen. */
static void draw_ranks(struct ranks_view *view, struct grid *grid)
{
    struct columns at = lay_out(view, grid->columns);
    size_t page =
        grid->rows > HEAD_ROWS + FOOT_ROWS ? (size_t)(grid->rows - HEAD_ROWS - FOOT_ROWS) : 1;
    grid_clear(grid);
    draw_head(view, grid);
    view->top =
        view->top + page > view->count ? (view->count > page ? view->count - page : 0) : view->top;
    int y = HEAD_ROWS - 1;
    const struct rank_row *worst = view->rows;
    if (view->count > 0 && worst->state >= RANK_STRAGGLER) {
        char text[400];
        snprintf(text, sizeof text, "Rank %s%s%s %s%s%s", worst->name,
            worst->machine[0] ? " on " : "", worst->machine,
            worst->state == RANK_SILENT ? "is silent" : states[worst->state].word,
            worst->note[0] ? ": " : "", worst->note);
        grid_text(grid, y - 1, 0, grid->columns, states[worst->state].style, text);
    }
    grid_text(grid, y, 0, at.machine - 2, STYLE_GRAY, "rank");
    if (at.bar > at.machine)
        grid_text(grid, y, at.machine, at.bar - at.machine - 1, STYLE_GRAY, "machine");
    grid_text(grid, y, at.bar, at.bar_columns, STYLE_GRAY, "doing");
    grid_text_right(grid, y, at.cpu - 5, 5, STYLE_GRAY, "CPU");
    grid_text_right(grid, y, at.ram - 5, 5, STYLE_GRAY, "RAM");
    if (at.gpu > at.ram)
        grid_text_right(grid, y, at.gpu - 5, 5, STYLE_GRAY, "GPU");
    if (at.time > at.gpu)
        grid_text_right(grid, y, at.time - 5, 5, STYLE_GRAY, "time");
    for (size_t i = 0; i < page && view->top + i < view->count; i++)
        draw_row(&view->rows[view->top + i], &at, grid, HEAD_ROWS + (int)i);
    if (view->count == 0)
        grid_text(grid, HEAD_ROWS, 0, grid->columns, STYLE_PLAIN,
            view->message[0] ? view->message : "Nothing was read yet.");
    grid_fill(grid, grid->rows - 1, 0, grid->columns, STYLE_PLAIN, ' ');
    grid_text(grid, grid->rows - 1, 0, grid->columns, STYLE_PLAIN,
        grid->columns < 60 ? "q quit  arrows scroll"
        : grid->is_ascii
            ? "q quit  arrows scroll    # computing  w waiting for a CPU  d storage  . asleep"
            : "q quit  arrows scroll    \u2588 computing  \u2593 waiting for a CPU  \u2592 storage "
              " "
              "\u00b7 asleep");
}

/* ---- the terminal ---- */

struct screen {
    struct ranks_view view;
    struct terminal terminal;
    struct guard guard;
    struct keys keys;
    struct frame frame;
    bool is_over;
};

/* Does what a key asks for. */
static void take_key(struct screen *screen, uint32_t key)
{
    size_t *top = &screen->view.top, page = (size_t)screen->frame.wanted.rows;
    switch (key) {
    case 'q':
    case 'Q':
        screen->is_over = true;
        break;
    case KEY_HAS_SYNCHRONIZED:
        screen->frame.options.is_synchronized = true;
        break;
    case KEY_DOWN:
    case KEY_WHEEL_DOWN:
    case 'j':
        ++*top;
        break;
    case KEY_UP:
    case KEY_WHEEL_UP:
    case 'k':
        *top -= *top > 0;
        break;
    case KEY_PAGE_DOWN:
        *top += page;
        break;
    case KEY_PAGE_UP:
        *top = *top > page ? *top - page : 0;
        break;
    case 'L' - '@':
        screen->frame.knows_shown = false;
        break;
    default:
        break;
    }
}

/* Draws a frame, after it has shown the view where the terminal was another program's. */
static void draw(struct screen *screen)
{
    int columns, rows;
    terminal_size(&screen->terminal, &columns, &rows);
    if (!terminal_is_foreground(&screen->terminal))
        return;
    if (!screen->terminal.is_shown) {
        atomic_store(&screen->guard.state->is_shown, true);
        atomic_store(&screen->guard.state->has_settings, true);
        terminal_show(&screen->terminal);
        terminal_flush(&screen->terminal);
        screen->frame.knows_shown = false;
    }
    if (screen->terminal.pending.length > 0)
        return; /* it has not taken the last frame yet */
    if (columns != screen->frame.wanted.columns || rows != screen->frame.wanted.rows) {
        screen->frame.knows_shown = false;
        if (!grid_resize(&screen->frame.wanted, columns, rows))
            return;
    }
    draw_ranks(&screen->view, &screen->frame.wanted);
    frame_show(&screen->frame, &screen->terminal.pending);
}

/* Whether a signal asks to end; stops and goes on as shells want it. In the background the terminal
 * is that of others. */
static bool handle_signal(struct screen *screen, const struct signal_event *event)
{
    bool stops = event->number == SIGTSTP || event->number == SIGTTIN || event->number == SIGTTOU;
    if (stops && screen->terminal.is_shown && terminal_is_foreground(&screen->terminal)) {
        terminal_restore(&screen->terminal);
        atomic_store(&screen->guard.state->is_shown, false);
        atomic_store(&screen->guard.state->has_settings, false);
    }
    bool ends = signals_handle(event);
    if (stops && terminal_is_foreground(&screen->terminal)) /* it may have other settings now */
        tcgetattr(screen->terminal.fd, &screen->terminal.before);
    return ends;
}

/* Until the user quits, the terminal hangs up, or a signal ends it. */
static void follow(struct screen *screen, struct ranks *ranks, struct signals *signals)
{
    while (!screen->is_over) {
        struct rank_row *rows;
        size_t count;
        struct signal_event event;
        if (ranks_copy(ranks, &rows, &count, screen->view.message)) {
            free(screen->view.rows);
            screen->view.rows = rows;
            screen->view.count = count;
        }
        draw(screen);
        if (!terminal_flush(&screen->terminal))
            return;
        short events = screen->terminal.pending.length > 0 ? POLLIN | POLLOUT : POLLIN;
        /* In the background nobody here reads what is typed: it would wake us again and again. */
        if (!terminal_is_foreground(&screen->terminal))
            events = 0;
        struct pollfd watched[] = {
            {.fd = screen->terminal.fd, .events = events}, {.fd = signals->fd, .events = POLLIN}};
        poll(watched, 2, DRAW_MS);
        if (watched[0].revents & (POLLHUP | POLLERR))
            return;
        char bytes[64];
        uint32_t key;
        ssize_t got;
        while (terminal_is_foreground(&screen->terminal) &&
               (got = read(screen->terminal.fd, bytes, sizeof bytes - screen->keys.length)) > 0) {
            keys_add(&screen->keys, bytes, (size_t)got);
            while ((key = keys_next(&screen->keys, false)) != KEY_NONE)
                take_key(screen, key);
        }
        if (watched[1].revents && signals_next(signals, -1, 0, &event) &&
            handle_signal(screen, &event))
            return;
    }
}

int ranks_view_run(const char *source, struct gput_error *error)
{
    struct screen screen = {.view.source = source};
    struct signals signals;
    struct ranks *ranks = NULL;
    const char *reason = terminal_open(&screen.terminal);
    if (reason)
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "The live view cannot be shown: %s. gpu-tracker job prints a summary.", reason);
    struct guard_options guard = {.terminal = screen.terminal.fd,
        .before = &screen.terminal.before,
        .leave = TERMINAL_LEAVE,
        .spool = -1,
        .master = -1};
    frame_init(&screen.frame, screen.terminal.is_ascii, screen.terminal.is_coarse,
        screen.terminal.has_colors);
    int code = guard_start(&screen.guard, &guard)
                   ? GPUT_OK
                   : error_set(error, GPUT_ERROR_IO, "The live view cannot be prepared.");
    bool has_guard = code == GPUT_OK;
    if (code == GPUT_OK)
        code = signals_catch(&signals, error);
    bool has_signals = code == GPUT_OK;
    if (code == GPUT_OK)
        code = ranks_open(source, &ranks, error);
    if (code == GPUT_OK) {
        signals_receive(&signals);
        follow(&screen, ranks, &signals);
    }
    if (screen.terminal.is_shown)
        terminal_restore(&screen.terminal);
    ranks_close(ranks);
    if (has_signals)
        signals_close_stop(signals_release(&signals, NULL));
    if (has_guard)
        guard_end(&screen.guard, false);
    terminal_close(&screen.terminal);
    frame_finish(&screen.frame);
    free(screen.view.rows);
    return code;
}
