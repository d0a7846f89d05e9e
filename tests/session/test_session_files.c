#include "session/session_state.h"

#include "machine/os/process_events.h"
#include "session/sessions.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sets the soft limit alone: the hard one could not be raised again by everybody. */
static rlim_t set_soft_limit(rlim_t number)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = number;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return before;
}

static rlim_t soft_limit(void)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    return limit.rlim_cur;
}

TEST(a_limit_is_raised_only_where_that_is_asked_for)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < 1000)
        SKIP("the hard limit of open files is below 1,000");
    rlim_t before = set_soft_limit(200);
    unsigned kept = session_files_kept(false);
    assert_in_range(kept, 1, 99);
    assert_int_equal(soft_limit(), 200);
    unsigned more = session_files_kept(true);
    assert_true(more > 99 && more < soft_limit());
    assert_true(soft_limit() > 200);
    set_soft_limit(before);
}

TEST(of_few_descriptors_half_is_left)
{
    int first = open("/", O_PATH | O_CLOEXEC); /* those below are open */
    close(first);
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    struct rlimit few = {.rlim_cur = (rlim_t)first + 20, .rlim_max = (rlim_t)first + 20};
    pid_t child = fork();
    if (child == 0) {
        if (setrlimit(RLIMIT_NOFILE, &few) != 0)
            _exit(77); /* valgrind keeps its own hard limit */
        unsigned kept = session_files_kept(true);
        _exit(kept >= 1 && kept <= 10 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        SKIP("a limit of open files cannot be set here");
    assert_int_equal(WEXITSTATUS(status), 0);
}

static size_t n_threads(void)
{
    size_t count = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *task; (task = readdir(tasks));)
        count += task->d_name[0] != '.';
    closedir(tasks);
    return count;
}

static bool are_processes_announced(void)
{
    struct process_events events;
    bool is_open = process_events_open(&events, NULL) == GPUT_OK;
    if (is_open)
        process_events_close(&events);
    return is_open;
}

/* Not under valgrind, which keeps limits to itself. */
static bool refuses_to_wait(void)
{
    struct pollfd none[2] = {{.fd = -1}, {.fd = -1}};
    rlim_t limit = set_soft_limit(0);
    int count = poll(none, 2, 0);
    set_soft_limit(limit);
    return count < 0;
}

/* Of this program, of ticks, of what writes samples, of readings that may wait, and of events. */
#define N_THREADS 5

/* As sandboxes do. poll() then refuses to wait. */
IN_FOLDER(a_limit_of_none_ends_the_thread_that_waits_for_events)
{
    if (!are_processes_announced())
        SKIP("the kernel announces no processes here");
    if (!refuses_to_wait())
        SKIP("poll() waits also without a descriptor to be had");
    struct gput_session *session = create_every(1);
    assert_int_equal(gput_session_track_self(session, NULL), GPUT_OK);
    while (n_threads() < N_THREADS) /* until its first tick */
        usleep(10000);
    for (int i = 0; i < 5 && n_threads() == N_THREADS; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        assert_int_equal(waitpid(child, NULL, 0), child);
        usleep(100000); /* it has read that by then, and waits for what may follow */
        rlim_t limit = set_soft_limit(0);
        usleep(600000);
        set_soft_limit(limit);
    }
    assert_int_equal(n_threads(), N_THREADS - 1);
    assert_int_equal(gput_session_stop(session, NULL), GPUT_OK);
    gput_session_destroy(session);
}

RUN_TESTS(NULL, NULL)
