#include "files/trace/event_windows.h"

#include "base/array.h"
#include "files/trace/event_shapes.h"

#include <stdlib.h>

_Static_assert(FILE_WINDOW_PADDING >= JSON_PADDING, "events need the padding");

/* The first event that seems to begin in the window, as they stand in a list: no object within one.
 * NULL: none does. */
static const char *guess_start(const struct file_window *window)
{
    for (const char *at = window->text;
         (at = memchr(at, '{', (size_t)(window->limit - at))) != NULL; at++) {
        struct trace_event event;
        const char *after = at;
        if (*json_skip_space(at + 1) != '"' ||
            trace_event_scan(&after, window->end, &event) != JSON_OK || event.type == 0)
            continue;
        after = json_skip_space(after);
        if (*after == ',' || *after == ']')
            return at;
    }
    return NULL;
}

/* Scans an event as the reader in order does; false at what is not a whole one. */
static bool scan_event(struct event_window *window, const char **at, struct trace_event *event)
{
    const char *here = *at;
    if (*here != '{')
        return false;
    if (!event_shapes_scan(window->shapes, &here, window->window.end, event)) {
        if (trace_event_scan(&here, window->window.end, event) != JSON_OK)
            return false;
        event_shapes_learn(window->shapes, event);
    }
    if (event->type == 0 && event->members > 0)
        return false;
    *at = here;
    return true;
}

/* Scans the events of a window from the first one that is known, or that seems to begin there. */
static void scan(struct file_window *base)
{
    struct event_window *window = (struct event_window *)base;
    window->count = window->empty = 0;
    if (!window->shapes)
        window->shapes = event_shapes_create();
    const char *at = base->is_known ? base->text : guess_start(base);
    if (!at)
        return;
    base->first = at;
    while (at < base->limit && ARRAY_RESERVE(window->events, window->count, window->capacity)) {
        struct trace_event *event = window->events + window->count;
        if (!scan_event(window, &at, event))
            break;
        window->count += event->members > 0;
        window->empty += event->members == 0;
        at = json_skip_space(at);
        while (*at == ',')
            at = json_skip_space(at + 1);
    }
    base->after = at;
    if (window->count == 0)
        base->first = NULL;
}

/* Frees what one window holds. */
static void finish(struct file_window *base)
{
    struct event_window *window = (struct event_window *)base;
    free(window->events);
    event_shapes_destroy(window->shapes);
}

const struct file_window_class event_windows = {sizeof(struct event_window), scan, finish};
