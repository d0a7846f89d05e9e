/*
 * The events of one trace file, in its order. Chrome traces are read in both forms (an array, or an
 * object with "traceEvents"), as PyTorch's profiler writes them, compressed or not. Memory is
 * bounded by the largest single event.
 *
 * Damage loses no intact event: text that does not scan is skipped and counted, and a truncated
 * file has every complete event before the cut.
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
    uint64_t events;   /* events returned */
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

/* Lets `cores` threads, including the caller, find the events of a large file. The events stay the
 * same, to the byte. Call it before the first event. */
void event_stream_use_cores(struct event_stream *stream, unsigned cores);

/*
 * Reads the next event; `*there` is false at the end. The slices of `event` are valid until the
 * next call.
 */
int event_stream_next(
    struct event_stream *stream, struct trace_event *event, bool *there, struct gput_error *error);

/* Returns the offset in the file of the event just returned; meaningful if the file is not
 * compressed. UINT64_MAX: the event was repaired, so the file has other text. */
uint64_t event_stream_place(const struct event_stream *stream);

/* Reports the progress of reading, every few thousand events. */
void event_stream_report_progress(
    const struct event_stream *stream, const struct read_report *report);

/* Adds the whole file to the bytes that were read. */
void event_stream_report_end(const struct event_stream *stream, struct read_report *report);

/* As byte_source_plain_fd(). */
int event_stream_plain_fd(const struct event_stream *stream);

/* The name it was opened with. Belongs to the stream. */
const char *event_stream_name(const struct event_stream *stream);

const struct trace_header *event_stream_header(const struct event_stream *stream);
const struct event_counts *event_stream_counts(const struct event_stream *stream);

/* Returns the names of unread members next to the events that record activity ("stackFrames,
 * samples"), or "". Complete after the end. Belongs to the stream. */
const char *event_stream_left_out(const struct event_stream *stream);

/*
 * Returns one sentence about damage of the file, or NULL. Complete after the end. Belongs to the
 * stream.
 */
const char *event_stream_warning(struct event_stream *stream);

void event_stream_close(struct event_stream *stream); /* NULL is fine */
CLEANUP_DEFINE(struct event_stream, event_stream_close)
