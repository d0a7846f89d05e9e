/*
 * Preloaded, lets one allocation of a program fail: that of the number in FAILING_MALLOC, counted
 * from 1. Where the program made fewer, it says so at its end, and how many. What the program
 * starts has all of its allocations.
 *
 * FAILING_MALLOC=each:IN:OUT runs the program once for each number that is read from the descriptor
 * IN, in a fork of what has been loaded, and writes the wait status to OUT: most of a short program
 * is its loading.
 */
/* Everything else is built to be hidden. */
#pragma GCC visibility push(default)

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);

static atomic_long left = -1; /* allocations until the one that fails; 0: it has failed */
static long asked;
static pid_t process;

/* Returns in each fork, with its number; ends the process when there are no more. */
static long number_of_fork(int in, int out)
{
    for (;;) {
        long number = 0;
        int status = 0;
        if (read(in, &number, sizeof number) != sizeof number)
            _exit(EXIT_SUCCESS);
        pid_t child = fork();
        if (child == 0) {
            close(in);
            close(out);
            return number;
        }
        if (child < 0 || waitpid(child, &status, 0) != child ||
            write(out, &status, sizeof status) != sizeof status)
            _exit(EXIT_FAILURE);
    }
}

static __attribute__((constructor)) void read_number(void)
{
    int in, out;
    const char *number = getenv("FAILING_MALLOC");
    if (!number)
        return;
    if (sscanf(number, "each:%d:%d", &in, &out) == 2)
        asked = number_of_fork(in, out);
    else
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
