/*
 * Names of addresses of code.
 */
#pragma once

#include <stddef.h>

/*
 * Writes the function at an address of this process, "solve" or, where its file has no symbols,
 * "libsolver.so+0x1234". Reads that file each time. Returns `name`.
 */
const char *region_symbol(const void *address, char *name, size_t size);
