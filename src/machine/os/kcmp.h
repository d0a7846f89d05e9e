/*
 * Whether two processes share one address space, as a child does between vfork() and execve().
 */
#pragma once

#include "base/bounded_calls.h"

#include <stddef.h>
#include <sys/types.h>

/* No more processes are compared. */
#define KCMP_MAX_OTHERS 16

/*
 * Which of others shares its address space with a process; `count`: none, or that is not known (no
 * CONFIG_KCMP, no permission to inspect one of them, one that is in an execve() and does not
 * answer). Pids are of our own pid namespace.
 */
size_t kcmp_find_same_memory(
    struct bounded_calls *calls, pid_t pid, const pid_t *others, size_t count);
