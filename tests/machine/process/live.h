/*
 * Real processes for tests: the consumer, paused where a test wants it.
 *
 *     struct actors actors;
 *     actors_start(&actors, "alloc 100 child [ ready await 3 ] ready await 4 wait");
 *     actors_await(&actors, 2);          two `ready`s came: both have reached their `await`
 *     …
 *     actors_release(&actors, 3, 1);     one `await 3` goes on
 *     actors_end(&actors);               all go on, and main is waited for
 *
 * When the test dies, the pipes close and every actor ends.
 */
#pragma once

#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What is waited for comes soon; after a minute the test fails. */
#define LIVE_TIMEOUT_SECONDS 60

#define ACTORS_FIRST_FD 3
#define ACTORS_FDS 3

struct actors {
    pid_t pid;
    int ready_fd;
    int say_fds[ACTORS_FDS];
};

static inline const char *consumer_path(void)
{
    const char *path = getenv("GPUT_CONSUMER");
    return path ? path : "build/tests/consumers/consumer";
}

/* Splits "alloc 1 wait" into an argument vector, whose words stay in `text`. */
static inline void consumer_words(char *text, char **argv, size_t capacity)
{
    size_t count = 0;
    argv[count++] = (char *)consumer_path();
    for (char *word = strtok(text, " "); word && count < capacity - 1; word = strtok(NULL, " "))
        argv[count++] = word;
    argv[count] = NULL;
}

static inline void actors_start(struct actors *actors, const char *words)
{
    int ready_came[2], say[ACTORS_FDS][2];
    char text[1024];
    char *argv[128];

    snprintf(text, sizeof text, "%s", words);
    consumer_words(text, argv, 128);
    assert_int_equal(pipe2(ready_came, O_CLOEXEC), 0);
    for (int i = 0; i < ACTORS_FDS; i++) {
        assert_int_equal(pipe2(say[i], O_CLOEXEC), 0);
        /* Above the descriptor numbers that the consumer is to see. */
        int high = fcntl(say[i][0], F_DUPFD_CLOEXEC, 40);
        close(say[i][0]);
        say[i][0] = high;
    }
    actors->pid = fork();
    assert_true(actors->pid >= 0);
    if (actors->pid == 0) {
        dup2(ready_came[1], STDOUT_FILENO);
        for (int i = 0; i < ACTORS_FDS; i++)
            dup2(say[i][0], ACTORS_FIRST_FD + i);
        execv(argv[0], argv);
        _exit(127);
    }
    close(ready_came[1]);
    actors->ready_fd = ready_came[0];
    for (int i = 0; i < ACTORS_FDS; i++) {
        close(say[i][0]);
        actors->say_fds[i] = say[i][1];
    }
}

/* Waits until `count` more of them have come to a `ready`. */
static inline void actors_await(struct actors *actors, int count)
{
    for (int i = 0; i < count; i++) {
        char byte;
        struct pollfd ready_came = {.fd = actors->ready_fd, .events = POLLIN};
        assert_int_equal(poll(&ready_came, 1, LIVE_TIMEOUT_SECONDS * 1000), 1);
        assert_int_equal(read(actors->ready_fd, &byte, 1), 1);
    }
}

static inline void actors_release(struct actors *actors, int fd, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(write(actors->say_fds[fd - ACTORS_FIRST_FD], ".", 1), 1);
}

/* Lets all run to their ends without waiting for them. */
static inline void actors_let_go(struct actors *actors)
{
    for (int i = 0; i < ACTORS_FDS; i++) {
        if (actors->say_fds[i] >= 0)
            close(actors->say_fds[i]);
        actors->say_fds[i] = -1;
    }
}

/* Lets all run to their ends and collects main. */
static inline void actors_end(struct actors *actors)
{
    actors_let_go(actors);
    if (actors->pid > 0)
        waitpid(actors->pid, NULL, 0);
    close(actors->ready_fd);
}

/* Collects the orphans that this process adopted as a subreaper; those of a failed test may never
 * end. */
static inline void collect_orphans(void)
{
    for (int patience = 500; patience > 0 && waitpid(-1, NULL, WNOHANG) >= 0; patience--) {
        struct timespec pause = {.tv_nsec = 2000000};
        nanosleep(&pause, NULL);
    }
}

/* A short pause while waiting for something that is about to happen. */
static inline void breathe(void)
{
    struct timespec pause = {.tv_nsec = 2000000};
    nanosleep(&pause, NULL);
}

static inline bool may_still_come(time_t give_up, const char *what)
{
    if (time(NULL) >= give_up)
        fail_msg("never: %s", what);
    breathe();
    return true;
}

/* EVENTUALLY(condition) { what to do after each failed check } */
#define EVENTUALLY(condition)                                                                      \
    for (time_t give_up_ = time(NULL) + LIVE_TIMEOUT_SECONDS;                                      \
         !(condition) && may_still_come(give_up_, #condition);)

static inline bool under_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload && strstr(preload, "valgrind");
}
