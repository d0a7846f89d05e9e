/* On folders that look like control groups, independent of this machine's kernel. */
#include "machine/os/own_cgroup.h"

#include "descriptors.h"
#include "fake_sysfs.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

static struct cgroup_directory directory_of(const char *name, bool is_v2)
{
    static char paths[2][128];
    static int turn;
    char *path = paths[turn++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", fake_sysfs, name);
    return (struct cgroup_directory){.path = path, .is_v2 = is_v2};
}

static bool is_there(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", fake_sysfs, name);
    return access(path, F_OK) == 0;
}

static void subtract(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", fake_sysfs, name);
    assert_int_equal(unlink(path), 0);
}

/* Of a file in a group that was made: its name ends with something random. */
static const char *in(const struct own_group *group, const char *file)
{
    static char name[160];
    snprintf(name, sizeof name, "%s/%s", group->path + strlen(fake_sysfs) + 1, file);
    return name;
}

static void make_directory(const char *name)
{
    char file[192];
    snprintf(file, sizeof file, "%s/x", name);
    fake_sysfs_write(file, "");
    subtract(file);
}

/* Of a process that has been collected. */
static pid_t ended_pid(void)
{
    pid_t ended = fork();
    if (ended == 0)
        _exit(0);
    assert_int_equal(waitpid(ended, NULL, 0), ended);
    return ended;
}

static int make_folder(void **state)
{
    (void)state;
    return fake_sysfs_create();
}

#define IN_FOLDER(name) TEST_WITH(name, make_folder, fake_sysfs_remove)

IN_FOLDER(reads_what_a_group_of_version_2_counted)
{
    struct own_cgroup own;
    struct cgroup_usage usage;
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.unified = directory_of("slice", true)};
    own_cgroup_create(&own, &here, 4711);
    assert_null(own.v1.path);
    assert_string_equal(own.why_not, "");
    assert_true(is_there(in(&own.v2, "")));
    assert_non_null(strstr(own.v2.path, "/slice/gpu-tracker-4711-"));
    fake_sysfs_write(in(&own.v2, "memory.peak"), "209715200\n");
    fake_sysfs_write(
        in(&own.v2, "cpu.stat"), "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n");
    own_cgroup_usage(&own, &usage);
    assert_true(usage.memory_peak_bytes == 209715200);
    assert_true(usage.cpu_seconds == 1.5 && usage.cpu_user_seconds == 1);
    subtract(in(&own.v2, "memory.peak"));
    subtract(in(&own.v2, "cpu.stat"));
    char name[160];
    strcpy(name, in(&own.v2, ""));
    own_cgroup_remove(&own);
    assert_false(is_there(name));
    assert_null(own.v2.path);
}

IN_FOLDER(a_group_that_nothing_ran_in_reports_nothing)
{
    struct own_cgroup own;
    struct cgroup_usage usage;
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.unified = directory_of("slice", true)};
    own_cgroup_create(&own, &here, 4711);
    fake_sysfs_write(in(&own.v2, "memory.peak"), "0\n");
    fake_sysfs_write(in(&own.v2, "cpu.stat"), "usage_usec 0\n");
    own_cgroup_usage(&own, &usage);
    assert_true(isnan(usage.memory_peak_bytes) && isnan(usage.cpu_seconds));
    own_cgroup_remove(&own);
}

static void assert_holds(const struct own_group *group, const char *file, const char *expected)
{
    char path[200], text[8] = "";
    snprintf(path, sizeof path, "%s/%s", group->path, file);
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    assert_true(fgets(text, sizeof text, stream) || *expected == '\0');
    fclose(stream);
    assert_string_equal(text, expected);
}

IN_FOLDER(version_1_counts_memory_next_to_version_2)
{
    struct own_cgroup own;
    struct cgroup_usage usage;
    fake_sysfs_write("memory/tasks", "");
    fake_sysfs_write("unified/cgroup.procs", "");
    struct cgroup here = {
        .memory = directory_of("memory", false), .unified = directory_of("unified", true)};
    own_cgroup_create(&own, &here, 1);
    assert_non_null(strstr(own.v1.path, "/memory/gpu-tracker-1-"));
    assert_non_null(strstr(own.v2.path, "/unified/gpu-tracker-1-"));
    fake_sysfs_write(in(&own.v1, "memory.max_usage_in_bytes"), "4096\n");
    fake_sysfs_write(in(&own.v2, "cpu.stat"), "usage_usec 1500000\n");
    own_cgroup_usage(&own, &usage);
    assert_true(usage.memory_peak_bytes == 4096 && usage.cpu_seconds == 1.5);
    own_cgroup_remove(&own);
    assert_true(own.v1.path == NULL && own.v2.path == NULL);
}

IN_FOLDER(one_that_cannot_be_made_leaves_the_other)
{
    struct own_cgroup own;
    fake_sysfs_write("unified/cgroup.procs", "");
    struct cgroup here = {
        .memory = directory_of("nowhere", false), .unified = directory_of("unified", true)};
    own_cgroup_create(&own, &here, 1);
    assert_null(own.v1.path);
    assert_non_null(own.v2.path);
    assert_string_equal(
        own.why_not, "no control group can be made here: No such file or directory");
    own_cgroup_remove(&own);
}

/* A version 1 group in the cpu hierarchy would change the scheduling. */
IN_FOLDER(of_version_1_memory_alone_is_counted)
{
    struct own_cgroup own;
    fake_sysfs_write("cpuacct/tasks", "");
    struct cgroup here = {.cpuacct = directory_of("cpuacct", false)};
    own_cgroup_create(&own, &here, 1);
    assert_true(own.v1.path == NULL && own.v2.path == NULL);
    assert_string_equal(own.why_not, "no control group counts memory here");
    own_cgroup_remove(&own);
}

/* The kernel cannot fork into these folders. */
IN_FOLDER(a_child_moves_itself_where_it_cannot_be_forked_into)
{
    struct own_cgroup own;
    fake_sysfs_write("memory/tasks", "");
    fake_sysfs_write("unified/cgroup.procs", "");
    struct cgroup here = {
        .memory = directory_of("memory", false), .unified = directory_of("unified", true)};
    own_cgroup_create(&own, &here, 1);
    fake_sysfs_write(in(&own.v1, "tasks"), "");
    fake_sysfs_write(in(&own.v2, "cgroup.procs"), "");
    bool without_handlers;
    pid_t child = own_cgroup_fork(&own, &without_handlers);
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_holds(&own.v1, "tasks", "0");
    assert_holds(&own.v2, "cgroup.procs", "0");
    assert_int_equal(own.entry_bytes, 2);
    own_cgroup_remove(&own);
}

static void do_nothing(int number)
{
    (void)number;
}

static bool has(int number, void (*handler)(int))
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == handler;
}

TEST(a_child_has_no_handlers_where_it_says_so)
{
    int status;
    bool without_handlers;
    signal(SIGUSR1, do_nothing);
    signal(SIGUSR2, SIG_IGN);
    pid_t child = own_cgroup_fork(NULL, &without_handlers);
    if (child == 0)
        _exit(
            has(SIGUSR1, without_handlers ? SIG_DFL : do_nothing) && has(SIGUSR2, SIG_IGN) ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(has(SIGUSR1, do_nothing));
    signal(SIGUSR1, SIG_DFL);
    signal(SIGUSR2, SIG_DFL);
}

IN_FOLDER(ends_what_lives_in_a_group_of_version_2)
{
    struct own_cgroup own;
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.unified = directory_of("slice", true)};
    own_cgroup_create(&own, &here, 1);
    assert_false(own_cgroup_has_living(&own));
    own_cgroup_kill(&own); /* a kernel that cannot */
    fake_sysfs_write(in(&own.v2, "cgroup.events"), "populated 0\nfrozen 0\n");
    fake_sysfs_write(in(&own.v2, "cgroup.kill"), "");
    assert_false(own_cgroup_has_living(&own));
    fake_sysfs_write(in(&own.v2, "cgroup.events"), "populated 1\nfrozen 0\n");
    assert_true(own_cgroup_has_living(&own));
    own_cgroup_kill(&own);
    assert_holds(&own.v2, "cgroup.kill", "1");
    own_cgroup_remove(&own);
    assert_false(own_cgroup_has_living(&own));
    own_cgroup_kill(&own);
}

IN_FOLDER(every_session_of_a_process_has_its_own)
{
    struct own_cgroup first, second;
    char name[160];
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.unified = directory_of("slice", true)};
    int files = descriptors_open();
    own_cgroup_create(&first, &here, 1);
    own_cgroup_create(&second, &here, 1);
    assert_string_equal(second.why_not, "");
    assert_string_not_equal(first.v2.path, second.v2.path);
    strcpy(name, in(&second.v2, ""));
    own_cgroup_remove(&second);
    assert_false(is_there(name));
    assert_true(is_there(in(&first.v2, "")));
    own_cgroup_remove(&first);
    assert_int_equal(descriptors_open(), files);
}

/* By the lock that a living tracker holds: its pid may mean nothing here. */
IN_FOLDER(what_a_killed_tracker_left_is_removed)
{
    struct own_cgroup own, living;
    char left[64], inner[128];
    snprintf(left, sizeof left, "slice/gpu-tracker-%d-0123456789abcdef", (int)getpid());
    snprintf(inner, sizeof inner, "%s/gpu-tracker-1-0000000000000000", left);
    make_directory(inner);
    make_directory("slice/gpu-tracker-4711-0123456789abcdef.service");
    make_directory("slice/gpu-tracker-web.service");
    struct cgroup here = {.unified = directory_of("slice", true)};
    own_cgroup_create(&living, &here, ended_pid());
    assert_false(is_there(inner));
    assert_false(is_there(left));
    own_cgroup_create(&own, &here, 4711);
    assert_true(is_there(in(&living.v2, "")));
    assert_true(is_there("slice/gpu-tracker-4711-0123456789abcdef.service"));
    assert_true(is_there("slice/gpu-tracker-web.service"));
    own_cgroup_remove(&own);
    own_cgroup_remove(&living);
}

IN_FOLDER(what_a_killed_tracker_left_below_ours_goes_with_it)
{
    struct own_cgroup own;
    char outer[160];
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.unified = directory_of("slice", true)};
    own_cgroup_create(&own, &here, 4711);
    strcpy(outer, in(&own.v2, ""));
    make_directory(in(&own.v2, "gpu-tracker-1-0000000000000000/gpu-tracker-1-0000000000000001"));
    own_cgroup_remove(&own);
    assert_false(is_there(outer));
}

IN_FOLDER(what_the_command_made_below_goes_with_it)
{
    struct own_cgroup own;
    char outer[256], left[64];
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.unified = directory_of("slice", true)};
    snprintf(left, sizeof left, "slice/gpu-tracker-%d-0123456789abcdef", (int)getpid());
    make_directory("slice/made-by-somebody-else");
    snprintf(outer, sizeof outer, "%s/made/deeper", left);
    make_directory(outer);
    own_cgroup_create(&own, &here, 4711);
    assert_false(is_there(left)); /* of a tracker that was killed */
    strcpy(outer, in(&own.v2, ""));
    make_directory(in(&own.v2, "made/deeper"));
    make_directory(in(&own.v2, "other"));
    own_cgroup_remove(&own);
    assert_false(is_there(outer));
    assert_true(is_there("slice/made-by-somebody-else"));
}

IN_FOLDER(processes_below_are_moved_to_where_they_would_be_without_us)
{
    struct own_cgroup own;
    char path[160], text[16] = "";
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.unified = directory_of("slice", true)};
    own_cgroup_create(&own, &here, 4711);
    /* 0: outside our pid namespace. */
    fake_sysfs_write(in(&own.v2, "gpu-tracker-1-0000000000000000/cgroup.procs"), "0\n4712\n");
    own_cgroup_remove(&own);
    snprintf(path, sizeof path, "%s/slice/cgroup.procs", fake_sysfs);
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "4712");
}

IN_FOLDER(the_group_of_a_tracker_that_runs_below_stays_until_it_is_gone)
{
    struct own_cgroup outer, inner, later;
    char name[160];
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.unified = directory_of("slice", true)};
    own_cgroup_create(&outer, &here, 4711);
    struct cgroup below = {.unified = {.path = outer.v2.path, .is_v2 = true}};
    own_cgroup_create(&inner, &below, 4712);
    strcpy(name, in(&outer.v2, ""));
    own_cgroup_remove(&outer);
    assert_true(is_there(in(&inner.v2, "")));
    own_cgroup_create(&later, &here, 4713);
    assert_true(is_there(in(&inner.v2, "")));
    own_cgroup_remove(&later);
    close(inner.v2.directory_fd); /* as the kernel does for one that is killed */
    own_cgroup_create(&later, &here, 4713);
    assert_false(is_there(name));
    own_cgroup_remove(&later);
    inner.v2.directory_fd = -1;
    own_cgroup_remove(&inner);
}

IN_FOLDER(a_tracker_that_outlives_those_around_it_removes_their_groups)
{
    struct own_cgroup outer, middle, inner;
    char name[160];
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.unified = directory_of("slice", true)};
    own_cgroup_create(&outer, &here, 4711);
    struct cgroup below = {.unified = {.path = outer.v2.path, .is_v2 = true}};
    own_cgroup_create(&middle, &below, 4712);
    below.unified.path = middle.v2.path;
    own_cgroup_create(&inner, &below, 4713);
    strcpy(name, in(&outer.v2, ""));
    own_cgroup_remove(&middle);
    own_cgroup_remove(&outer);
    assert_true(is_there(in(&inner.v2, "")));
    own_cgroup_remove(&inner);
    assert_false(is_there(name));
    assert_true(is_there("slice"));
}

IN_FOLDER(the_group_of_a_tracker_that_runs_around_stays)
{
    struct own_cgroup outer, inner;
    fake_sysfs_write("slice/cgroup.procs", "");
    struct cgroup here = {.unified = directory_of("slice", true)};
    own_cgroup_create(&outer, &here, 4711);
    struct cgroup below = {.unified = {.path = outer.v2.path, .is_v2 = true}};
    own_cgroup_create(&inner, &below, 4712);
    own_cgroup_remove(&inner);
    assert_true(is_there(in(&outer.v2, "")));
    own_cgroup_remove(&outer);
}

IN_FOLDER(where_none_can_be_made_there_is_a_reason)
{
    struct own_cgroup own;
    struct cgroup_usage usage;
    struct cgroup here = {.unified = directory_of("nowhere", true)};
    own_cgroup_create(&own, &here, 1);
    assert_null(own.v2.path);
    assert_string_equal(
        own.why_not, "no control group can be made here: No such file or directory");
    own_cgroup_usage(&own, &usage);
    assert_true(isnan(usage.memory_peak_bytes));
    own_cgroup_remove(&own);
}

RUN_TESTS(NULL, NULL)
