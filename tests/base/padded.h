/*
 * Text in memory of its exact size, padded as the JSON scanner wants it.
 */
#pragma once

#include "base/json_scan.h"

#include <stdlib.h>

static inline char *padded_copy(const char *text, size_t length)
{
    char *copy = calloc(1, length + JSON_PADDING);
    if (copy && length > 0)
        memcpy(copy, text, length);
    return copy;
}
