#include "output_pump.h"

#include "phase_lines.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Begins a phase, which ends the previous one. `is_redrawn`: if it is the previous one, it
 * continues. May be called by any thread. */
static void phase_log_begin(struct phase_log *log, const char *name, bool is_redrawn);

/* After output of a terminal, time to wait for settings that follow it. */
#define SETTINGS_MS 100

/* Increments an eventfd, which wakes a thread that waits for it. */
static void post(int fd)
{
    uint64_t one = 1;
    ssize_t done = write(fd, &one, sizeof one);
    (void)done; /* a full counter is readable, too */
}

static void found(void *user, const char *name, bool is_redrawn)
{
    phase_log_begin(user, name, is_redrawn);
}

/* The state of one stream in its thread. */
struct flow {
    struct output_stream *stream;
    struct output_pump *pump;
    struct phase_lines *lines; /* NULL: nothing is recorded any more */
    char *bytes;
    size_t after_end; /* bytes read after the command had ended */
    bool has_ended;
    bool was_busy; /* a terminal whose settings may still change */
};

/* Ends the lines of the command; further output is by others. */
static void end_lines(struct flow *flow)
{
    if (!flow->lines)
        return;
    phase_lines_end(flow->lines);
    free(flow->lines);
    flow->lines = NULL;
    post(flow->pump->over_fd);
}

/* Passes one part on. Returns false if there is no more, or nobody reads it. */
static bool pass_part(struct flow *flow)
{
    struct output_stream *stream = flow->stream;
    ssize_t got = output_stream_tee(stream, flow->bytes, OUTPUT_PART);
    bool is_passed = got > 0;
    if (!is_passed)
        got = output_stream_read(stream, flow->bytes, OUTPUT_PART);
    if (got <= 0)
        return got < 0 && (errno == EINTR || errno == EAGAIN);
    if (flow->lines)
        phase_lines_add(flow->lines, flow->bytes, (size_t)got);
    output_stream_follow_settings(stream);
    flow->was_busy = stream->is_terminal;
    flow->after_end += flow->has_ended ? (size_t)got : 0;
    return is_passed || output_stream_write(stream, flow->bytes, (size_t)got);
}

/* Passes a stream on until all writers have closed it. */
static void pass(struct flow *flow)
{
    struct output_stream *stream = flow->stream;
    for (bool goes_on = true; goes_on;) {
        struct pollfd events[] = {
            {.fd = stream->source, .events = POLLIN},
            {.fd = flow->has_ended ? -1 : flow->pump->ended_fd, .events = POLLIN},
            {.fd = stream->is_pipe ? stream->target : -1}, /* POLLERR: its reader has gone */
        };
        int ready = poll(events, 3,
            flow->has_ended && flow->lines ? 0
            : flow->was_busy               ? SETTINGS_MS
                                           : -1);
        if (ready <= 0) {
            output_stream_follow_settings(stream);
            flow->was_busy = false;
        }
        flow->has_ended |= events[1].revents != 0;
        if (events[2].revents & POLLERR)
            return;
        if (events[0].revents)
            goes_on = pass_part(flow);
        /* All output of the command was there when it ended. */
        else if (flow->has_ended)
            end_lines(flow);
        if (flow->after_end > OUTPUT_PART)
            end_lines(flow);
    }
}

/* Runs in the thread of one stream: passes output on and finds phases in it. */
static void *run(void *user)
{
    struct output_pump_stream *place = user;
    struct flow flow = {.stream = place->stream, .pump = place->pump};
    flow.bytes = malloc(OUTPUT_PART);
    flow.lines = malloc(sizeof *flow.lines);
    if (flow.bytes && flow.lines) {
        phase_lines_init(flow.lines, place->pump->matcher, found, &place->pump->log);
        pass(&flow);
        output_stream_end(place->stream);
        end_lines(&flow);
    } else {
        place->stream->failure = ENOMEM;
        free(flow.lines);
        post(place->pump->over_fd);
    }
    free(flow.bytes);
    output_stream_close(place->stream);
    return NULL;
}

bool output_pump_start(struct output_pump *pump, struct output_stream *streams, int count,
    const struct phase_matcher *matcher)
{
    pump->matcher = matcher;
    pump->n_streams = 0;
    pump->ended_fd = eventfd(0, EFD_CLOEXEC);
    pump->over_fd = eventfd(0, EFD_CLOEXEC);
    if (pump->ended_fd < 0 || pump->over_fd < 0)
        return false;
    for (int i = 0; i < count; i++) {
        struct output_pump_stream *place = &pump->streams[i];
        *place = (struct output_pump_stream){.pump = pump, .stream = &streams[i]};
        if (pthread_create(&place->thread, NULL, run, place) != 0)
            return false;
        pump->n_streams++;
    }
    return true;
}

void output_pump_wait(struct output_pump *pump, int control)
{
    int over = 0;
    bool has_ended = false, is_alone = false;
    while (over < pump->n_streams || !(has_ended || is_alone)) {
        struct pollfd events[] = {
            {.fd = has_ended || is_alone ? -1 : control, .events = POLLIN},
            {.fd = over < pump->n_streams ? pump->over_fd : -1, .events = POLLIN},
        };
        uint64_t count;
        char byte;
        if (poll(events, 2, -1) < 0)
            continue;
        if (events[1].revents && read(pump->over_fd, &count, sizeof count) == sizeof count)
            over += (int)count;
        if (!events[0].revents)
            continue;
        has_ended = read(control, &byte, 1) == 1;
        is_alone = !has_ended;
        if (has_ended)
            post(pump->ended_fd);
    }
}

int output_pump_failure(const struct output_pump *pump)
{
    int failure = 0;
    for (int i = 0; i < pump->n_streams; i++) {
        int one = pump->streams[i].stream->failure;
        failure = one && one != EPIPE && one != EIO ? one : failure;
    }
    return failure;
}

void output_pump_finish(struct output_pump *pump)
{
    for (int i = 0; i < pump->n_streams; i++)
        pthread_join(pump->streams[i].thread, NULL);
}

/* Size of the hash table: a power of two, above the number of names. */
#define SLOTS 32768

int phase_log_open(struct phase_log *log, const char *path, pid_t pid, struct gput_error *error)
{
    struct gput_blocks_options options = gput_blocks_options_default();
    options.process_id = pid;
    log->hashes = calloc(SLOTS, sizeof *log->hashes);
    return gput_blocks_open(path, &options, &log->blocks, error);
}

/* Returns the FNV-1a hash of a name, never 0. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

/* Whether a name is known or can be added, which it is then. */
static bool has_space(struct phase_log *log, const char *name)
{
    uint64_t hash = hash_of(name);
    size_t slot = hash & (SLOTS - 1);
    if (!log->hashes)
        return false;
    while (log->hashes[slot] && log->hashes[slot] != hash)
        slot = (slot + 1) & (SLOTS - 1);
    if (log->hashes[slot] == hash)
        return true;
    if (log->n_names == PHASE_LOG_NAMES)
        return false;
    log->hashes[slot] = hash;
    log->n_names++;
    return true;
}

/* Ends the current phase, if there is one. */
static void end_phase(struct phase_log *log)
{
    if (log->current[0])
        gput_blocks_stop_call(log->blocks, log->current, &log->call);
    log->current[0] = '\0';
}

static void phase_log_begin(struct phase_log *log, const char *name, bool is_redrawn)
{
    char block[sizeof log->current];
    pthread_mutex_lock(&log->lock);
    bool is_known = log->blocks && has_space(log, name);
    snprintf(block, sizeof block, "token:%s", is_known ? name : "(other names)");
    if (log->blocks && !(is_redrawn && strcmp(block, log->current) == 0)) {
        end_phase(log);
        memcpy(log->current, block, sizeof block);
        gput_blocks_start_call(log->blocks, log->current, &log->call);
        log->n_phases++;
    }
    pthread_mutex_unlock(&log->lock);
}

void phase_log_close(struct phase_log *log)
{
    pthread_mutex_lock(&log->lock);
    struct gput_blocks *blocks = log->blocks;
    if (blocks)
        end_phase(log);
    log->blocks = NULL;
    free(log->hashes);
    log->hashes = NULL;
    pthread_mutex_unlock(&log->lock);
    gput_blocks_close(blocks, NULL);
}
