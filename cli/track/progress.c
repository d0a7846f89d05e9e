#include "track/progress.h"

#include "base/clock.h"
#include "common/screen.h"

#include <gputracker/session.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define INTERVAL_MS 1000
/* With fewer rows the line would take too much of the output's place. */
#define MIN_ROWS 4

/* The cursor and its colours are kept (ESC 7, ESC 8), and all rows scroll again. */
#define LEAVE "\0337\033[r\033[999;1H\033[K\0338"
/* Another size: what the line became is below the output. */
#define FORGET "\0337\033[r\0338\033[J"
/* The cursor leaves the last row, which scrolls if need be. */
#define MAKE_SPACE "\033D\033[A"

void progress_open(struct progress *progress, bool wanted)
{
    struct termios before;
    *progress = (struct progress){.guard.fd = -1};
    if (!wanted || !screen_shows_progress(STDERR_FILENO) || tcgetattr(STDERR_FILENO, &before) != 0)
        return;
    guard_start(&progress->guard, &(struct guard_options){.terminal = STDERR_FILENO,
                                      .before = &before,
                                      .leave = LEAVE,
                                      .spool = -1,
                                      .master = -1});
}

void progress_begin(struct progress *progress, struct gput_session *session)
{
    if (progress->guard.state) {
        progress->session = session;
        progress->next_ms = clock_monotonic_ms() + INTERVAL_MS;
    }
}

/* In the background the terminal is somebody else's. */
static bool may_draw(void)
{
    return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/* A terminal that takes no more for now is not waited for. */
static void draw(struct progress *progress, const struct winsize *size, const char *line)
{
    char text[640];
    bool is_new = progress->rows != size->ws_row || progress->columns != size->ws_col;
    int length = snprintf(text, sizeof text, "%s%s\0337\033[1;%dr\033[%d;1H\033[0m\033[K%s\0338",
        is_new && progress->rows ? FORGET : "", is_new ? MAKE_SPACE : "", size->ws_row - 1,
        size->ws_row, line);
    atomic_store(&progress->guard.state->is_shown, true);
    if (length < (int)sizeof text &&
        screen_write(STDERR_FILENO, text, (size_t)length, SCREEN_NEVER_WAITS) == 0) {
        progress->rows = size->ws_row;
        progress->columns = size->ws_col;
    }
}

static void show(struct progress *progress)
{
    struct gput_results *results;
    struct winsize size;
    char *line;
    struct gput_results_render_options options = gput_results_render_options_default();
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < MIN_ROWS ||
        gput_session_results_so_far(progress->session, &results, NULL) != GPUT_OK)
        return;
    options.width = size.ws_col;
    int code = gput_results_render(results, &options, GPUT_FORMAT_LINE, &line, NULL, NULL);
    gput_results_destroy(results);
    if (code != GPUT_OK)
        return;
    draw(progress, &size, line);
    free(line);
}

static int update(void *user)
{
    struct progress *progress = user;
    if (!progress->session)
        return -1;
    int64_t now = clock_monotonic_ms();
    if (now >= progress->next_ms) {
        if (may_draw())
            show(progress);
        progress->next_ms = now + INTERVAL_MS;
    }
    return (int)(progress->next_ms - now);
}

static void leave(struct progress *progress, int stop_fd)
{
    if (progress->rows && may_draw())
        screen_write(STDERR_FILENO, LEAVE, strlen(LEAVE), stop_fd);
    progress->rows = 0;
    if (progress->guard.state)
        atomic_store(&progress->guard.state->is_shown, false);
}

static void suspend(void *user)
{
    leave(user, SCREEN_NEVER_WAITS);
}

struct display progress_display(struct progress *progress)
{
    return (struct display){.fd = -1, .update = update, .suspend = suspend, .user = progress};
}

void progress_end(struct progress *progress, int stop_fd)
{
    leave(progress, stop_fd);
    guard_end(&progress->guard, false);
    progress->session = NULL;
}
