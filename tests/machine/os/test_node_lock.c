#include "machine/os/node_lock.h"

#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static const char *folders[] = {"/nowhere/at/all", folder, NULL};

static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/gput-lock-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    return rmdir(folder); /* fails where a file was left */
}

/* A process that holds the lock until it is killed. */
static pid_t start_holder(const char *self)
{
    int pipe_fds[2];
    char byte;
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct node_lock lock;
        node_lock_init(&lock, folders, "job");
        bool is_held = node_lock_try(&lock, self);
        if (write(pipe_fds[1], is_held ? "y" : "n", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(pipe_fds[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    return pid;
}

static void end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST_WITH(is_held_by_one, enter, leave)
{
    pid_t holder = start_holder("rank 0");
    struct node_lock lock, of_another_job;
    node_lock_init(&lock, folders, "job");
    assert_false(node_lock_try(&lock, "rank 1"));
    assert_string_equal(lock.holder, "rank 0");
    node_lock_init(&of_another_job, folders, "other");
    assert_true(node_lock_try(&of_another_job, "rank 0"));
    node_lock_release(&of_another_job);
    end(holder);
    assert_true(node_lock_try(&lock, "rank 1"));
    node_lock_release(&lock);
}

TEST_WITH(dies_with_its_holder_and_not_with_a_fork_of_it, enter, leave)
{
    struct node_lock lock, other;
    node_lock_init(&lock, folders, "job");
    assert_true(node_lock_try(&lock, "rank 0"));
    pid_t holder = fork();
    if (holder == 0) { /* has the descriptor, but not the lock */
        pause();
        _exit(0);
    }
    node_lock_release(&lock);
    node_lock_init(&other, folders, "job");
    assert_true(node_lock_try(&other, "rank 1"));
    node_lock_release(&other);
    end(holder);
}

TEST_WITH(passes_on_when_the_holder_has_removed_its_file, enter, leave)
{
    pid_t holder = start_holder("rank 0");
    struct node_lock lock;
    node_lock_init(&lock, folders, "job");
    assert_false(node_lock_try(&lock, "rank 1"));
    unlink(lock.path);
    end(holder);
    assert_true(node_lock_try(&lock, "rank 1"));
    assert_int_equal(access(lock.path, F_OK), 0);
    assert_true(node_lock_try(&lock, "rank 1")); /* it still is ours */
    node_lock_release(&lock);
}

/* Somebody who can write to the folder must not part those who share a lock. */
TEST_WITH(a_name_that_is_taken_is_left_alone_and_the_next_one_is_used, enter, leave)
{
    struct node_lock lock;
    char taken[512], also_taken[600];
    node_lock_init(&lock, folders, "job");
    snprintf(taken, sizeof taken, "%s", lock.name);
    snprintf(also_taken, sizeof also_taken, "%s-1", lock.name);
    assert_int_equal(symlink("/etc/passwd", taken), 0);
    assert_int_equal(mkfifo(also_taken, 0600), 0);
    pid_t holder = start_holder("rank 0");
    assert_false(node_lock_try(&lock, "rank 1"));
    assert_string_equal(lock.holder, "rank 0");
    end(holder);
    assert_true(node_lock_try(&lock, "rank 1"));
    assert_true(lock.is_held);
    node_lock_release(&lock);
    assert_int_equal(unlink(taken), 0);
    assert_int_equal(unlink(also_taken), 0);
}

TEST_WITH(another_users_file_separates_no_ranks, enter, leave)
{
    struct node_lock lock;
    node_lock_init(&lock, folders, "job");
    int fd = open(lock.name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    if (fchown(fd, 65534, 65534) != 0) {
        close(fd);
        unlink(lock.name);
        SKIP("only root can give a file away");
    }
    close(fd);
    pid_t holder = start_holder("rank 0");
    assert_false(node_lock_try(&lock, "rank 1"));
    end(holder);
    assert_true(node_lock_try(&lock, "rank 1"));
    node_lock_release(&lock);
    assert_int_equal(unlink(lock.name), 0);
}

TEST(without_a_folder_each_has_it_for_itself)
{
    const char *const nowhere[] = {"/nowhere/at/all", NULL};
    struct node_lock lock;
    node_lock_init(&lock, nowhere, "job");
    assert_true(node_lock_try(&lock, "rank 0"));
    node_lock_release(&lock);
}

RUN_TESTS(NULL, NULL)
