#include "live.h"

#include "base/clock.h"
#include "base/error.h"
#include "command_line.h"
#include "command_output.h"
#include "common/environment.h"
#include "common/message.h"
#include "common/screen.h"
#include "frame.h"
#include "guard.h"
#include "keys.h"
#include "machine.h"
#include "process_rows.h"
#include "terminal.h"
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <gputracker/error.h>

/* Reads when a process started, field 22 of its stat: its pid may have been given to another one
 * meanwhile. 0: it is not there. The name in field 2 may hold anything. */
static uint64_t start_of(pid_t pid)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    uint64_t start = 0;
    return at && sscanf(at, " %" SCNu64, &start) == 1 ? start : 0;
}

/* Sends a signal by a pidfd to the process that was seen before, and to no other. Errors:
 * GPUT_ERROR_NOT_FOUND (that process has ended), GPUT_ERROR_PERMISSION, GPUT_ERROR_UNSUPPORTED (the
 * kernel has no pidfds: before Linux 5.3), GPUT_ERROR_IO. */
static int process_signal_send(
    const struct process_id *process, int number, struct gput_error *error)
{
    int fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    if (fd < 0 && errno == ESRCH)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "Process %d has ended.", (int)process->pid);
    if (fd < 0)
        return error_set(error, GPUT_ERROR_UNSUPPORTED,
            "No signal is sent: this kernel cannot prove which process %d is.", (int)process->pid);
    /* The pidfd was opened first: if the process is still the same now, it is of that one. */
    bool is_same = start_of(process->pid) == process->start_ticks;
    int failure = is_same && syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) != 0 ? errno : 0;
    close(fd);
    if (!is_same || failure == ESRCH)
        return error_set(error, GPUT_ERROR_NOT_FOUND, "Process %d has ended.", (int)process->pid);
    if (failure == EPERM)
        return error_set(
            error, GPUT_ERROR_PERMISSION, "Process %d belongs to another user.", (int)process->pid);
    if (failure)
        return error_set(error, GPUT_ERROR_IO, "Process %d cannot be signalled: %s.",
            (int)process->pid, strerror(failure));
    return GPUT_OK;
}

/* Figures are drawn twice a second, output as it comes but at most so often. */
#define FIGURES_MS 500
#define OUTPUT_MS 100
/* Between two attempts to get a snapshot that is due. */
#define RETRY_MS 50
/* One snapshot is kept for each period of this many seconds, and for at most this many processes
 * in all. */
#define KEPT_SECONDS 5
#define KEPT_SNAPSHOTS (BACK_SECONDS / KEPT_SECONDS)
#define KEPT_PROCESSES 50000
#define SHOW_MS 200
/* What follows an escape character comes at once, if it is part of a key. */
#define ESCAPE_MS 50

struct live {
    struct live_options options;
    struct terminal terminal;
    struct command_output output;
    struct guard guard;
    struct keys keys;
    struct view view;
    struct machine machine;
    struct open_blocks blocks;
    struct frame frame;
    struct gput_session *session;               /* borrowed */
    struct gput_snapshot *snapshot;             /* the latest; owned */
    struct gput_snapshot *kept[KEPT_SNAPSHOTS]; /* earlier ones, oldest first; owned */
    size_t n_kept;
    const char *procfs;
    int poll_fd;
    uint32_t watched;      /* events of the terminal in poll_fd */
    bool watches_output;   /* the master is in poll_fd */
    bool has_changed;      /* the view is not what is shown */
    bool is_closed;        /* by its user */
    bool is_gone;          /* the terminal hung up */
    int64_t show_ms;       /* not earlier: what ends at once shows no view */
    int64_t due_ms;        /* of figures */
    int64_t output_due_ms; /* of output that was not drawn yet; 0: none */
    int64_t escape_ms;     /* when an unfinished key becomes one of its own; 0: there is none */
};

/* ---- beginning ---- */

static char *read_command(void *user, const struct gput_snapshot_process *process)
{
    const struct live *live = user;
    return command_line_read(live->procfs, process->pid);
}

/* Opens the command's pseudo-terminal, the guard and the poll descriptor. */
static int open_streams(struct live *live, struct gput_error *error)
{
    static const struct command_output none = {
        .master = -1, .slave = -1, .spool = -1, .saved = {-1, -1, -1}};
    live->output = none;
    int failure =
        live->options.runs_command ? command_output_open(&live->output, &live->terminal) : 0;
    if (failure)
        return error_set(
            error, GPUT_ERROR_IO, "no pseudo-terminal can be opened: %s", strerror(failure));
    struct guard_options options = {.terminal = live->terminal.fd,
        .before = &live->terminal.before,
        .leave = TERMINAL_LEAVE,
        .spool = live->output.spool,
        .master = live->output.master};
    live->poll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (live->poll_fd < 0 || !guard_start(&live->guard, &options))
        return error_set(error, GPUT_ERROR_IO, "it cannot be prepared: %s", strerror(errno));
    return GPUT_OK;
}

/* Frees the view and all it holds. */
static void free_live(struct live *live)
{
    gput_snapshot_release(live->snapshot);
    for (size_t i = 0; i < live->n_kept; i++)
        gput_snapshot_release(live->kept[i]);
    command_output_close(&live->output);
    terminal_close(&live->terminal);
    view_finish(&live->view);
    machine_finish(&live->machine);
    open_blocks_finish(&live->blocks);
    frame_finish(&live->frame);
    if (live->poll_fd >= 0)
        close(live->poll_fd);
    free(live);
}

int live_open(const struct live_options *options, struct live **live, struct gput_error *error)
{
    struct live *opened = calloc(1, sizeof *opened);
    *live = NULL;
    if (!opened)
        return error_set(error, GPUT_ERROR_MEMORY, "no memory is left");
    opened->options = *options;
    opened->poll_fd = opened->guard.fd = -1;
    const char *procfs = environment_path("GPUT_PROCFS"),
               *reason = terminal_open(&opened->terminal);
    opened->procfs = procfs && procfs[0] ? procfs : "/proc";
    if (reason) {
        free(opened);
        return error_set(error, GPUT_ERROR_UNSUPPORTED, "%s", reason);
    }
    int code = open_streams(opened, error);
    if (code == GPUT_OK) {
        struct view *view = &opened->view;
        bool has_output =
            opened->output.is_replaced[STDOUT_FILENO] || opened->output.is_replaced[STDERR_FILENO];
        view->figures.is_machine = opened->options.is_machine;
        view->runs_command = opened->options.runs_command;
        view->takes_input = opened->output.is_replaced[STDIN_FILENO];
        view->output = has_output ? &opened->output.transcript : NULL;
        view->processes.is_tree = !opened->options.is_machine;
        view->processes.read_command = read_command;
        opened->machine.procfs = opened->procfs;
        view->processes.user = opened;
        opened->blocks.path = opened->options.sub_tracking_file;
        view->blocks = &opened->blocks;
        frame_init(&opened->frame, opened->terminal.is_ascii, opened->terminal.is_coarse,
            opened->terminal.has_colors);
        *live = opened;
    } else {
        free_live(opened);
    }
    return code;
}

int live_target(const struct live *live, int fd)
{
    return live && live->output.is_replaced[fd] ? live->output.slave : fd;
}

void live_give_streams(struct live *live)
{
    if (live)
        command_output_give(&live->output);
}

void live_take_streams(struct live *live)
{
    if (live)
        command_output_take_back(&live->output);
}

/* ---- events ---- */

/* Whether the terminal is the command's: the user closed the view, or the command has a view of its
 * own, such as a pager or an editor, for now. */
static bool is_away(const struct live *live)
{
    return live->is_closed || live->output.transcript.is_alternate;
}

/* Draws the view. It is also called after a stop, and when a command comes to the foreground. */
static void show(struct live *live, int64_t now)
{
    bool has_settings = atomic_load(&live->guard.state->has_settings);
    if (live->is_gone || now < live->show_ms || !terminal_is_foreground(&live->terminal))
        return;
    if (is_away(live) && live->view.takes_input && !has_settings)
        terminal_pass_keys(&live->terminal);
    if (!is_away(live) || live->view.takes_input)
        atomic_store(&live->guard.state->has_settings, true);
    if (is_away(live) || live->terminal.is_shown)
        return;
    atomic_store(&live->guard.state->is_shown, true);
    terminal_show(&live->terminal);
    live->frame.knows_shown = false;
    live->has_changed = true;
}

/* The command's output and input are passed on. */
static void hide_view(struct live *live)
{
    terminal_hide(&live->terminal);
    terminal_flush(&live->terminal);
    atomic_store(&live->guard.state->is_shown, false);
    if (live->view.takes_input)
        return;
    terminal_restore(&live->terminal);
    atomic_store(&live->guard.state->has_settings, false);
}

/* The user goes on without the view. */
static void close_view(struct live *live)
{
    live->is_closed = true;
    hide_view(live);
}

/* ---- figures ---- */

/* Keeps one for those who look back, in any case if it is held; the oldest ones make space. */
static void keep_snapshot(struct live *live, struct gput_snapshot *snapshot, bool is_held)
{
    double now = gput_snapshot_elapsed_seconds(snapshot);
    size_t processes = gput_snapshot_process_count(snapshot), dropped = 0;
    for (size_t i = 0; i < live->n_kept; i++)
        processes += gput_snapshot_process_count(live->kept[i]);
    if (live->n_kept > 0 && !is_held &&
        now - gput_snapshot_elapsed_seconds(live->kept[live->n_kept - 1]) < KEPT_SECONDS) {
        gput_snapshot_release(snapshot);
        return;
    }
    while (live->n_kept - dropped == KEPT_SNAPSHOTS ||
           (dropped < live->n_kept && processes > KEPT_PROCESSES)) {
        processes -= gput_snapshot_process_count(live->kept[dropped]);
        gput_snapshot_release(live->kept[dropped++]);
    }
    live->n_kept -= dropped;
    memmove(live->kept, live->kept + dropped, live->n_kept * sizeof live->kept[0]);
    live->kept[live->n_kept++] = snapshot;
}

/* Shows the processes of the moment that is looked at: of the last snapshot before it, with means
 * since the one before that. */
static void show_moment(struct live *live)
{
    const struct view_figures *figures = &live->view.figures;
    struct process_rows *rows = &live->view.processes;
    double wanted = figures->elapsed_seconds - figures->back_seconds + ROUNDING_SECONDS;
    size_t i = live->n_kept;
    while (
        i > 0 && figures->back_seconds > 0 &&
        gput_snapshot_elapsed_seconds(i < live->n_kept ? live->kept[i] : live->snapshot) > wanted)
        i--;
    const struct gput_snapshot *shown = i < live->n_kept ? live->kept[i] : live->snapshot;
    double seconds = NAN;
    if (i > 0) {
        seconds =
            gput_snapshot_elapsed_seconds(shown) - gput_snapshot_elapsed_seconds(live->kept[i - 1]);
        /* What is selected may have started since. */
        struct process_id selection = rows->selection;
        size_t selected = rows->selected;
        process_rows_take(rows, live->kept[i - 1], NAN);
        rows->selection = selection;
        rows->selected = selected;
    }
    process_rows_take(rows, shown, seconds);
}

/* Takes a new snapshot into the view when one is due. */
static void update_figures(struct live *live, int64_t now)
{
    struct gput_snapshot *snapshot;
    int64_t interval_ms = (int64_t)(live->options.interval_seconds * 1000);
    if (now < live->due_ms || !live->session)
        return;
    live->due_ms = now + RETRY_MS;
    if (gput_session_latest_snapshot(live->session, &snapshot, NULL) != GPUT_OK)
        return;
    if (live->snapshot &&
        gput_snapshot_elapsed_seconds(snapshot) <= live->view.figures.elapsed_seconds) {
        gput_snapshot_release(snapshot);
        return;
    }
    open_blocks_update(&live->blocks, snapshot, now);
    live->view.now = (double)gput_snapshot_sample(snapshot)->time_ns * 1e-9;
    live->due_ms = now + (interval_ms > FIGURES_MS ? interval_ms : FIGURES_MS);
    struct gput_results *results = NULL;
    double before = live->view.figures.elapsed_seconds;
    gput_session_results_so_far(live->session, &results, NULL);
    machine_read(&live->machine, (double)clock_monotonic_ms() / 1000);
    view_figures_add(&live->view.figures, snapshot, results, &live->machine);
    gput_results_destroy(results);
    live->has_changed = true;
    struct gput_snapshot *last = live->snapshot;
    live->snapshot = snapshot;
    if (!live->view.figures.is_held)
        process_rows_take(
            &live->view.processes, snapshot, live->view.figures.elapsed_seconds - before);
    if (last)
        keep_snapshot(live, last, live->view.processes.snapshot == last);
    if (live->view.figures.is_held)
        show_moment(live);        /* what was shown may have been dropped */
    live->output.is_over = false; /* it may have been opened again */
}

/* ---- keys ---- */

/* Does what a key asks for. */
static void take_key(struct live *live, uint32_t key)
{
    if (key == KEY_HAS_SYNCHRONIZED) {
        live->frame.options.is_synchronized = true;
        return;
    }
    live->has_changed = true;
    switch (view_key(&live->view, key, live->keys.row, live->keys.column)) {
    case VIEW_CLOSE:
        close_view(live);
        break;
    case VIEW_REDRAW:
        live->frame.knows_shown = false;
        break;
    case VIEW_GO_BACK:
        if (live->snapshot)
            show_moment(live);
        break;
    case VIEW_SEND_SIGNAL: {
        struct gput_error error;
        struct view *view = &live->view;
        if (strcmp(live->procfs, "/proc") != 0)
            snprintf(view->message, sizeof view->message,
                "No signal is sent: pids of %s may belong to other processes here.", live->procfs);
        else if (process_signal_send(&view->signalled, view->signal_number, &error) == GPUT_OK)
            snprintf(view->message, sizeof view->message, "Sent to %d.", (int)view->signalled.pid);
        else
            snprintf(view->message, sizeof view->message, "%.150s", error.message);
        break;
    }
    case VIEW_SEND_INPUT:
        command_output_send(&live->output, live->view.input, strlen(live->view.input));
        command_output_send(&live->output, "\r", 1);
        break;
    case VIEW_NOTHING:
        break;
    }
}

static void take_keys(struct live *live, bool is_over)
{
    uint32_t key;
    while (!live->is_closed && (key = keys_next(&live->keys, is_over)) != KEY_NONE)
        take_key(live, key);
}

/* Reads what was typed: keys of the view, or input of the command while it has the terminal. */
static void read_terminal(struct live *live, int64_t now)
{
    char bytes[64];
    if (live->is_gone || !terminal_is_foreground(&live->terminal))
        return;
    for (;;) {
        size_t space = is_away(live) ? sizeof bytes : sizeof bytes - live->keys.length;
        ssize_t got = read(live->terminal.fd, bytes, space);
        if (got == 0 || (got < 0 && errno == EIO)) {
            live->is_gone = live->is_closed = true;
            live->terminal.is_shown = false;
            live->terminal.pending.length = 0;
        }
        if (got <= 0)
            break;
        if (is_away(live)) {
            command_output_send(&live->output, bytes, (size_t)got);
            continue;
        }
        keys_add(&live->keys, bytes, (size_t)got);
        take_keys(live, false);
        live->escape_ms = now + ESCAPE_MS;
    }
    if (live->escape_ms && now >= live->escape_ms)
        take_keys(live, true);
    if (live->keys.length == 0 || is_away(live))
        live->escape_ms = 0;
}

/* ---- output ---- */

static void flush(struct live *live)
{
    if (!terminal_flush(&live->terminal) || live->is_gone)
        live->terminal.pending.length = 0;
}

/* ---- drawing ---- */

/* Adapts the view and the command's pseudo-terminal to the size of the terminal. */
static void check_size(struct live *live)
{
    int columns, rows;
    terminal_size(&live->terminal, &columns, &rows);
    if (columns == live->frame.wanted.columns && rows == live->frame.wanted.rows)
        return;
    grid_resize(&live->frame.wanted, columns, rows);
    live->frame.knows_shown = false;
    live->has_changed = true;
    /* The kernel signals the command before its pseudo-terminal had that size. */
    if (command_output_resize(&live->output, &live->terminal) &&
        terminal_is_foreground(&live->terminal))
        kill(0, SIGWINCH);
}

/* Draws a frame if something has changed and the terminal has taken the last one. */
static void draw(struct live *live)
{
    check_size(live);
    if (!live->terminal.is_shown || !live->has_changed || live->terminal.pending.length > 0 ||
        !terminal_is_foreground(&live->terminal))
        return;
    view_draw(&live->view, &live->frame.wanted);
    live->has_changed = !frame_show(&live->frame, &live->terminal.pending);
}

static int earlier(int64_t due, int64_t now, int timeout)
{
    int64_t left = due > now ? due - now : 0;
    return due && left < timeout ? (int)left : timeout;
}

/* Does all that is due. Returns how many milliseconds it may wait until the next time. */
static int update(void *user)
{
    struct live *live = user;
    int64_t now = clock_monotonic_ms();
    show(live, now);
    read_terminal(live, now);
    /* Read what the command prints, but not for ever: what else is due has its turn. */
    bool any = live->output.master >= 0;
    for (int parts = 0; any && parts < 16; parts++) {
        if (!live->terminal.is_shown) {
            command_output_pass(&live->output, &live->terminal, &any);
            flush(live);
        } else if (!command_output_read(&live->output, &any)) {
            close_view(live);
        } else if (is_away(live)) {
            hide_view(live);
        } else if (any && !live->output_due_ms) {
            live->output_due_ms = now + OUTPUT_MS;
        }
    }
    atomic_store(&live->guard.state->replayed_bytes, live->output.replayed);
    if (live->output_due_ms && now >= live->output_due_ms) {
        live->has_changed = true;
        live->output_due_ms = 0;
    }
    if (!live->is_closed)
        update_figures(live, now);
    draw(live);
    flush(live);
    /* Watch the terminal and the output for what can be handled now. */
    bool is_busy = live->terminal.pending.length > 0;
    uint32_t wanted = EPOLLIN | (is_busy ? EPOLLOUT : 0);
    /* In the background the terminal is that of others: reading would stop us. */
    if (live->is_gone || !terminal_is_foreground(&live->terminal))
        wanted = 0;
    struct epoll_event event = {.events = wanted};
    if (wanted != live->watched) {
        int action = !live->watched ? EPOLL_CTL_ADD : wanted ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
        epoll_ctl(live->poll_fd, action, live->terminal.fd, &event);
        live->watched = wanted;
    }
    /* A terminal that takes nothing holds the command back, as it would without us. */
    bool wants_output =
        live->output.master >= 0 && !live->output.is_over && (live->terminal.is_shown || !is_busy);
    if (wants_output != live->watches_output) {
        event.events = EPOLLIN;
        epoll_ctl(live->poll_fd, wants_output ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, live->output.master,
            &event);
        live->watches_output = wants_output;
    }
    int timeout = earlier(live->is_closed ? 0 : live->due_ms, now, FIGURES_MS);
    timeout = earlier(live->output_due_ms, now, timeout);
    if (!live->terminal.is_shown)
        timeout = earlier(live->show_ms, now, timeout);
    return earlier(live->escape_ms, now, timeout);
}

/* ---- stops ---- */

/* Gives the terminal back before gpu-tracker stops. */
static void suspend(void *user)
{
    struct live *live = user;
    if (!atomic_load(&live->guard.state->has_settings) || !terminal_is_foreground(&live->terminal))
        return;
    terminal_restore(&live->terminal);
    atomic_store(&live->guard.state->is_shown, false);
    atomic_store(&live->guard.state->has_settings, false);
}

static void resume(void *user)
{
    struct live *live = user;
    /* The terminal may have other settings than before. */
    if (terminal_is_foreground(&live->terminal))
        tcgetattr(live->terminal.fd, &live->terminal.before);
    live->due_ms = 0;
}

/* ---- the session ---- */

void live_begin(struct live *live, struct gput_session *session, const char *title)
{
    if (!live)
        return;
    pid_t pid = gput_session_pid(session);
    char *command =
        live->options.runs_command || pid == 0 ? NULL : command_line_read(live->procfs, pid);
    live->session = session;
    live->show_ms = clock_monotonic_ms() + SHOW_MS;
    snprintf(live->view.title, sizeof live->view.title, "%s%s%s", title, command ? "  " : "",
        command ? command : "");
    if (!command)
        command_line_clean(live->view.title);
    free(command);
}

static int nothing(void *user)
{
    (void)user;
    return -1;
}

struct display live_display(struct live *live)
{
    if (!live)
        return (struct display){.fd = -1, .update = nothing};
    return (struct display){
        .fd = live->poll_fd, .update = update, .suspend = suspend, .resume = resume, .user = live};
}

bool live_is_closed(const struct live *live)
{
    return live && live->is_closed;
}

void live_note_end(struct live *live)
{
    live->view.has_ended = true;
    live->has_changed = true;
}

void live_end(struct live *live, int stop_fd)
{
    if (!live)
        return;
    bool had_settings = atomic_load(&live->guard.state->has_settings);
    /* Read what the command printed last. */
    bool any = live->output.master >= 0;
    for (int parts = 0; any && parts < 4096; parts++)
        command_output_read(&live->output, &any);
    if (had_settings && terminal_is_foreground(&live->terminal)) {
        terminal_hide(&live->terminal);
        screen_write(
            live->terminal.fd, live->terminal.pending.data, live->terminal.pending.length, stop_fd);
        live->terminal.pending.length = 0;
    }
    atomic_store(&live->guard.state->is_shown, false);
    command_output_replay(&live->output, &live->terminal, stop_fd);
    if (had_settings && terminal_is_foreground(&live->terminal))
        terminal_restore(&live->terminal);
    if (live->output.rest.failed)
        message_warning_until("a part of the command's output is lost: no memory is left", stop_fd);
    guard_end(&live->guard, live->output.master >= 0 && !live->output.is_over);
    free_live(live);
}
