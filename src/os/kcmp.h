/*
 * Whether two processes share one address space, as a child does between vfork() and execve().
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Also false when that is not known (no CONFIG_KCMP, no permission to inspect one of them). Pids
 * are of our own pid namespace. */
bool kcmp_same_memory(pid_t one, pid_t other);
