#include "machine/process/launch.h"
#include "machine/process/live.h"

#include <dirent.h>
#include <signal.h>

static const struct launch_options options;

/* launch_begin() takes a vector like execv(), which is not const but is not changed. */
static int start(const char *const argv[], pid_t *pid, struct gput_error *error)
{
    struct launch launch = {0};
    int code = launch_begin((char *const *)argv, environ, NULL, &options, &launch, error);
    if (code == GPUT_OK)
        code = launch_exec(&launch, error);
    *pid = launch.pid;
    return code;
}

/* Runs a shell line and gives its exit status. */
static int run_shell(const char *line)
{
    const char *const argv[] = {"sh", "-c", line, NULL};
    pid_t pid;
    int status;
    struct gput_error error;
    assert_int_equal(start(argv, &pid, &error), GPUT_OK);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(runs_what_path_has)
{
    assert_int_equal(run_shell("exit 7"), 7);
}

TEST(returns_when_the_program_has_begun)
{
    const char *const argv[] = {"sleep", "100", NULL};
    char path[64], name[32] = "";
    pid_t pid;
    assert_int_equal(start(argv, &pid, NULL), GPUT_OK);
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(name, sizeof name, file));
    fclose(file);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_string_equal(name, "sleep\n");
}

TEST(a_short_command_waits_for_what_the_caller_opens)
{
    const char *const argv[] = {"true", NULL};
    struct launch launch;
    assert_int_equal(
        launch_begin((char *const *)argv, environ, NULL, &options, &launch, NULL), GPUT_OK);
    usleep(20000);
    assert_int_equal(waitpid(launch.pid, NULL, WNOHANG), 0);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/io", (int)launch.pid);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(launch_exec(&launch, NULL), GPUT_OK);
    assert_int_equal(waitpid(launch.pid, NULL, 0), launch.pid);
}

TEST(a_missing_command_is_named)
{
    struct gput_error error;
    pid_t pid;
    const char *const argv[] = {"no-such-command-anywhere", NULL};
    assert_int_equal(start(argv, &pid, &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "Command not found: \"no-such-command-anywhere\"");
    const char *const path[] = {"/no/such/folder/command", NULL};
    assert_int_equal(start(path, &pid, &error), GPUT_ERROR_NOT_FOUND);
    /* No child is left to wait for. */
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

TEST(a_file_that_is_no_program_is_refused)
{
    struct gput_error error;
    pid_t pid;
    char path[] = "/tmp/gput-launch-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    const char *const file[] = {path, NULL};
    assert_int_equal(start(file, &pid, &error), GPUT_ERROR_PERMISSION);
    assert_non_null(strstr(error.message, path));
    unlink(path);
    const char *const folder[] = {"/tmp", NULL};
    assert_int_equal(start(folder, &pid, &error), GPUT_ERROR_PERMISSION);
    assert_non_null(strstr(error.message, "\"/tmp\""));
}

TEST(arguments_go_through_untouched)
{
    const char *const argv[] = {"sh", "-c", "[ \"$1\" = 'a  b' ] && [ \"$2\" = '' ] && [ $# = 3 ]",
        "sh", "a  b", "", "*", NULL};
    pid_t pid;
    int status;
    assert_int_equal(start(argv, &pid, NULL), GPUT_OK);
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

TEST(folder_environment_and_descriptors_are_the_callers)
{
    char line[256];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    setenv("GPUT_LAUNCH_TEST", "here", 1);
    snprintf(
        line, sizeof line, "[ \"$GPUT_LAUNCH_TEST\" = here ] && [ -e /proc/self/fd/%d ]", ends[0]);
    int code = run_shell(line);
    unsetenv("GPUT_LAUNCH_TEST");
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(code, 0);

    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir("/"), 0);
    code = run_shell("[ \"$(pwd)\" = / ]");
    assert_int_equal(chdir(before), 0);
    assert_int_equal(code, 0);
}

/* How many descriptors a process has open; of the calling process, those that are not
 * close-on-exec. */
static int count_descriptors(pid_t pid)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        bool is_kept = pid != getpid() || !(fcntl(atoi(entry->d_name), F_GETFD) & FD_CLOEXEC);
        count += entry->d_name[0] != '.' && is_kept;
    }
    closedir(folder);
    return count;
}

TEST(no_descriptor_leaks_into_the_command)
{
    const char *const argv[] = {"sleep", "100", NULL};
    pid_t pid;
    int ours = count_descriptors(getpid());
    assert_int_equal(start(argv, &pid, NULL), GPUT_OK);
    /* Its dynamic linker briefly opens libraries. */
    int its = count_descriptors(pid);
    EVENTUALLY(its == ours)
    {
        its = count_descriptors(pid);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(its, ours);
    assert_int_equal(count_descriptors(getpid()), ours);
}

/* No standard streams at all, as a daemon may start us. The error of a failed execve must still
 * arrive. */
TEST(works_with_closed_standard_streams)
{
    pid_t child = fork();
    if (child == 0) {
        close(0);
        close(1);
        close(2);
        const char *const missing[] = {"no-such-command-anywhere", NULL};
        const char *const argv[] = {
            "sh", "-c", "[ ! -e /proc/$$/fd/0 ] && [ ! -e /proc/$$/fd/1 ]", NULL};
        pid_t pid;
        int status = 1;
        if (start(missing, &pid, NULL) != GPUT_ERROR_NOT_FOUND)
            _exit(1);
        if (start(argv, &pid, NULL) != GPUT_OK || waitpid(pid, &status, 0) != pid)
            _exit(2);
        _exit(status == 0 ? 0 : 3);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

TEST(signals_that_are_ignored_or_blocked_stay_so)
{
    sigset_t mask, before;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigprocmask(SIG_BLOCK, &mask, &before);
    signal(SIGUSR1, SIG_IGN);
    /* Bits 9 and 11 of the masks in status. */
    int code = run_shell("b=$(sed -n 's/^SigBlk:\\t//p' /proc/self/status); "
                         "i=$(sed -n 's/^SigIgn:\\t//p' /proc/self/status); "
                         "[ $((0x$b & 0x800)) -ne 0 ] && [ $((0x$i & 0x200)) -ne 0 ]");
    signal(SIGUSR1, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(code, 0);
}

RUN_TESTS(NULL, NULL)
