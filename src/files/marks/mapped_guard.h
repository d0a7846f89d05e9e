/*
 * A store to a mapped page beyond the end of a truncated file raises SIGBUS, which would end the
 * program that marks. In guarded mappings such a page is replaced by private memory: stores to it
 * are lost, and the program goes on. A flag says so to the writer.
 *
 * A process has one handler for each signal, so this is the library's only process-wide state. The
 * handler is installed with the first guarded mapping; other faults are passed to the previous
 * handler. A program that installs a handler later has no guard.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Guards the mapping at `start`. `cut` becomes true when a page of it is replaced, before the store
 * is repeated; it outlives the guarding. It may be NULL. False without memory: then it is not
 * guarded. Any thread.
 */
bool mapped_guard_add(void *start, size_t length, atomic_bool *cut);

/* True where a mapping that begins at `start` is guarded. */
bool mapped_guard_has(const void *start);

/* True where a page of the guarded mapping at `start` was replaced. */
bool mapped_guard_was_cut(const void *start);

/* Call it before unmapping. Mappings that are not guarded are ignored. */
void mapped_guard_remove(void *start);
