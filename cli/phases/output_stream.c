#include "output_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads the settings of a terminal, zero-filled for a comparison of bytes. Returns false if it is
 * no terminal. */
static bool read_settings(int fd, struct termios *settings)
{
    memset(settings, 0, sizeof *settings);
    return tcgetattr(fd, settings) == 0;
}

/* Opens a pipe for the command's output. */
static int open_pipe(struct output_stream *stream)
{
    int ends[2];
    struct stat info;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    fcntl(ends[0], F_SETPIPE_SZ, OUTPUT_PART); /* a smaller one works, too */
    stream->source = ends[0];
    stream->command_end = ends[1];
    bool is_known = fstat(stream->target, &info) == 0;
    stream->can_tee = is_known && S_ISFIFO(info.st_mode);
    stream->is_pipe = stream->can_tee || (is_known && S_ISSOCK(info.st_mode));
    return 0;
}

/* Opens a pseudo-terminal for a command that writes to a terminal. */
static int open_terminal(struct output_stream *stream)
{
    char path[64];
    stream->source = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (stream->source < 0 || grantpt(stream->source) != 0 || unlockpt(stream->source) != 0 ||
        ptsname_r(stream->source, path, sizeof path) != 0)
        return errno;
    stream->command_end = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (stream->command_end < 0 || tcsetattr(stream->command_end, TCSANOW, &stream->settings) != 0)
        return errno;
    read_settings(stream->source, &stream->settings); /* as the terminal has accepted them */
    stream->ends = line_ends_of(&stream->settings);
    output_stream_resize(stream);
    return 0;
}

int output_stream_open(struct output_stream *stream, int target)
{
    *stream = (struct output_stream){.source = -1, .command_end = -1, .target = target};
    stream->is_terminal = read_settings(target, &stream->settings);
    int failure = stream->is_terminal ? open_terminal(stream) : open_pipe(stream);
    if (failure)
        output_stream_close(stream);
    return failure;
}

void output_stream_close(struct output_stream *stream)
{
    if (stream->source >= 0)
        close(stream->source);
    if (stream->command_end >= 0)
        close(stream->command_end);
    stream->source = stream->command_end = -1;
}

bool output_stream_resize(const struct output_stream *stream)
{
    struct winsize size, before;
    if (!stream->is_terminal || ioctl(stream->target, TIOCGWINSZ, &size) != 0 ||
        ioctl(stream->command_end, TIOCGWINSZ, &before) != 0 ||
        memcmp(&size, &before, sizeof size) == 0)
        return false;
    return ioctl(stream->command_end, TIOCSWINSZ, &size) == 0;
}

void output_stream_follow_settings(struct output_stream *stream)
{
    struct termios wanted, settings;
    if (!stream->is_terminal || !read_settings(stream->source, &wanted) ||
        memcmp(&wanted, &stream->settings, sizeof wanted) == 0 ||
        !read_settings(stream->target, &settings))
        return;
    stream->settings = wanted;
    stream->ends.strips = line_ends_of(&wanted).strips;
    settings.c_iflag = wanted.c_iflag;
    settings.c_oflag = wanted.c_oflag;
    settings.c_lflag = wanted.c_lflag;
    memcpy(settings.c_cc, wanted.c_cc, sizeof settings.c_cc);
    tcsetattr(stream->target, TCSANOW, &settings);
}

ssize_t output_stream_read(struct output_stream *stream, char *bytes, size_t size)
{
    ssize_t got = read(stream->source, bytes, size);
    if (got < 0 && errno == EIO)
        return 0; /* no process has the pseudo-terminal open */
    return got;
}

/* Writes bytes to the target, waiting for space. Returns false if nobody reads it any more. */
static bool write_all(struct output_stream *stream, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t done = write(stream->target, bytes, length);
        struct pollfd space = {.fd = stream->target, .events = POLLOUT};
        if (done < 0 && errno == EAGAIN) {
            poll(&space, 1, -1);
        } else if (done < 0 && errno != EINTR) {
            stream->failure = errno;
            return false;
        }
        bytes += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

ssize_t output_stream_tee(struct output_stream *stream, char *bytes, size_t size)
{
    struct pollfd space = {.fd = stream->target, .events = POLLOUT};
    ssize_t passed = -1;
    while (stream->can_tee && (passed = tee(stream->source, stream->target, size, 0)) < 0 &&
           (errno == EAGAIN || errno == EINTR))
        poll(&space, 1, -1);
    if (passed < 0) {
        stream->can_tee = false; /* a write will tell what is wrong with the target */
        return 0;
    }
    ssize_t got = 0;
    while (got < passed) {
        ssize_t done = read(stream->source, bytes + got, (size_t)(passed - got));
        if (done <= 0 && errno != EINTR)
            break;
        got += done > 0 ? done : 0;
    }
    return got;
}

bool output_stream_write(struct output_stream *stream, const char *bytes, size_t length)
{
    if (!stream->is_terminal)
        return write_all(stream, bytes, length);
    char stripped[4096 + 1];
    while (length > 0) {
        size_t part = length < sizeof stripped - 1 ? length : sizeof stripped - 1;
        if (!write_all(stream, stripped, line_ends_strip(&stream->ends, bytes, part, stripped)))
            return false;
        bytes += part;
        length -= part;
    }
    return true;
}

void output_stream_end(struct output_stream *stream)
{
    if (stream->is_terminal && stream->ends.has_return)
        write_all(stream, "\r", 1);
    stream->ends.has_return = false;
}
