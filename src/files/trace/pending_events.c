#include "files/trace/pending_events.h"

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

/* Removes an event, and closes the gap. */
static void remove_at(struct pending_events *pending, size_t at)
{
    pending->count--;
    memmove(pending->events + at, pending->events + at + 1,
        (pending->count - at) * sizeof *pending->events);
}

/* Drops an event that will not end, and keeps its name for messages. */
static void drop_at(struct pending_events *pending, size_t at)
{
    if (pending->dropped++ < PENDING_MAX_NAMED)
        str_printf(&pending->names, "%s\"%s\"", pending->names.length > 0 ? ", " : "",
            pending->events[at].name);
    pending_event_finish(&pending->events[at]);
    remove_at(pending, at);
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
    if (pending->count == MAX_PENDING)
        drop_at(pending, 0);
    pending->events[pending->count++] = *event;
    return true;
}

/* Whether an event is of that thread. */
static bool is_of(const struct pending_event *event, int64_t pid, int64_t tid)
{
    return event->pid == pid && event->tid == tid;
}

bool pending_events_pop(struct pending_events *pending, int64_t pid, int64_t tid, const char *name,
    struct pending_event *event)
{
    size_t at = pending->count;
    while (at-- > 0)
        if (is_of(&pending->events[at], pid, tid) &&
            (*name == '\0' || strcmp(pending->events[at].name, name) == 0))
            break;
    if (at == SIZE_MAX)
        return false;
    *event = pending->events[at];
    remove_at(pending, at);
    while (at < pending->count)
        if (is_of(&pending->events[at], pid, tid))
            drop_at(pending, at);
        else
            at++;
    return true;
}

void pending_events_drop(struct pending_events *pending)
{
    while (pending->count > 0)
        drop_at(pending, 0);
}

void pending_events_finish(struct pending_events *pending)
{
    for (size_t i = 0; i < pending->count; i++)
        pending_event_finish(&pending->events[i]);
    free(pending->events);
    str_finish(&pending->names);
    *pending = (struct pending_events){0};
}
