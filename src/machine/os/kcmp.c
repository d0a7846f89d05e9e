#include "machine/os/kcmp.h"

#include <linux/kcmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel takes a lock of both processes, which one that is in an execve() holds. */
struct comparison {
    struct bounded_call call;
    pid_t pid, others[KCMP_MAX_OTHERS];
    size_t count, found;
};

/* Finds the first of the other processes that shares the memory of this one. */
static void run_comparison(struct bounded_call *call)
{
    struct comparison *comparison = (struct comparison *)call;
    size_t *found = &comparison->found;
    while (*found < comparison->count &&
           syscall(SYS_kcmp, comparison->pid, comparison->others[*found], KCMP_VM, 0, 0) != 0)
        ++*found;
}

static void destroy_comparison(struct bounded_call *call)
{
    free(call);
}

size_t kcmp_find_same_memory(
    struct bounded_calls *calls, pid_t pid, const pid_t *others, size_t count)
{
    struct comparison *comparison = count ? calloc(1, sizeof *comparison) : NULL;
    if (!comparison)
        return count;
    *comparison =
        (struct comparison){.call = {.run = run_comparison, .destroy = destroy_comparison},
            .pid = pid,
            .count = count < KCMP_MAX_OTHERS ? count : KCMP_MAX_OTHERS};
    memcpy(comparison->others, others, comparison->count * sizeof *others);
    if (!bounded_calls_make(calls, -(long)pid, &comparison->call))
        return count;
    size_t found = comparison->found < comparison->count ? comparison->found : count;
    free(comparison);
    return found;
}
