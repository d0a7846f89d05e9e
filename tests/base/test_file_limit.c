#include "base/file.h"

#include "testing.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes past the limit of file sizes. */
static int write_too_far(int fd)
{
    char bytes[100] = {0};
    struct file_limit limit;
    file_limit_block_signal(&limit);
    errno = 0;
    ssize_t done = pwrite(fd, bytes, sizeof bytes, 4096);
    file_limit_unblock_signal(&limit);
    return done < 0 ? errno : 0;
}

static void run_in_child(void run(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {4096, 4096};
        setrlimit(RLIMIT_FSIZE, &limit);
        run();
        _exit(0);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void write_and_live(void)
{
    sigset_t mask, pending;
    signal(SIGXFSZ, SIG_DFL);
    int fd = memfd_create("x", MFD_CLOEXEC);
    if (write_too_far(fd) != EFBIG || write_too_far(fd) != EFBIG)
        _exit(1);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    if (sigismember(&mask, SIGXFSZ) || sigpending(&pending) || sigismember(&pending, SIGXFSZ))
        _exit(2);
}

TEST(writing_past_the_limit_is_an_error_without_a_signal)
{
    run_in_child(write_and_live);
}

/* A pending signal of the program itself stays pending. */
static void write_while_one_is_pending(void)
{
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGXFSZ);
    if (write_too_far(memfd_create("x", MFD_CLOEXEC)) != EFBIG)
        _exit(1);
    if (sigpending(&pending) || !sigismember(&pending, SIGXFSZ))
        _exit(2);
}

TEST(a_pending_signal_stays_pending)
{
    run_in_child(write_while_one_is_pending);
}

RUN_TESTS(NULL, NULL)
