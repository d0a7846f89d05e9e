/*
 * Names of regions for tools that give none in UTF-8: converts wide characters, and looks up
 * addresses of code.
 */
#pragma once

#include <stddef.h>
#include <wchar.h>

/* Converts a text, truncated to the buffer. Returns `buffer`; NULL for NULL. */
const char *region_text_of_wide(const wchar_t *wide, char *buffer, size_t size);

/*
 * Writes the name of the function at an address of this process: "solve", or "libsolver.so+0x1234"
 * if its file has no symbols. Reads that file each time. Returns `name`.
 */
const char *region_symbol(const void *address, char *name, size_t size);
