#include "trace/begun_events.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BEGUN 4096

void begun_event_finish(struct begun_event *event)
{
    free(event->name);
    free(event->category);
    free(event->args);
    *event = (struct begun_event){0};
}

static void remove_at(struct begun_events *begun, size_t at)
{
    begun->count--;
    memmove(
        begun->events + at, begun->events + at + 1, (begun->count - at) * sizeof *begun->events);
}

bool begun_events_push(struct begun_events *begun, const struct begun_event *event)
{
    if (!begun->events)
        begun->events = calloc(MAX_BEGUN, sizeof *begun->events);
    if (!begun->events || !event->name) {
        struct begun_event lost = *event;
        begun_event_finish(&lost);
        return false;
    }
    if (begun->count == MAX_BEGUN) {
        begun_event_finish(&begun->events[0]);
        remove_at(begun, 0);
        begun->given_up++;
    }
    begun->events[begun->count++] = *event;
    return true;
}

bool begun_events_pop(
    struct begun_events *begun, int64_t pid, int64_t tid, struct begun_event *event)
{
    for (size_t at = begun->count; at-- > 0;) {
        if (begun->events[at].pid != pid || begun->events[at].tid != tid)
            continue;
        *event = begun->events[at];
        remove_at(begun, at);
        return true;
    }
    return false;
}

void begun_events_finish(struct begun_events *begun)
{
    for (size_t i = 0; i < begun->count; i++)
        begun_event_finish(&begun->events[i]);
    free(begun->events);
    *begun = (struct begun_events){0};
}
