/*
 * Whether two processes run in the same memory, as a child does between vfork() and execve().
 */
#ifndef OS_KCMP_H
#define OS_KCMP_H

#include <stdbool.h>
#include <sys/types.h>

/* False also when the system does not tell (no CONFIG_KCMP, no right to look at one of them). Pids
 * are of our own pid namespace. */
bool kcmp_same_memory(pid_t one, pid_t other);

#endif
