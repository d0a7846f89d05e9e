/*
 * Libraries that are loaded when they are needed, so that a program that does not need them links
 * none of them.
 */
#pragma once

#include <stdbool.h>

struct shared_symbol {
    const char *name;
    void *function; /* points to the pointer that is set */
};

/* False of a statically linked program, which can load none. */
bool shared_library_can_load(void);

/*
 * Loads a library, such as "libz.so.1", and sets a pointer for each symbol; the last one has no
 * name. It stays loaded as long as the process: libraries keep state of it.
 *
 * Returns NULL, or why not: valid until the thread's next dlopen() or dlsym().
 */
const char *shared_library_load(const char *name, const struct shared_symbol *symbols);
