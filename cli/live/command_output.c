#include "command_output.h"

#include "base/str.h"
#include "common/environment.h"
#include "common/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PART TERMINAL_PART

static const struct command_output closed = {
    .master = -1, .slave = -1, .spool = -1, .saved = {-1, -1, -1}};

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Opens the pseudo-terminal, the spool and the transcript. Returns errno of a failure, or 0. */
static int open_pair(struct command_output *output, const struct terminal *terminal)
{
    char path[64];
    output->master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (output->master < 0 || grantpt(output->master) != 0 || unlockpt(output->master) != 0 ||
        ptsname_r(output->master, path, sizeof path) != 0)
        return errno;
    output->slave = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (output->slave < 0 || tcsetattr(output->slave, TCSANOW, &terminal->before) != 0)
        return errno;
    /* The spool is gone when it is closed. It may become large, so it is in memory only where there
     * is no such file. memfd_create() is in glibc since 2.27 alone. */
    const char *folder = environment_path("TMPDIR");
    int fd = open(folder && folder[0] ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    output->spool =
        fd >= 0 ? fd : (int)syscall(SYS_memfd_create, "gpu-tracker-output", MFD_CLOEXEC);
    if (output->spool < 0 || !transcript_init(&output->transcript) ||
        !str_reserve(&output->rest, PART))
        return errno;
    output->ends = line_ends_of(&terminal->before);
    command_output_resize(output, terminal);
    return 0;
}

int command_output_open(struct command_output *output, const struct terminal *terminal)
{
    bool any = false;
    *output = closed;
    for (int fd = 0; fd < 3; fd++)
        any |= output->is_replaced[fd] = terminal_is(terminal, fd);
    int failure = any ? open_pair(output, terminal) : 0;
    if (failure)
        command_output_close(output);
    return failure;
}

void command_output_close(struct command_output *output)
{
    close_one(&output->master);
    close_one(&output->slave);
    close_one(&output->spool);
    transcript_finish(&output->transcript);
    str_finish(&output->rest);
    *output = closed;
}

void command_output_give(struct command_output *output)
{
    for (int fd = 0; fd < 3 && output->master >= 0; fd++) {
        if (!output->is_replaced[fd])
            continue;
        output->saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
        if (output->saved[fd] >= 0)
            dup2(output->slave, fd);
    }
}

void command_output_take_back(struct command_output *output)
{
    for (int fd = 0; fd < 3; fd++) {
        if (output->saved[fd] < 0)
            continue;
        dup2(output->saved[fd], fd);
        close_one(&output->saved[fd]);
    }
    close_one(&output->slave);
}

bool command_output_resize(const struct command_output *output, const struct terminal *terminal)
{
    struct winsize size, before;
    if (output->master < 0 || ioctl(terminal->fd, TIOCGWINSZ, &size) != 0 ||
        ioctl(output->master, TIOCGWINSZ, &before) != 0 ||
        (size.ws_col == before.ws_col && size.ws_row == before.ws_row))
        return false;
    return ioctl(output->master, TIOCSWINSZ, &size) == 0;
}

/* 0: nothing is there. Where no process has the other end open, one may open it again. */
static size_t read_part(struct command_output *output, char *bytes)
{
    if (output->master < 0)
        return 0; /* there is no transcript either */
    ssize_t got = read(output->master, bytes, PART);
    output->is_over = got < 0 && errno == EIO;
    return got > 0 ? (size_t)got : 0;
}

/* Keeps what the command printed in the spool. */
static bool keep(struct command_output *output, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t done = pwrite(output->spool, bytes, length, output->length);
        if (done < 0 && errno != EINTR)
            return false;
        output->length += done > 0 ? done : 0;
        bytes += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

bool command_output_read(struct command_output *output, bool *any)
{
    char bytes[PART];
    size_t got = read_part(output, bytes);
    *any = got > 0;
    if (got == 0)
        return true;
    transcript_add(&output->transcript, bytes, got);
    off_t before = output->length;
    if (keep(output, bytes, got))
        return true;
    int failure = errno;
    size_t kept = (size_t)(output->length - before);
    str_append_bytes(&output->rest, bytes + kept, got - kept);
    errno = failure;
    return false;
}

/* The next part of what was kept; 0: all of it was taken. */
static size_t take_kept(struct command_output *output, char *bytes)
{
    ssize_t got =
        output->replayed < output->length ? pread(output->spool, bytes, PART, output->replayed) : 0;
    if (got > 0) {
        output->replayed += got;
        return (size_t)got;
    }
    size_t length = output->rest.length < PART ? output->rest.length : PART;
    if (length > 0)
        memcpy(bytes, output->rest.data, length);
    str_drop(&output->rest, length);
    return length;
}

void command_output_pass(struct command_output *output, struct terminal *terminal, bool *any)
{
    char bytes[PART], stripped[PART + 1];
    *any = false;
    if (terminal->pending.length > 0)
        return;
    size_t got = take_kept(output, bytes);
    if (got == 0) {
        got = read_part(output, bytes);
        transcript_add(&output->transcript, bytes, got);
    }
    *any = got > 0;
    str_append_bytes(
        &terminal->pending, stripped, line_ends_strip(&output->ends, bytes, got, stripped));
}

void command_output_send(const struct command_output *output, const char *bytes, size_t length)
{
    if (output->master < 0 || !output->is_replaced[STDIN_FILENO])
        return;
    ssize_t done = write(output->master, bytes, length);
    (void)done; /* a command that does not read loses what does not fit, as on a terminal */
}

void command_output_replay(
    struct command_output *output, const struct terminal *terminal, int stop_fd)
{
    char bytes[PART], stripped[PART + 1];
    size_t got;
    while ((got = take_kept(output, bytes)) > 0) {
        got = line_ends_strip(&output->ends, bytes, got, stripped);
        if (screen_write(terminal->fd, stripped, got, stop_fd) != 0)
            return;
    }
    if (output->ends.has_return)
        screen_write(terminal->fd, "\r", 1, stop_fd);
}
