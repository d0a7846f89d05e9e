/*
 * A tree of processes for others to measure: tree COUNT idle|busy [MS]. Busy ones wake every MS
 * milliseconds (25). Writes "." to standard output when all of them stand, and ends with them when
 * standard input ends.
 */
#include "bench.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>

static void live(bool busy, int ms)
{
    volatile unsigned sink = 0;
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
    for (int i = 1; i < count; i++) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            live(busy, ms);
        }
    }
    if (write(STDOUT_FILENO, ".", 1) != 1)
        return 1;
    struct pollfd end = {.fd = STDIN_FILENO, .events = POLLIN};
    while (poll(&end, 1, busy ? ms : -1) == 0)
        ;
    return 0;
}
