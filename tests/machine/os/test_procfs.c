#include "machine/os/procfs.h"

#include "testing.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(builds_paths_of_processes_and_of_the_system)
{
    char path[PROCFS_PATH_SIZE];
    assert_int_equal(procfs_path("/proc", 1234567, "stat", path), 18);
    assert_string_equal(path, "/proc/1234567/stat");
    procfs_path("/proc", PROCFS_SYSTEM, "loadavg", path);
    assert_string_equal(path, "/proc/loadavg");
    procfs_path("/proc", 1, "", path);
    assert_string_equal(path, "/proc/1");
    procfs_path("/proc", 2147483647, "task", path);
    assert_string_equal(path, "/proc/2147483647/task");
}

TEST(knows_a_namespace_below_the_first)
{
    char space[64];
    ssize_t length = readlink("/proc/self/ns/pid", space, sizeof space - 1);
    assert_true(length > 0);
    space[length] = '\0';
    assert_int_equal(procfs_is_inner("/proc"), strcmp(space, "pid:[4026531836]") != 0);
    assert_false(procfs_is_inner("/nonexistent"));
}

TEST(refuses_a_path_that_does_not_fit)
{
    char path[PROCFS_PATH_SIZE];
    char root[PROCFS_PATH_SIZE];
    int fd;
    memset(root, 'x', sizeof root - 1);
    root[sizeof root - 1] = '\0';
    assert_int_equal(procfs_path(root, 1, "stat", path), 0);
    assert_string_equal(path, "");
    struct gput_error error;
    assert_int_equal(procfs_open(root, 1, "stat", &fd, &error), GPUT_ERROR_INVALID);
}

TEST(distinguishes_a_gone_process_a_missing_file_and_a_missing_root)
{
    char text[64];
    struct gput_error error;
    const char *root = fixture("procfs-old");
    assert_int_equal(
        procfs_read(root, 999, "stat", text, sizeof text, NULL, &error), GPUT_ERROR_GONE);
    assert_string_equal(error.message, "Process 999 has ended.");
    assert_int_equal(procfs_read(root, 100, "smaps_rollup", text, sizeof text, NULL, &error),
        GPUT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "procfs-old/100/smaps_rollup"));
    assert_int_equal(procfs_read(root, PROCFS_SYSTEM, "pressure", text, sizeof text, NULL, &error),
        GPUT_ERROR_UNSUPPORTED);
    assert_int_equal(
        procfs_read("/no/such/root", PROCFS_SYSTEM, "stat", text, sizeof text, NULL, &error),
        GPUT_ERROR_NOT_FOUND);
}

/* The code that an unprivileged child gets for the memory of its privileged parent, or, when we
 * are not root ourselves, that we get for process 1. */
static int code_of_refused_read(void)
{
    char text[64];
    if (geteuid() != 0)
        return procfs_read("/proc", 1, "smaps_rollup", text, sizeof text, NULL, NULL);
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(99);
        _exit(procfs_read("/proc", parent, "smaps_rollup", text, sizeof text, NULL, NULL));
    }
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

TEST(distinguishes_a_refusal_from_a_gone_process)
{
    assert_int_equal(code_of_refused_read(), GPUT_ERROR_PERMISSION);
}

TEST(truncates_long_text_and_terminates_it)
{
    char text[5];
    size_t length;
    assert_int_equal(
        procfs_read(fixture("procfs-old"), 100, "stat", text, sizeof text, &length, NULL), GPUT_OK);
    assert_string_equal(text, "100 ");
    assert_int_equal(length, 4);
}

TEST(reads_files_of_any_length)
{
    struct str text = {0};
    str_append(&text, "old");
    assert_int_equal(
        procfs_read_all(fixture("procfs-hybrid"), 4000, "smaps", &text, NULL), GPUT_OK);
    assert_true(text.length > 70000);
    assert_true(strncmp(text.data, "old", 3) != 0);
    assert_int_equal(text.data[text.length], '\0');
    str_finish(&text);
}

TEST(a_cached_descriptor_reports_the_end_of_its_process)
{
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(gate[1]);
        _exit((int)read(gate[0], &byte, 1));
    }
    int fd;
    char text[PROCFS_TEXT_SIZE];
    size_t length;
    assert_int_equal(procfs_open("/proc", child, "stat", &fd, NULL), GPUT_OK);
    assert_int_equal(procfs_reread(fd, text, sizeof text, &length), GPUT_OK);
    assert_int_equal(atoi(text), child);
    assert_int_equal(length, strlen(text));
    close(gate[0]);
    close(gate[1]);
    waitpid(child, NULL, 0);
    assert_int_equal(procfs_reread(fd, text, sizeof text, &length), GPUT_ERROR_GONE);
    close(fd);
}

TEST(lists_only_numbers)
{
    struct pid_vector pids = {0};
    int fd = open(fixture("procfs-old"), O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0);
    assert_int_equal(procfs_list_fd(fd, &pids), GPUT_OK);
    close(fd);
    assert_int_equal(pids.count, 3);
    int sum = 0;
    for (size_t i = 0; i < pids.count; i++)
        sum += pids.pids[i];
    assert_int_equal(sum, 100 + 101 + 102);
    pid_vector_finish(&pids);
}

RUN_TESTS(NULL, NULL)
