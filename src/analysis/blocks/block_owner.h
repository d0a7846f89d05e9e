/*
 * The process that a log of marks writes for: a page that the kernel wipes in a child
 * (MADV_WIPEONFORK). So a fork is detected by one load, without a system call, and without a lock:
 * that might be held by a thread that the child does not have. Without support of the kernel
 * getpid() is called each time.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

struct block_owner {
    _Atomic pid_t *process; /* in a page of its own; NULL: there is none */
    bool wipes;
};

/* Maps the page; it belongs to no process yet. False without memory. */
bool block_owner_open(struct block_owner *owner);
void block_owner_close(struct block_owner *owner);

/* Whether it is the calling process. */
static inline bool block_owner_is_this(const struct block_owner *owner)
{
    pid_t process = atomic_load_explicit(owner->process, memory_order_acquire);
    return process > 0 && (owner->wipes || process == getpid());
}

/*
 * True for the one thread of the process that is to start its part and then calls
 * block_owner_set(); other threads wait until it did. False when the process is the owner.
 */
bool block_owner_claim(struct block_owner *owner);

/* Makes it the calling process. */
void block_owner_set(struct block_owner *owner);
