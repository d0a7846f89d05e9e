/*
 * Preloaded, lets one allocation of a program fail: that of the number in FAILING_MALLOC, counted
 * from 1. Where the program made fewer, it says so at its end, and how many. What the program
 * starts has all of its allocations.
 */
/* Everything else is built to be hidden. */
#pragma GCC visibility push(default)

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static atomic_long left = -1; /* allocations until the one that fails; 0: it has failed */
static long asked;
static pid_t process;

static __attribute__((constructor)) void read_number(void)
{
    const char *number = getenv("FAILING_MALLOC");
    if (!number)
        return;
    asked = atol(number);
    process = getpid();
    atomic_store(&left, asked);
    unsetenv("LD_PRELOAD");
    unsetenv("FAILING_MALLOC");
}

static __attribute__((destructor)) void say_whether(void)
{
    char line[64];
    long rest = atomic_load(&left);
    if (rest <= 0 || getpid() != process)
        return;
    int length = snprintf(line, sizeof line, "no allocation failed of %ld\n", asked - rest);
    (void)!write(STDERR_FILENO, line, (size_t)length);
}

static int fails(void)
{
    if (atomic_load(&left) <= 0 || atomic_fetch_sub(&left, 1) != 1)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails() ? NULL : __libc_realloc(block, size);
}
