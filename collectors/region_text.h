/*
 * Names of regions where a tool gives none in UTF-8: wide characters, and addresses of code.
 */
#pragma once

#include <stddef.h>
#include <wchar.h>

/* Returns `buffer`, with what fits of the text; NULL for NULL. */
const char *region_text_of_wide(const wchar_t *wide, char *buffer, size_t size);

/*
 * Writes the function at an address of this process, "solve" or, where its file has no symbols,
 * "libsolver.so+0x1234". Reads that file each time. Returns `name`.
 */
const char *region_symbol(const void *address, char *name, size_t size);
