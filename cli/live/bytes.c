#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bytes_reserve(struct bytes *bytes, size_t extra)
{
    if (extra <= bytes->capacity - bytes->length)
        return true;
    size_t capacity = (bytes->length + extra) * 2 + 256;
    char *grown = realloc(bytes->data, capacity);
    if (!grown)
        return false;
    bytes->data = grown;
    bytes->capacity = capacity;
    return true;
}

void bytes_append(struct bytes *bytes, const char *data, size_t length)
{
    if (!bytes_reserve(bytes, length)) {
        bytes->has_lost = true;
        return;
    }
    if (length > 0)
        memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
}

void bytes_append_text(struct bytes *bytes, const char *text)
{
    bytes_append(bytes, text, strlen(text));
}

void bytes_print(struct bytes *bytes, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bytes_append_text(bytes, text);
}

void bytes_drop(struct bytes *bytes, size_t length)
{
    if (length < bytes->length)
        memmove(bytes->data, bytes->data + length, bytes->length - length);
    bytes->length -= length < bytes->length ? length : bytes->length;
}

void bytes_finish(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}
