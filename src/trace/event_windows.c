#include "trace/event_windows.h"

#include "base/ordered_jobs.h"
#include "trace/event_shapes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define WINDOW_SIZE (512u << 10)
/* What is read beyond it, for an event that reaches over its end. */
#define OVERLAP (32u << 10)
#define TEXT_SIZE (WINDOW_SIZE + OVERLAP + JSON_PADDING)

/* A window on its way through the threads. */
struct window_job {
    int fd;
    bool is_known; /* an event begins where the window does, if at all */
    uint64_t from; /* in the file */
    char *text;
    const char *end;   /* of what was read */
    const char *limit; /* the events that begin before this are its */
    size_t capacity;   /* of the events */
    struct event_shapes *shapes;
    struct event_window found;
};

struct event_windows {
    struct ordered_jobs *jobs;
    int fd;
    uint64_t size;
    uint64_t next; /* where the next window begins */
    bool has_begun;
    struct window_job *held; /* the oldest, done */
    bool is_used;            /* it was given */
};

static const char *skip_commas(const char *at)
{
    at = json_skip_space(at);
    while (*at == ',')
        at = json_skip_space(at + 1);
    return at;
}

static bool read_text(struct window_job *job)
{
    size_t length = 0, wanted = WINDOW_SIZE + OVERLAP;
    if (!job->text && !(job->text = malloc(TEXT_SIZE)))
        return false;
    while (length < wanted) {
        ssize_t got =
            pread(job->fd, job->text + length, wanted - length, (off_t)(job->from + length));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    memset(job->text + length, 0, JSON_PADDING);
    job->end = job->text + length;
    job->limit = length < WINDOW_SIZE ? job->end : job->text + WINDOW_SIZE;
    return true;
}

/* Whether what begins at `at` is an event as they stand in a list: no object within one. */
static bool looks_like_event(const char *at, const char *end)
{
    struct trace_event event;
    if (*json_skip_space(at + 1) != '"' || trace_event_scan(&at, end, &event) != JSON_OK)
        return false;
    at = json_skip_space(at);
    return event.type != 0 && (*at == ',' || *at == ']');
}

/* The first event that seems to begin in the window; NULL: none does. */
static const char *guess_start(const struct window_job *job)
{
    const char *at = job->text;
    while ((at = memchr(at, '{', (size_t)(job->limit - at))) != NULL) {
        if (looks_like_event(at, job->end))
            return at;
        at++;
    }
    return NULL;
}

static bool has_space(struct window_job *job)
{
    if (job->found.count < job->capacity)
        return true;
    size_t capacity = job->capacity ? job->capacity * 2 : 4096;
    struct trace_event *events = realloc(job->found.events, capacity * sizeof *events);
    if (!events)
        return false;
    job->found.events = events;
    job->capacity = capacity;
    return true;
}

/* As the reader in order does it; false at what is not a whole event. */
static bool scan_event(struct window_job *job, const char **at, struct trace_event *event)
{
    const char *here = *at;
    if (*here != '{')
        return false;
    if (!event_shapes_scan(job->shapes, &here, job->end, event)) {
        if (trace_event_scan(&here, job->end, event) != JSON_OK)
            return false;
        event_shapes_learn(job->shapes, event);
    }
    if (event->type == 0 && event->members > 0)
        return false;
    *at = here;
    return true;
}

static void scan(struct window_job *job, const char *at)
{
    struct event_window *found = &job->found;
    found->start = job->from + (uint64_t)(at - job->text);
    while (at < job->limit && has_space(job)) {
        struct trace_event *event = found->events + found->count;
        if (!scan_event(job, &at, event))
            break;
        found->count += event->members > 0;
        found->empty += event->members == 0;
        at = skip_commas(at);
    }
    found->end = job->from + (uint64_t)(at - job->text);
}

static void run(void *user, unsigned thread)
{
    struct window_job *job = user;
    (void)thread;
    job->found.count = job->found.empty = 0;
    if (!read_text(job))
        return;
    if (!job->shapes)
        job->shapes = event_shapes_create();
    job->found.text = job->text;
    job->found.text_at = job->from;
    const char *at = job->is_known ? job->text : guess_start(job);
    if (at)
        scan(job, at);
}

static void finish(void *user)
{
    struct window_job *job = user;
    free(job->text);
    free(job->found.events);
    event_shapes_destroy(job->shapes);
}

int event_windows_create(
    int fd, uint64_t size, unsigned cores, struct event_windows **windows, struct gput_error *error)
{
    static const struct job_class class = {sizeof(struct window_job), run, finish};
    *windows = calloc(1, sizeof **windows);
    if (!*windows)
        return error_memory(error);
    (*windows)->fd = fd;
    (*windows)->size = size;
    int code = ordered_jobs_create(cores, 2, &class, &(*windows)->jobs, error);
    if (code != GPUT_OK) {
        free(*windows);
        *windows = NULL;
    }
    return code;
}

/* Has all threads busy with what stands at `at` and after it. */
static void give(struct event_windows *windows, uint64_t at)
{
    struct window_job *job;
    if (!windows->has_begun || windows->next < at)
        windows->next = at;
    while (windows->next < windows->size && (job = ordered_jobs_space(windows->jobs)) != NULL) {
        job->fd = windows->fd;
        job->from = windows->next;
        job->is_known = windows->next == at;
        windows->next += WINDOW_SIZE;
        windows->has_begun = true;
        ordered_jobs_give(windows->jobs);
    }
}

/* The next window of which something may be of use; NULL: there is none. */
static struct window_job *hold_next(struct event_windows *windows, uint64_t at)
{
    while (!windows->held || windows->is_used || windows->held->found.count == 0 ||
           windows->held->found.start < at) {
        if (windows->held)
            ordered_jobs_release(windows->jobs);
        give(windows, at);
        windows->is_used = false;
        windows->held = ordered_jobs_take(windows->jobs);
        if (!windows->held)
            return NULL;
    }
    return windows->held;
}

const struct event_window *event_windows_at(struct event_windows *windows, uint64_t at)
{
    struct window_job *held = hold_next(windows, at);
    if (!held || held->found.start != at)
        return NULL;
    windows->is_used = true;
    return &held->found;
}

void event_windows_destroy(struct event_windows *windows)
{
    if (!windows)
        return;
    ordered_jobs_destroy(windows->jobs);
    free(windows);
}
