/*
 * A program to track, as `make run` does. It says what it uses, so that the report can be compared
 * with it:
 *
 *     main        150 MB, 2 threads of which each computes for 1 second
 *     2 children  60 MB each, 1 thread that computes for 1 second
 *
 * Usage: busy-program [FACTOR]    all times are multiplied by FACTOR (default 1)
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEGABYTE 1000000
#define CHILDREN 2

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Computes until the calling thread has used that many seconds of CPU time. */
static void compute(double seconds)
{
    double end = now(CLOCK_THREAD_CPUTIME_ID) + seconds;
    volatile double sum = 0;
    while (now(CLOCK_THREAD_CPUTIME_ID) < end) {
        for (int i = 1; i < 10000; i++)
            sum = sum + 1.0 / i;
    }
}

/* Memory counts when it is written to; volatile, so that the compiler cannot remove the writes. */
static char *hold(size_t megabytes)
{
    size_t size = megabytes * MEGABYTE;
    volatile char *memory = malloc(size);
    if (!memory) {
        perror("busy-program");
        exit(1);
    }
    for (size_t i = 0; i < size; i += 1024)
        memory[i] = 1;
    return (char *)memory;
}

static void *work_in_thread(void *seconds)
{
    compute(*(double *)seconds);
    return NULL;
}

static void start_child(double seconds)
{
    pid_t pid = fork();
    if (pid < 0) {
        perror("busy-program");
        exit(1);
    }
    if (pid > 0)
        return;
    char *memory = hold(60);
    compute(seconds);
    free(memory);
    _exit(0);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1.0;
    printf(
        "busy-program: 150 MB and 2 threads here, 60 MB in each of %d children, %g s of CPU time "
        "in each thread\n",
        CHILDREN, seconds);
    fflush(stdout);

    for (int i = 0; i < CHILDREN; i++)
        start_child(seconds);
    char *memory = hold(150);
    pthread_t thread;
    if (pthread_create(&thread, NULL, work_in_thread, &seconds) != 0)
        return 1;
    compute(seconds);
    pthread_join(thread, NULL);
    while (wait(NULL) > 0)
        ;
    free(memory);
    return 0;
}
