#include "guard.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#define POLL_NS (NS_PER_S / 5)
enum { WRITE_POLLS = 5, EXIT_DIFFERS = 1 };

static sigset_t ending_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    return signals;
}

static void give_up(struct check *check, const char *why, int status)
{
    programs_kill_all(&check->programs);
    check_table_state(&check->table, "the check went on to its end", false, why);
    check_table_write(&check->table, check->folder, check->machine);
    _exit(status);
}

static bool hangs(const struct check *check)
{
    uint64_t now_ns = monotonic_now_ns(), progressed_ns = check->programs.progressed_ns;
    return now_ns > progressed_ns && (double)(now_ns - progressed_ns) > check->patience_s * 1e9;
}

static void *guard_run(void *argument)
{
    struct guard *guard = argument;
    struct check *check = guard->check;
    sigset_t signals = ending_signals();
    for (unsigned polls = 1; !guard->is_stopping; polls++) {
        struct timespec poll = {0, POLL_NS};
        int number = sigtimedwait(&signals, NULL, &poll);
        if (number > 0)
            give_up(check, "it was interrupted", 128 + number);
        if (hangs(check))
            give_up(check, "a call of the driver's library did not return", EXIT_DIFFERS);
        if (polls % WRITE_POLLS == 0)
            check_table_write(&check->table, check->folder, check->machine);
    }
    return NULL;
}

bool guard_start(struct guard *guard, struct check *check)
{
    sigset_t signals = ending_signals();
    *guard = (struct guard){.check = check};
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return pthread_create(&guard->thread, NULL, guard_run, guard) == 0;
}

void guard_stop(struct guard *guard)
{
    guard->is_stopping = true;
    pthread_join(guard->thread, NULL);
}
