/*
 * What the benchmarks share. Each prints its figures as rows of tab-separated fields:
 *
 *   what  unit  ours  against  theirs  ratio  target
 *
 * `against`, `theirs` and `ratio` (theirs / ours for a peer, ours / theirs for a floor) are "-"
 * where there is nothing to compare with. Rows go to standard output, bench/run.sh makes the table.
 * BENCH_FULL=1 asks for long runs; without it everything is to be over in a few minutes.
 */
#pragma once

#include <gputracker/session.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static inline double bench_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A figure of the results so far. */
static inline double bench_session_figure(struct gput_session *session, const char *column)
{
    struct gput_results *results;
    if (gput_session_results(session, &results, NULL) != GPUT_OK)
        exit(1);
    double value = gput_results_number(results, column);
    gput_results_destroy(results);
    return value;
}

static inline double bench_wall(void)
{
    return bench_clock(CLOCK_MONOTONIC);
}

static inline void bench_sleep(double seconds)
{
    struct timespec time = {
        .tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
}

static inline bool bench_is_full(void)
{
    const char *full = getenv("BENCH_FULL");
    return full && strcmp(full, "1") == 0;
}

static inline int bench_compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static inline double bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, bench_compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* A figure that stands alone. */
static inline void bench_figure(const char *what, const char *unit, double ours, const char *target)
{
    printf("%s\t%s\t%.4g\t-\t-\t-\t%s\n", what, unit, ours, target);
    fflush(stdout);
}

/* A figure against a floor: the ratio says how many times the floor we cost. */
static inline void bench_against(const char *what, const char *unit, double ours,
    const char *against, double theirs, const char *target)
{
    printf("%s\t%s\t%.4g\t%s\t%.4g\t%.3g\t%s\n", what, unit, ours, against, theirs, ours / theirs,
        target);
    fflush(stdout);
}

/* Path of a program of the build folder. Static text, changed by the next call. */
static inline const char *bench_program(const char *name)
{
    static char path[4096];
    const char *build = getenv("BENCH_BUILD");
    snprintf(path, sizeof path, "%s/%s", build ? build : "build-bench", name);
    return path;
}

/* A tree of processes that stands until bench_tree_end(). */
struct bench_tree {
    pid_t pid;
    int hold_fd;
    int count;
};

/* `count` processes in all; with `busy` each runs for a moment 40 times a second. */
static inline struct bench_tree bench_tree_start(int count, bool busy)
{
    int hold[2], ready[2];
    char number[16], byte;
    snprintf(number, sizeof number, "%d", count);
    if (pipe(hold) != 0 || pipe(ready) != 0)
        exit(1);
    struct bench_tree tree = {.hold_fd = hold[1], .count = count, .pid = fork()};
    if (tree.pid == 0) {
        dup2(hold[0], STDIN_FILENO);
        dup2(ready[1], STDOUT_FILENO);
        close(hold[0]);
        close(hold[1]);
        close(ready[0]);
        close(ready[1]);
        const char *path = bench_program("bench/bench-tree");
        execl(path, path, number, busy ? "busy" : "idle", (char *)NULL);
        _exit(127);
    }
    close(hold[0]);
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1) {
        fprintf(stderr, "no tree of processes: is %s built?\n", bench_program("bench/bench-tree"));
        exit(1);
    }
    close(ready[0]);
    bench_sleep(0.2);
    return tree;
}

static inline void bench_tree_end(struct bench_tree *tree)
{
    close(tree->hold_fd);
    waitpid(tree->pid, NULL, 0);
}
