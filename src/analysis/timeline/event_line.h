/*
 * The line of one event in a merged timeline.
 */
#pragma once

#include "analysis/timeline/timeline.h"
#include "base/number.h"
#include "base/str.h"

/* What is kept from line to line. Begins as zeroes. */
struct event_line_memory {
    struct str clean; /* texts that were checked to be UTF-8; to be finished */
    int64_t second;   /* the whole second that was written last */
    size_t length;    /* of its digits */
    char text[NUMBER_TEXT_SIZE];
};

/* Appends a line after another one. `heading` is what all events of a lane have in common. */
void event_line_append(struct str *out, struct timeline_event *event, const char *heading,
    size_t heading_length, struct event_line_memory *memory);
