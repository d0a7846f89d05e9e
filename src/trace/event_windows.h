/*
 * The events of a plain trace file, found by several threads: each scans a window of the file.
 * Where a window begins in the middle of the file it has to be guessed where its first event
 * begins: text within a string may look like an event. So what is found is not known to be true,
 * until the one who reads the file in order arrives exactly where a window's first event begins:
 * between two events, nothing that stands before matters to what follows. A window that is not met
 * so is of no use, and costs time alone.
 *
 * A window holds events without any damage: it ends before what is no whole event, which the reader
 * in order deals with.
 */
#pragma once

#include "base/error.h"
#include "trace/trace_event.h"

#include <stdint.h>

struct event_windows;

/* What one thread found. */
struct event_window {
    uint64_t start; /* in the file: of the first event */
    uint64_t end;   /* after the last event, and the commas and white space behind it */
    struct trace_event *events;
    size_t count;
    uint64_t empty;   /* how many {} stand among them */
    const char *text; /* the window, padded as json_scan.h wants it */
    uint64_t text_at; /* in the file */
};

/* Files smaller than this are not worth the threads. */
#define EVENT_WINDOWS_MIN (4u << 20)

/* Of a regular file of that size, for `cores` threads that include the caller. `fd` belongs to the
 * caller. Memory: a few MiB for each. */
int event_windows_create(int fd, uint64_t size, unsigned cores, struct event_windows **windows,
    struct gput_error *error);

/*
 * The window that begins exactly at that offset of the file, where an event may begin; NULL: none
 * does. Offsets never decrease. The window holds until the next call.
 */
const struct event_window *event_windows_at(struct event_windows *windows, uint64_t at);

void event_windows_destroy(struct event_windows *windows); /* NULL is fine */
