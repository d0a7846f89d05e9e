/*
 * The events of one trace file, in its order: Chrome traces in both forms (an array, or an object
 * with "traceEvents"), what PyTorch's profiler writes, optionally compressed. Memory is
 * bounded by the largest single event.
 *
 * Damage loses no intact event: what does not scan is skipped and counted, and a truncated file
 * gives every complete event before the cut.
 */
#pragma once

#include "base/cleanup.h"
#include "base/error.h"
#include "files/trace/byte_source.h"
#include "files/trace/read_report.h"
#include "files/trace/trace_event.h"

struct event_stream;

/* The members next to the events in the object form. Those before the events are known when these
 * begin. */
struct trace_header {
    bool is_object;       /* the object form, which alone has a header */
    int64_t base_time_ns; /* "baseTimeNanoseconds" before the events; 0 when missing */
    int64_t late_base_ns; /* the same after them, as PyTorch 2.4 to 2.7 write it; 0 when missing */
    int64_t rank;         /* "distributedInfo" rank; -1 when missing */
    int64_t world_size;   /* -1 when missing */
};

struct event_counts {
    uint64_t events;   /* given */
    uint64_t damaged;  /* places that did not scan; each is skipped up to the next intact event */
    uint64_t empty;    /* {} */
    uint64_t repaired; /* events and members that json_repair_scan() read */
    uint64_t after;    /* bytes after the end of the trace, which are not read */
    bool truncated;    /* the file ends before its list of events does */
};

int event_stream_open(const char *path, struct event_stream **stream, struct gput_error *error);

/* Takes ownership of the source, also on failure. `name` is used in messages. */
int event_stream_open_source(struct byte_source *source, const char *name,
    struct event_stream **stream, struct gput_error *error);

/* Has as many threads as that find the events of a large file, the caller among them. What is given
 * stays the same, to the byte. To be called before the first event. */
void event_stream_use_cores(struct event_stream *stream, unsigned cores);

/*
 * Gives the next event; `*there` is false at the end. The slices of `event` are valid until the
 * next call.
 */
int event_stream_next(
    struct event_stream *stream, struct trace_event *event, bool *there, struct gput_error *error);

/* The offset in the file of the event just given; meaningful if the file is not compressed.
 * UINT64_MAX: its texts do not stand there as they were given. */
uint64_t event_stream_place(const struct event_stream *stream);

/* Reports the progress of reading, every few thousand events. */
void event_stream_report_progress(
    const struct event_stream *stream, const struct read_report *report);

/* Adds the whole file to what was read. */
void event_stream_report_end(const struct event_stream *stream, struct read_report *report);

/* As byte_source_plain_fd(). */
int event_stream_plain_fd(const struct event_stream *stream);

/* The name it was opened with. Belongs to the stream. */
const char *event_stream_name(const struct event_stream *stream);

const struct trace_header *event_stream_header(const struct event_stream *stream);
const struct event_counts *event_stream_counts(const struct event_stream *stream);

/* After the end: names of members next to the events that hold more than these and are not read
 * ("stackFrames, samples"), or "". Belongs to the stream. */
const char *event_stream_left_out(const struct event_stream *stream);

/*
 * After the end: one sentence about damage of the file, or NULL. Belongs to the stream.
 */
const char *event_stream_warning(struct event_stream *stream);

void event_stream_close(struct event_stream *stream); /* NULL is fine */
CLEANUP_DEFINE(struct event_stream, event_stream_close)
