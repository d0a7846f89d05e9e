#include "analysis/blocks/block_owner.h"

#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>

/* A thread of the process is starting its part. (0: the kernel wiped the page.) */
#define CHANGING (-1)

bool block_owner_open(struct block_owner *owner)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    owner->process = page;
    owner->wipes = madvise(page, bytes, MADV_WIPEONFORK) == 0;
    return true;
}

void block_owner_close(struct block_owner *owner)
{
    if (owner->process)
        munmap((void *)owner->process, (size_t)sysconf(_SC_PAGESIZE));
    owner->process = NULL;
}

bool block_owner_claim(struct block_owner *owner)
{
    while (!block_owner_is_this(owner)) {
        pid_t seen = atomic_load(owner->process);
        if (seen == CHANGING)
            sched_yield();
        else if (atomic_compare_exchange_strong(owner->process, &seen, CHANGING))
            return true;
    }
    return false;
}

void block_owner_set(struct block_owner *owner)
{
    atomic_store_explicit(owner->process, getpid(), memory_order_release);
}
