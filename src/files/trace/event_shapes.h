/*
 * The shapes of events: a trace has millions of events, but few sequences of keys. The bytes
 * between two values (`, "tid": `) repeat. Once one event was scanned in full, the next one of its
 * shape is compared with it, and only its values are scanned. The result is the same, in a quarter
 * of the time.
 *
 * The known shapes form a tree: each separator has as children those that followed it. The tree is
 * bounded. It is emptied when it is full and many events do not fit its shapes.
 */
#pragma once

#include "files/trace/trace_event.h"

struct event_shapes;

/* Returns NULL without memory. All functions accept NULL: reading is then only slower. */
struct event_shapes *event_shapes_create(void);

/*
 * Scans the event whose brace is at `*at` and moves `*at` after it, as trace_event_scan() does.
 * Returns false and leaves `*at` if the event has no known shape, is incomplete or malformed;
 * trace_event_scan() then decides.
 */
bool event_shapes_scan(
    struct event_shapes *shapes, const char **at, const char *end, struct trace_event *event);

/* Learns the shape of an event that trace_event_scan() accepted. */
void event_shapes_learn(struct event_shapes *shapes, const struct trace_event *event);

void event_shapes_destroy(struct event_shapes *shapes);
