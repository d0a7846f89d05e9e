/*
 * A tree of processes for others to measure: tree COUNT idle|busy [MS]. Busy ones wake every MS
 * milliseconds (25), but not before all of them stand: some thousand that do leave the first one
 * too little of a small machine to start the others. Writes "." to standard output then, and ends
 * with them when standard input ends.
 */
#include "bench.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

/* `begun_fd` ends when all stand. */
static void live(bool busy, int ms, int begun_fd)
{
    volatile unsigned sink = 0;
    char byte;
    ssize_t got = read(begun_fd, &byte, 1);
    (void)got;
    for (;;) {
        if (!busy) {
            pause();
            continue;
        }
        bench_sleep(ms * 1e-3);
        for (unsigned i = 0; i < 1000; i++)
            sink += i;
    }
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1;
    bool busy = argc > 2 && strcmp(argv[2], "busy") == 0;
    int ms = argc > 3 ? atoi(argv[3]) : 25;
    int begun[2];
    if (pipe(begun) != 0)
        return 1;
    for (int i = 1; i < count; i++) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            close(begun[1]);
            live(busy, ms, begun[0]);
        }
    }
    close(begun[1]);
    if (write(STDOUT_FILENO, ".", 1) != 1)
        return 1;
    struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
    while (poll(&end, 1, busy ? ms : -1) == 0)
        ;
    return 0;
}
