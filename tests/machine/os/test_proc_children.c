#include "machine/os/proc_list.h"

#include "machine/os/procfs.h"
#include "testing.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static bool contains(const struct pid_vector *pids, pid_t pid)
{
    for (size_t i = 0; i < pids->count; i++)
        if (pids->pids[i] == pid)
            return true;
    return false;
}

TEST(parses_lists_and_nothing_else)
{
    struct pid_vector children = {0};
    assert_int_equal(proc_children_parse("", &children), GPUT_OK);
    assert_int_equal(children.count, 0);
    assert_int_equal(proc_children_parse("12 345 0 6\n", &children), GPUT_OK);
    assert_int_equal(children.count, 3);
    assert_int_equal(children.pids[1], 345);
    assert_int_equal(children.pids[2], 6);
    assert_int_equal(proc_children_parse("7 x", &children), GPUT_ERROR_FORMAT);
    assert_int_equal(proc_children_parse("99999999999", &children), GPUT_ERROR_FORMAT);
    pid_vector_finish(&children);
}

TEST(reads_the_children_of_every_thread)
{
    struct pid_vector children = {0};
    /* Thread 203 has no file: it ended while the others were read. */
    assert_int_equal(
        proc_children_read(fixture("procfs-threads"), 200, 0, &children, NULL), GPUT_OK);
    assert_int_equal(children.count, 3);
    assert_true(contains(&children, 210));
    assert_true(contains(&children, 211));
    assert_true(contains(&children, 212));
    children.count = 0;
    assert_int_equal(
        proc_children_read(fixture("procfs-threads"), 200, 1, &children, NULL), GPUT_OK);
    assert_int_equal(children.count, 2);
    pid_vector_finish(&children);
}

TEST(reads_lists_longer_than_its_buffer)
{
    struct pid_vector children = {0};
    assert_int_equal(
        proc_children_read(fixture("procfs-threads"), 205, 1, &children, NULL), GPUT_OK);
    assert_int_equal(children.count, 2900);
    for (size_t i = 0; i < children.count; i++)
        assert_int_equal(children.pids[i], 100001 + (int)i);
    pid_vector_finish(&children);
}

TEST(reports_a_kernel_without_such_files)
{
    struct pid_vector children = {0};
    const char *root = fixture("procfs-old");
    assert_int_equal(proc_children_read(root, 100, 1, &children, NULL), GPUT_ERROR_UNSUPPORTED);
    assert_int_equal(proc_children_read(root, 100, 2, &children, NULL), GPUT_ERROR_UNSUPPORTED);
    assert_int_equal(proc_children_read(root, 5, 1, &children, NULL), GPUT_ERROR_GONE);
    assert_int_equal(proc_children_read(root, 5, 0, &children, NULL), GPUT_ERROR_GONE);
    pid_vector_finish(&children);
}

struct worker {
    pid_t child;
    int started[2];
    int finish[2];
};

/* Forks, then lives as long as its child, which would otherwise move to another thread. */
static void *fork_in_thread(void *argument)
{
    struct worker *worker = argument;
    char byte = 0;
    worker->child = fork();
    if (worker->child == 0) {
        pause();
        _exit(0);
    }
    if (write(worker->started[1], &byte, 1) != 1 || read(worker->finish[0], &byte, 1) != 1)
        return NULL;
    return worker;
}

TEST(finds_a_child_that_a_worker_thread_forked)
{
    struct worker worker;
    struct pid_vector leader = {0};
    struct pid_vector all = {0};
    pthread_t thread;
    char byte = 0;
    assert_int_equal(pipe(worker.started), 0);
    assert_int_equal(pipe(worker.finish), 0);
    assert_int_equal(pthread_create(&thread, NULL, fork_in_thread, &worker), 0);
    assert_int_equal(read(worker.started[0], &byte, 1), 1);
    assert_true(worker.child > 0);

    int leader_code = proc_children_read("/proc", getpid(), 1, &leader, NULL);
    int all_code = proc_children_read("/proc", getpid(), 0, &all, NULL);
    bool in_leader = contains(&leader, worker.child);
    bool in_all = contains(&all, worker.child);
    kill(worker.child, SIGKILL);
    waitpid(worker.child, NULL, 0);
    assert_int_equal(write(worker.finish[1], &byte, 1), 1);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++) {
        close(worker.started[i]);
        close(worker.finish[i]);
    }
    pid_vector_finish(&leader);
    pid_vector_finish(&all);

    if (leader_code == GPUT_ERROR_UNSUPPORTED)
        SKIP("the kernel has no CONFIG_PROC_CHILDREN");
    assert_int_equal(leader_code, GPUT_OK);
    assert_int_equal(all_code, GPUT_OK);
    assert_false(in_leader);
    assert_true(in_all);
}

TEST(rereads_a_cached_descriptor)
{
    char name[64];
    int fd;
    struct pid_vector children = {0};
    snprintf(name, sizeof name, "task/%d/children", (int)getpid());
    int code = procfs_open("/proc", getpid(), name, &fd, NULL);
    if (code == GPUT_ERROR_UNSUPPORTED)
        SKIP("the kernel has no CONFIG_PROC_CHILDREN");
    assert_int_equal(code, GPUT_OK);
    assert_int_equal(proc_children_reread(fd, &children), GPUT_OK);
    assert_int_equal(children.count, 0);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(proc_children_reread(fd, &children), GPUT_OK);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(children.count, 1);
    assert_int_equal(children.pids[0], child);
    children.count = 0;
    assert_int_equal(proc_children_reread(fd, &children), GPUT_OK);
    assert_int_equal(children.count, 0);
    close(fd);
    pid_vector_finish(&children);
}

RUN_TESTS(NULL, NULL)
