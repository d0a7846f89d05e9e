/*
 * The events of a plain trace file, found by several threads: windows as file_windows.h describes
 * them. Text within a string may look like an event; between two events of a list, nothing that
 * stands before matters to what follows.
 */
#pragma once

#include "base/file_windows.h"
#include "files/trace/trace_event.h"

struct event_window {
    struct file_window window;
    struct trace_event *events;
    size_t count, capacity;
    uint64_t empty; /* how many {} stand among them */
    struct event_shapes *shapes;
};

/* Windows are struct event_window. Memory: some MiB for each thread. */
extern const struct file_window_class event_windows;
