#include "terminal.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether it draws whole frames, and a question that every terminal answers. */
#define QUESTION "\033[?2026$p\033[c"

/* The locale as programs find it, without loading one: a static program has none. */
static bool is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (!value || !value[0])
            continue;
        const char *charset = strchr(value, '.');
        return charset &&
               (strncasecmp(charset, ".UTF-8", 6) == 0 || strncasecmp(charset, ".UTF8", 5) == 0);
    }
    return false;
}

/* Whether it is one of the DEC terminals without colours that people still name. */
static bool is_monochrome(const char *type)
{
    return strncmp(type, "vt1", 3) == 0 || strncmp(type, "vt2", 3) == 0 || strstr(type, "-mono");
}

const char *terminal_open(struct terminal *terminal)
{
    char path[32];
    const char *type = getenv("TERM"), *no_color = getenv("NO_COLOR");
    int shared = isatty(STDERR_FILENO) ? STDERR_FILENO : STDOUT_FILENO;
    *terminal = (struct terminal){.fd = -1};
    if (!isatty(shared))
        return "neither the standard error nor the standard output is a terminal";
    if (!type || !type[0] || strcmp(type, "dumb") == 0)
        return "the terminal (TERM) understands no escape sequences";
    snprintf(path, sizeof path, "/proc/self/fd/%d", shared);
    terminal->fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (terminal->fd < 0)
        terminal->fd = fcntl(shared, F_DUPFD_CLOEXEC, 3);
    if (terminal->fd < 0 || tcgetattr(terminal->fd, &terminal->before) != 0) {
        terminal_close(terminal);
        return "the terminal cannot be opened";
    }
    if (!str_reserve(&terminal->pending, TERMINAL_PART + 1)) {
        terminal_close(terminal);
        return "no memory is left";
    }
    terminal->is_ascii = !is_utf8();
    terminal->is_coarse = strcmp(type, "linux") == 0; /* its usual fonts have 256 glyphs */
    terminal->has_colors = (!no_color || !no_color[0]) && !is_monochrome(type);
    return NULL;
}

void terminal_close(struct terminal *terminal)
{
    if (terminal->fd >= 0)
        close(terminal->fd);
    str_finish(&terminal->pending);
    *terminal = (struct terminal){.fd = -1};
}

bool terminal_is(const struct terminal *terminal, int fd)
{
    struct stat ours, other;
    return isatty(fd) && fstat(terminal->fd, &ours) == 0 && fstat(fd, &other) == 0 &&
           ours.st_rdev == other.st_rdev;
}

bool terminal_is_foreground(const struct terminal *terminal)
{
    pid_t group = tcgetpgrp(terminal->fd);
    return group < 0 || group == getpgrp(); /* below 0: it controls no session of ours */
}

void terminal_size(const struct terminal *terminal, int *columns, int *rows)
{
    struct winsize size;
    bool is_known = ioctl(terminal->fd, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;
    *columns = is_known ? size.ws_col : 80;
    *rows = is_known ? size.ws_row : 24;
}

void terminal_pass_keys(const struct terminal *terminal)
{
    struct termios settings = terminal->before;
    settings.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON | ISTRIP | PARMRK);
    settings.c_lflag &= ~(tcflag_t)(ECHO | ECHONL | ICANON | IEXTEN);
    settings.c_cc[VMIN] = 1;
    settings.c_cc[VTIME] = 0;
    tcsetattr(terminal->fd, TCSADRAIN, &settings);
}

void terminal_show(struct terminal *terminal)
{
    int rows;
    terminal_pass_keys(terminal);
    terminal_size(terminal, &terminal->columns, &rows);
    str_append(&terminal->pending, TERMINAL_ENTER QUESTION);
    terminal->is_shown = true;
}

void terminal_hide(struct terminal *terminal)
{
    int columns, rows;
    if (!terminal->is_shown)
        return;
    str_restart(&terminal->pending); /* a frame of which the rest is of no use */
    str_append(&terminal->pending, "\033[?2026l" TERMINAL_LEAVE);
    /* Terminals break lines anew, and the cursor can be at the end of one. */
    terminal_size(terminal, &columns, &rows);
    if (columns != terminal->columns)
        str_append(&terminal->pending, "\r\n");
    terminal->is_shown = false;
}

void terminal_restore(struct terminal *terminal)
{
    terminal_hide(terminal);
    terminal_flush(terminal);
    tcsetattr(terminal->fd, TCSAFLUSH, &terminal->before);
}

bool terminal_flush(struct terminal *terminal)
{
    struct str *pending = &terminal->pending;
    while (pending->length > 0) {
        ssize_t done = write(terminal->fd, pending->data, pending->length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno == EAGAIN;
        str_drop(pending, (size_t)done);
    }
    return true;
}
