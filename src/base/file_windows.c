#include "base/file_windows.h"

#include "base/ordered_jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_SIZE (512u << 10)
/* Bytes read beyond the window, for an item that crosses its end. */
#define OVERLAP (32u << 10)

/* A window on its way through the threads. */
struct window_job {
    struct file_windows *windows;
    char *buffer; /* a byte more than the text, before it */
    struct file_window *window;
};

struct file_windows {
    const struct file_window_class *class;
    void *user;
    struct ordered_jobs *jobs;
    int fd;
    uint64_t size;
    uint64_t next;           /* where the next window begins */
    struct window_job *held; /* the oldest, done */
    bool is_used;            /* it was given */
};

/* Reads up to `wanted` bytes at a place, fewer only at the end or on an error. */
static size_t read_at(int fd, char *buffer, size_t wanted, uint64_t at)
{
    size_t length = 0;
    while (length < wanted) {
        ssize_t got = pread(fd, buffer + length, wanted - length, (off_t)(at + length));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    return length;
}

/* Reads and scans one window in a worker thread. */
static void run(void *user, unsigned thread)
{
    struct window_job *job = user;
    (void)thread;
    job->window->first = NULL;

    /* Leave an error of reading to the thread that reads in order. */
    struct file_window *window = job->window;
    unsigned before = window->at > 0;
    char *text = job->buffer + 1;
    size_t length = read_at(
        job->windows->fd, text - before, before + WINDOW_SIZE + OVERLAP, window->at - before);
    length = length > before ? length - before : 0;
    memset(text + length, 0, FILE_WINDOW_PADDING);
    window->text = text;
    window->end = text + length;
    window->limit = length < WINDOW_SIZE ? window->end : text + WINDOW_SIZE;

    if (job->window->text < job->window->end)
        job->windows->class->scan(job->window);
}

/* Frees a window and its buffer. */
static void finish(void *user)
{
    struct window_job *job = user;
    if (job->window)
        job->windows->class->finish(job->window);
    free(job->window);
    free(job->buffer);
}

/* Makes the jobs that read windows ahead. */
static int make(
    int fd, uint64_t size, unsigned cores, struct file_windows *windows, struct gput_error *error)
{
    static const struct job_class class = {sizeof(struct window_job), run, finish};
    windows->fd = fd;
    windows->size = size;
    return ordered_jobs_create(cores, 2, &class, &windows->jobs, error);
}

int file_windows_create(int fd, unsigned cores, const struct file_window_class *class, void *user,
    struct file_windows **windows, struct gput_error *error)
{
    struct stat info;
    *windows = NULL;
    if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) ||
        info.st_size < FILE_WINDOWS_MIN)
        return error_set(error, GPUT_ERROR_UNSUPPORTED, "It is not a large file");
    struct file_windows *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    made->class = class;
    made->user = user;
    int code = make(fd, (uint64_t)info.st_size, cores, made, error);
    if (code != GPUT_OK)
        free(made);
    else
        *windows = made;
    return code;
}

/* Has all threads busy with what stands at `at` and after it. */
static void give(struct file_windows *windows, uint64_t at)
{
    struct window_job *job;
    if (windows->next < at)
        windows->next = at;
    while (windows->next < windows->size && (job = ordered_jobs_space(windows->jobs)) != NULL) {
        /* Allocate the buffers of a job when it is used first. False: out of memory. */
        job->windows = windows;
        if (!job->buffer)
            job->buffer = malloc(1 + WINDOW_SIZE + OVERLAP + FILE_WINDOW_PADDING);
        if (!job->window)
            job->window = calloc(1, windows->class->size);
        if (!(job->buffer && job->window))
            return;
        job->window->at = windows->next;
        job->window->is_known = windows->next == at;
        job->window->user = windows->user;
        windows->next += WINDOW_SIZE;
        ordered_jobs_give(windows->jobs);
    }
}

static bool is_of_use(const struct window_job *job, uint64_t at)
{
    const struct file_window *window = job->window;
    return window->first && file_window_place(window, window->first) >= at;
}

struct file_window *file_windows_at(struct file_windows *windows, uint64_t at)
{
    while (!windows->held || windows->is_used || !is_of_use(windows->held, at)) {
        if (windows->held)
            ordered_jobs_release(windows->jobs);
        give(windows, at);
        windows->is_used = false;
        windows->held = ordered_jobs_take(windows->jobs);
        if (!windows->held)
            return NULL;
    }
    struct file_window *window = windows->held->window;
    windows->is_used = file_window_place(window, window->first) == at;
    return windows->is_used ? window : NULL;
}

const char *file_window_line(const struct file_window *window)
{
    if (window->is_known)
        return window->text;
    const char *line_end =
        memchr(window->text - 1, '\n', (size_t)(window->limit - window->text) + 1);
    return line_end && line_end + 1 < window->limit ? line_end + 1 : NULL;
}

uint64_t file_windows_file_size(const struct file_windows *windows)
{
    return windows->size;
}

void file_windows_destroy(struct file_windows *windows)
{
    if (!windows)
        return;
    ordered_jobs_destroy(windows->jobs);
    free(windows);
}
