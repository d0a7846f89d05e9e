/*
 * How many processes and threads were started at most, where the kernel announces none: by counters
 * that all of them move, whoever starts them.
 */
#ifndef SESSION_SESSION_STARTS_H
#define SESSION_SESSION_STARTS_H

#include <stdbool.h>
#include <stdint.h>

/* The counters at one moment. */
struct session_starts {
    bool is_known;
    uint64_t started;  /* processes and threads of the whole machine since boot */
    uint64_t threads;  /* that live, of the whole machine */
    uint64_t last_pid; /* given out in our own pid namespace */
    uint64_t pid_max;  /* after which numbers begin again */
};

/* Not known where the procfs is another file system's, which may show what it likes. */
void session_starts_read(const char *procfs_root, struct session_starts *starts);

/* At most so many were started between the two. `least`: it is known that so many were, so that a
 * counter which moved by less does not count them. UINT64_MAX: not known. */
uint64_t session_starts_between(
    const struct session_starts *before, const struct session_starts *after, uint64_t least);

#endif
