#include "bench/run_watch.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STOP (-1)
#define CHUNK_BYTES 65536

/* Takes the number of the first group of a line that matches. */
static void search_line(struct run_watch *watch, struct run_stream *stream)
{
    regmatch_t groups[2];
    double value;
    stream->line[stream->line_length] = '\0';
    stream->line_length = 0;
    if (regexec(watch->work, stream->line, 2, groups, 0) != 0 || groups[1].rm_so < 0)
        return;
    const char *end = stream->line + groups[1].rm_eo;
    if (number_parse_double(stream->line + groups[1].rm_so, end, &value) == end)
        watch->work_value = value;
}

/* Searches the lines of a run's output for the amount of work. */
static void search(struct run_watch *watch, struct run_stream *stream, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r')
            search_line(watch, stream);
        else if (stream->line_length < sizeof stream->line - 1)
            stream->line[stream->line_length++] = bytes[i];
    }
}

/* Reads what is there. */
static void drain(struct run_watch *watch, struct run_stream *stream)
{
    char bytes[CHUNK_BYTES];
    ssize_t n;
    while (stream->read_fd >= 0 && (n = read(stream->read_fd, bytes, sizeof bytes)) > 0) {
        size_t first = (size_t)n > RUN_WATCH_TAIL ? (size_t)n - RUN_WATCH_TAIL : 0;
        for (size_t i = first; i < (size_t)n; i++)
            stream->tail[(stream->written + i) % RUN_WATCH_TAIL] = bytes[i];
        stream->written += (size_t)n;
        if (watch->work)
            search(watch, stream, bytes, (size_t)n);
        if (n < (ssize_t)sizeof bytes)
            break;
    }
}

static void drain_all(struct run_watch *watch)
{
    pthread_mutex_lock(&watch->lock);
    drain(watch, &watch->output);
    drain(watch, &watch->errors);
    pthread_mutex_unlock(&watch->lock);
}

/* Waits for ends of runs and reads their output: the function of the thread. */
static void *watch_runs(void *user)
{
    struct run_watch *watch = user;
    int process_fd = -1;
    for (;;) {
        struct pollfd fds[] = {{.fd = watch->wake[0], .events = POLLIN},
            {.fd = process_fd, .events = POLLIN}, {.fd = watch->output.read_fd, .events = POLLIN},
            {.fd = watch->errors.read_fd, .events = POLLIN}};
        if (poll(fds, sizeof fds / sizeof *fds, -1) < 0)
            continue;
        int64_t now_ns = clock_monotonic_ns();
        drain_all(watch);
        if (process_fd >= 0 && fds[1].revents) {
            watch->ended_ns = now_ns;
            process_fd = -1;
            sem_post(&watch->is_over);
        }
        if (fds[0].revents) {
            ssize_t n = read(watch->wake[0], &process_fd, sizeof process_fd);
            if (n == (ssize_t)sizeof process_fd && process_fd == STOP)
                return NULL;
        }
    }
}

/* Standard streams of a command are given as 3 or more. */
static int open_pipe(int fds[2], bool is_nonblocking, struct gput_error *error)
{
    if (pipe2(fds, O_CLOEXEC) != 0)
        return error_set_errno(error, errno, "Cannot make a pipe");
    for (int i = 0; i < 2; i++) {
        int moved = fds[i] < 3 ? fcntl(fds[i], F_DUPFD_CLOEXEC, 3) : fds[i];
        if (moved != fds[i])
            close(fds[i]);
        fds[i] = moved;
    }
    if (is_nonblocking && fds[0] >= 0)
        fcntl(fds[0], F_SETFL, O_NONBLOCK);
    return fds[0] >= 0 && fds[1] >= 0 ? GPUT_OK
                                      : error_set_errno(error, errno, "Cannot make a pipe");
}

/* Opens the pipe of an output that is read. */
static int open_stream(struct run_stream *stream, bool is_wanted, struct gput_error *error)
{
    int fds[2];
    if (!is_wanted)
        return GPUT_OK;
    TRY(open_pipe(fds, true, error));
    stream->read_fd = fds[0];
    stream->write_fd = fds[1];
    return GPUT_OK;
}

int run_watch_init(struct run_watch *watch, bool captures_output, bool captures_errors,
    const regex_t *work, struct gput_error *error)
{
    memset(watch, 0, sizeof *watch);
    watch->output.read_fd = watch->output.write_fd = -1;
    watch->errors.read_fd = watch->errors.write_fd = -1;
    watch->wake[0] = watch->wake[1] = watch->process_fd = -1;
    watch->work = work;
    watch->work_value = NAN;
    sem_init(&watch->is_over, 0, 0);
    pthread_mutex_init(&watch->lock, NULL);
    watch->is_open = true;
    int code = open_stream(&watch->output, captures_output, error);
    if (code == GPUT_OK)
        code = open_stream(&watch->errors, captures_errors, error);
    if (code == GPUT_OK)
        code = open_pipe(watch->wake, false, error);
    if (code == GPUT_OK) {
        int failure = thread_start(&watch->thread, THREAD_STACK_BYTES, watch_runs, watch);
        watch->has_thread = failure == 0;
        if (failure)
            code = error_set_errno(error, failure, "Cannot start a thread");
    }
    if (code != GPUT_OK)
        run_watch_finish(watch);
    return code;
}

static void send_to_thread(const struct run_watch *watch, int value)
{
    ssize_t done = write(watch->wake[1], &value, sizeof value);
    (void)done;
}

void run_watch_finish(struct run_watch *watch)
{
    if (!watch->is_open)
        return;
    watch->is_open = false;
    if (watch->has_thread) {
        send_to_thread(watch, STOP);
        pthread_join(watch->thread, NULL);
        watch->has_thread = false;
    }
    int *const fds[] = {&watch->output.read_fd, &watch->output.write_fd, &watch->errors.read_fd,
        &watch->errors.write_fd, &watch->wake[0], &watch->wake[1], &watch->process_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        file_close_fd(fds[i]);
    sem_destroy(&watch->is_over);
    pthread_mutex_destroy(&watch->lock);
}

void run_watch_clear(struct run_watch *watch)
{
    drain_all(watch); /* what others print late */
    pthread_mutex_lock(&watch->lock);
    watch->output.line_length = watch->output.written = 0;
    watch->errors.line_length = watch->errors.written = 0;
    watch->work_value = NAN;
    watch->ended_ns = 0;
    pthread_mutex_unlock(&watch->lock);
}

void run_watch_begin(struct run_watch *watch, pid_t pid, int64_t ended_ns)
{
    watch->ended_ns = ended_ns;
    if (ended_ns > 0)
        return;
    watch->process_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (watch->process_fd >= 0)
        send_to_thread(watch, watch->process_fd);
}

int64_t run_watch_end(struct run_watch *watch)
{
    if (watch->process_fd >= 0) {
        while (sem_wait(&watch->is_over) != 0 && errno == EINTR)
            ;
        file_close_fd(&watch->process_fd);
    }
    drain_all(watch);
    pthread_mutex_lock(&watch->lock);
    if (watch->work) { /* a last line without its end */
        if (watch->output.line_length > 0)
            search_line(watch, &watch->output);
        if (watch->errors.line_length > 0)
            search_line(watch, &watch->errors);
    }
    pthread_mutex_unlock(&watch->lock);
    return watch->ended_ns;
}

const char *run_stream_tail(const struct run_stream *stream, char *text)
{
    size_t length = stream->written < RUN_WATCH_TAIL ? stream->written : RUN_WATCH_TAIL - 1;
    for (size_t i = 0; i < length; i++)
        text[i] = stream->tail[(stream->written - length + i) % RUN_WATCH_TAIL];
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    text[length] = '\0';
    const char *newline = stream->written > length + 2 ? strchr(text, '\n') : NULL;
    if (newline)
        memmove(text, newline + 1, strlen(newline + 1) + 1);
    return text;
}
