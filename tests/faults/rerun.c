/*
 * Preloaded, lets a program run many times without being started anew: for each byte that is read
 * from RERUN_REQUESTS, a fork goes on to main(), and how it ended (the status of waitpid()) is
 * written to RERUN_ANSWERS. Both are numbers of descriptors.
 */
/* Everything else is built to be hidden. */
#pragma GCC visibility push(default)

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* None takes longer, unless it hangs. */
#define SECONDS 60

static int descriptor(const char *name)
{
    const char *number = getenv(name);
    int fd = number ? atoi(number) : -1;
    unsetenv(name);
    return fd;
}

static __attribute__((constructor)) void serve(void)
{
    int requests = descriptor("RERUN_REQUESTS"), answers = descriptor("RERUN_ANSWERS");
    char request;
    if (requests < 0 || answers < 0)
        return;
    unsetenv("LD_PRELOAD");
    while (read(requests, &request, 1) == 1) {
        int status = -1;
        pid_t child = fork();
        if (child == 0) {
            close(requests);
            close(answers);
            alarm(SECONDS);
            return;
        }
        if (child < 0 || waitpid(child, &status, 0) < 0 ||
            write(answers, &status, sizeof status) != sizeof status)
            _exit(1);
    }
    _exit(0);
}
