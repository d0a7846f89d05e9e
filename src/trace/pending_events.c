#include "trace/pending_events.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PENDING 4096

void pending_event_finish(struct pending_event *event)
{
    free(event->name);
    free(event->category);
    free(event->args);
    *event = (struct pending_event){0};
}

static void remove_at(struct pending_events *pending, size_t at)
{
    pending->count--;
    memmove(pending->events + at, pending->events + at + 1,
        (pending->count - at) * sizeof *pending->events);
}

bool pending_events_push(struct pending_events *pending, const struct pending_event *event)
{
    if (!pending->events)
        pending->events = calloc(MAX_PENDING, sizeof *pending->events);
    if (!pending->events || !event->name) {
        struct pending_event lost = *event;
        pending_event_finish(&lost);
        return false;
    }
    if (pending->count == MAX_PENDING) {
        pending_event_finish(&pending->events[0]);
        remove_at(pending, 0);
        pending->dropped++;
    }
    pending->events[pending->count++] = *event;
    return true;
}

bool pending_events_pop(
    struct pending_events *pending, int64_t pid, int64_t tid, struct pending_event *event)
{
    for (size_t at = pending->count; at-- > 0;) {
        if (pending->events[at].pid != pid || pending->events[at].tid != tid)
            continue;
        *event = pending->events[at];
        remove_at(pending, at);
        return true;
    }
    return false;
}

void pending_events_finish(struct pending_events *pending)
{
    for (size_t i = 0; i < pending->count; i++)
        pending_event_finish(&pending->events[i]);
    free(pending->events);
    *pending = (struct pending_events){0};
}
