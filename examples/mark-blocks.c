/*
 * Marks code blocks from several threads of several processes. Each process writes a file of its
 * own, and keeps every mark it made even when it is killed in the middle.
 *
 *     mark-blocks [SECONDS]        default 2
 *
 *     GPUT_BLOCKS_FILE=marks/%p.gputblocks gpu-tracker run --tf=tracking.csv -- mark-blocks
 *     gpu-tracker sub-track combine --mix --stf=marks.csv -p marks
 *     gpu-tracker sub-track analyze --tf=tracking.csv --stf=marks.csv
 */
#include <gputracker/gputracker.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 4, THREADS = 8 };

static double end_time;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double burn(int rounds)
{
    volatile double sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += (double)i / 3;
    return sum;
}

static double step(void)
{
    GPUT_BLOCK_SCOPE("step"); /* ends where the function does */
    double sum = 0;

    GPUT_BLOCK("step: forward")
    {
        sum += burn(20000);
    }
    GPUT_BLOCK_HERE() /* named by file and line */
    {
        sum += burn(10000);
    }
    return sum;
}

static void *work(void *unused)
{
    (void)unused;
    do
        step();
    while (now() < end_time);
    return NULL;
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    gput_default_blocks_start("process"); /* the same without a scope */
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    gput_default_blocks_stop();
}

int main(int argc, char **argv)
{
    end_time = now() + (argc > 1 ? atof(argv[1]) : 2);
    gput_default_blocks_start("all");
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            run_threads();
            _exit(EXIT_SUCCESS);
        }
    }
    while (wait(NULL) > 0)
        ;
    gput_default_blocks_stop();

    struct gput_blocks_status status = gput_blocks_status_default();
    gput_default_blocks_read_status(&status);
    if (status.lost.code != GPUT_OK)
        fprintf(stderr, "Marks were lost: %s\n", status.lost.message);
    if (status.is_renamed)
        fprintf(stderr, "The file of marks is there already: they are in %s\n", status.path);
    return status.lost.code == GPUT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
