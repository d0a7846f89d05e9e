/*
 * Starts children as fast as the machine goes, for a time, and says what it did:
 *
 *   forker SECONDS FILE
 *
 * One process on each CPU that it may use; each starts a child that shares its memory (CLONE_VM |
 * CLONE_VFORK, as vfork() does), ends at once and is waited for, over and over. FILE gets the
 * number of children and the CPU seconds that the kernel counted for all of it, except for the few
 * microseconds after that: "children seconds".
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES 16384

static int end_at_once(void *nothing)
{
    (void)nothing;
    _exit(0);
}

static double now_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static uint64_t fork_until(double end)
{
    static char stack[STACK_BYTES] __attribute__((aligned(16)));
    uint64_t children = 0;
    while (now_seconds() < end) {
        pid_t child =
            clone(end_at_once, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
        if (child > 0 && waitpid(child, NULL, 0) == child)
            children++;
    }
    return children;
}

static double seconds_of(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int main(int argc, char **argv)
{
    cpu_set_t cpus;
    if (argc != 3 || sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return 2;
    int forkers = CPU_COUNT(&cpus);
    double end = now_seconds() + atof(argv[1]);
    uint64_t *children = mmap(NULL, (size_t)forkers * sizeof *children, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (children == MAP_FAILED)
        return 1;
    for (int i = 0; i < forkers; i++) {
        if (fork() == 0) {
            children[i] = fork_until(end);
            _exit(0);
        }
    }
    uint64_t all = 0;
    while (wait(NULL) > 0)
        all++;
    for (int i = 0; i < forkers; i++)
        all += children[i];
    FILE *file = fopen(argv[2], "w");
    if (!file)
        return 1;
    fprintf(file, "%llu %.6f\n", (unsigned long long)all,
        seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN));
    return fclose(file) != 0;
}
