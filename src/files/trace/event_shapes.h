/*
 * The shapes of events: a trace has millions of events, but few sequences of keys. The bytes
 * between two values (`, "tid": `) are the same again and again. Once one event was scanned in
 * full, the next one of its shape is compared with it, and only its values are scanned. The result
 * is the same, in a quarter of the time.
 *
 * The shapes that were seen form a tree: after each separator, those that followed it. It is
 * bounded, and begins afresh when it is full of what does not come again.
 */
#pragma once

#include "files/trace/trace_event.h"

struct event_shapes;

/* NULL without memory, which costs speed alone: all functions take NULL. */
struct event_shapes *event_shapes_create(void);

/*
 * Scans the event whose brace stands at `*at` and moves `*at` after it, as trace_event_scan() does.
 * False, with `*at` where it was, when it has no shape that is known, or is not whole, or is
 * malformed: trace_event_scan() decides.
 */
bool event_shapes_scan(
    struct event_shapes *shapes, const char **at, const char *end, struct trace_event *event);

/* Learns the shape of an event that trace_event_scan() found whole. */
void event_shapes_learn(struct event_shapes *shapes, const struct trace_event *event);

void event_shapes_destroy(struct event_shapes *shapes);
