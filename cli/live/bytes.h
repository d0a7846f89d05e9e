/* Bytes that grow. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All zeroes is empty. Without memory it loses what it cannot hold, and `has_lost` says so. */
struct bytes {
    char *data; /* owned */
    size_t length, capacity;
    bool has_lost;
};

/* Makes so many more fit without memory being asked for; false: there is none. */
bool bytes_reserve(struct bytes *bytes, size_t extra);

void bytes_append(struct bytes *bytes, const char *data, size_t length);
void bytes_append_text(struct bytes *bytes, const char *text);

/* At most 127 bytes. */
void bytes_print(struct bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Removes what is at the beginning. */
void bytes_drop(struct bytes *bytes, size_t length);

void bytes_finish(struct bytes *bytes);
