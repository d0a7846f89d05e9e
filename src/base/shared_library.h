/*
 * Libraries that are loaded when they are needed, so that a program that does not need them links
 * none of them.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct shared_symbol {
    const char *name;
    void *function; /* points to the pointer that is set */
};

/* False of a statically linked program, which can load none. */
bool shared_library_can_load(void);

/* Whether root owns a file and each folder above it, and no other user can write them. Links are
 * followed: `resolved` is the path without them. */
bool shared_library_is_of_root(const char *path, char resolved[PATH_MAX]);

/*
 * dlopen(), and NULL with the reason in *why, valid until the thread's next dlopen() or dlsym().
 *
 * A program with rights that its user lacks (AT_SECURE: set-user-ID, or capabilities of its file)
 * gives them to what it loads. There a path must be shared_library_is_of_root(), and a name is
 * sought only in folders of the system.
 */
void *shared_library_open(const char *name, int flags, const char **why);

/*
 * Loads a library, such as "libz.so.1", and sets a pointer for each symbol; the last one has no
 * name. It stays loaded as long as the process: libraries keep state of it.
 *
 * Returns NULL, or why not: valid until the thread's next dlopen() or dlsym().
 */
const char *shared_library_load(const char *name, const struct shared_symbol *symbols);
