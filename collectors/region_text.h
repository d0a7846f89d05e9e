/*
 * Wide characters as UTF-8.
 */
#pragma once

#include <stddef.h>
#include <wchar.h>

/* Returns `buffer`, with what fits of the text; NULL for NULL. */
const char *region_text_of_wide(const wchar_t *wide, char *buffer, size_t size);
