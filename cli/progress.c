#include "progress.h"

#include "clock.h"
#include "screen.h"

#include <gputracker/session.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define INTERVAL_MS 1000
/* To the first column, and everything after that erased. */
#define ERASE "\r\033[K"

/* A terminal that takes no more for now is not waited for. */
static void draw(const char *text)
{
    screen_write(STDERR_FILENO, text, strlen(text), SCREEN_NEVER_WAITS);
}

void progress_begin(struct progress *progress, struct gput_session *session, bool wanted)
{
    *progress = (struct progress){0};
    if (wanted && screen_shows_progress(STDERR_FILENO))
        *progress = (struct progress){.session = session, .next_ms = now_ms() + INTERVAL_MS};
}

/* In the background the terminal is somebody else's. */
static bool may_draw(void)
{
    return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

static void show(struct progress *progress)
{
    struct gput_results *results;
    struct winsize size;
    char *line, text[512];
    struct gput_results_render_options options = gput_results_render_options_default();
    options.width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    if (gput_session_results_so_far(progress->session, &results, NULL) != GPUT_OK)
        return;
    int code = gput_results_render(results, &options, GPUT_LINE, &line, NULL, NULL);
    gput_results_destroy(results);
    if (code != GPUT_OK)
        return;
    snprintf(text, sizeof text, ERASE "%s", line);
    free(line);
    draw(text);
    progress->is_shown = true;
}

static int update(void *user)
{
    struct progress *progress = user;
    if (!progress->session)
        return -1;
    int64_t now = now_ms();
    if (now >= progress->next_ms) {
        if (may_draw())
            show(progress);
        progress->next_ms = now + INTERVAL_MS;
    }
    return (int)(progress->next_ms - now);
}

struct display progress_display(struct progress *progress)
{
    return (struct display){.fd = -1, .update = update, .user = progress};
}

void progress_end(struct progress *progress)
{
    if (progress->is_shown && may_draw())
        draw(ERASE);
    progress->is_shown = false;
}
