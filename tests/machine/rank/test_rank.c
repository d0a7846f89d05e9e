#include <gputracker/rank.h>

#include "testing.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const of_rank_3[] = {"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=8",
    "OMPI_COMM_WORLD_LOCAL_RANK=1", "PMIX_NAMESPACE=prterun-a/b@1", "USER=kim", NULL};
static const char *const without_launcher[] = {"USER=kim", NULL};
static const char *const of_rank_2_alone[] = {"PMI_RANK=2", "PMI_SIZE=4", NULL};
static const char *const of_one[] = {"PMI_RANK=0", "PMI_SIZE=1", NULL};

/* Static text, changed by the next call. */
static const char *path_of(const char *const *environment, const char *name)
{
    static char kept[4096];
    struct gput_rank *rank;
    char *path;
    assert_int_equal(gput_rank_create(environment, &rank, NULL), GPUT_OK);
    assert_int_equal(gput_rank_path(rank, name, &path, NULL), GPUT_OK);
    snprintf(kept, sizeof kept, "%s", path);
    free(path);
    gput_rank_destroy(rank);
    return kept;
}

TEST(says_where_a_process_is_in_its_job)
{
    struct gput_rank *rank;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    assert_int_equal(gput_rank_create(of_rank_3, &rank, NULL), GPUT_OK);
    assert_string_equal(gput_rank_launcher(rank), "Open MPI");
    assert_string_equal(gput_rank_job_id(rank), "prterun-a/b@1");
    assert_string_equal(gput_rank_host(rank), host);
    assert_int_equal(gput_rank_number(rank), 3);
    assert_int_equal(gput_rank_local_number(rank), 1);
    assert_int_equal(gput_rank_world_size(rank), 8);
    assert_int_equal(gput_rank_restarts(rank), -1);
    gput_rank_destroy(rank);
    gput_rank_destroy(NULL);
}

TEST(puts_the_rank_before_the_extension_where_there_are_several)
{
    assert_string_equal(path_of(of_rank_3, "samples.csv"), "samples.r3.csv");
    assert_string_equal(path_of(of_rank_3, "a.b/samples"), "a.b/samples.r3");
    assert_string_equal(path_of(of_rank_3, "a.b/.hidden"), "a.b/.hidden.r3");
    assert_string_equal(path_of(of_rank_3, "folder/"), "folder.r3/");
    assert_string_equal(path_of(of_rank_3, "%r.csv"), "3.csv"); /* it says so itself */
    assert_string_equal(path_of(of_rank_3, "100%%.csv"), "100%.r3.csv");
    assert_string_equal(path_of(of_rank_3, "s.1.plain.csv"), "s.1.r3.plain.csv");
    assert_string_equal(path_of(without_launcher, "samples.csv"), "samples.csv");
    assert_string_equal(path_of(of_one, "samples.csv"), "samples.csv");
}

TEST(puts_elements_of_arrays_before_the_rank)
{
    static const char *const of_element[] = {
        "SLURM_ARRAY_JOB_ID=47", "SLURM_ARRAY_TASK_ID=3", "SLURM_JOB_ID=50", NULL};
    static const char *const of_parallel[] = {"PARALLEL_SEQ=5", "SLURM_JOB_ID=50", NULL};
    static const char *const of_all[] = {"SLURM_ARRAY_JOB_ID=47", "SLURM_ARRAY_TASK_ID=3",
        "PARALLEL_SEQ=5", "PMI_RANK=1", "PMI_SIZE=2", NULL};
    static const char *const of_one_rank[] = {
        "PBS_ARRAY_INDEX=2", "PBS_JOBID=77[2].s", "PMI_RANK=0", "PMI_SIZE=1", NULL};
    struct gput_rank *rank;
    char *path;
    assert_string_equal(path_of(of_element, "r.json"), "r.t3.json");
    assert_string_equal(path_of(of_element, "r.%r.json"), "r.0.t3.json");
    assert_string_equal(path_of(of_element, "r.%j.json"), "r.47_3.json");
    assert_string_equal(path_of(of_element, "r.%q{SLURM_JOB_ID}.json"), "r.50.json");
    assert_string_equal(path_of(of_element, "-"), "-");
    assert_string_equal(path_of(of_parallel, "r.json"), "r.t5.json");
    assert_string_equal(path_of(of_parallel, "r.%j.json"), "r.50.t5.json");
    assert_string_equal(path_of(of_all, "r.json"), "r.t3_5.r1.json");
    assert_string_equal(path_of(of_all, "folder/"), "folder.t3_5.r1/");
    assert_string_equal(path_of(of_all, "r.%r.json"), "r.1.t3_5.json");
    assert_string_equal(path_of(of_one_rank, "r.json"), "r.t2.json");
    assert_string_equal(path_of(of_one_rank, "r.%j.json"), "r.77[2].s.json");
    assert_int_equal(gput_rank_create(of_all, &rank, NULL), GPUT_OK);
    assert_string_equal(gput_rank_element(rank), "3_5");
    assert_int_equal(gput_rank_expand(rank, "%r/%j", &path, NULL), GPUT_OK);
    assert_string_equal(path, "1/47_3");
    free(path);
    gput_rank_destroy(rank);
    assert_int_equal(gput_rank_create(of_rank_3, &rank, NULL), GPUT_OK);
    assert_null(gput_rank_element(rank));
    assert_int_equal(gput_rank_expand(rank, "j.json", &path, NULL), GPUT_OK);
    assert_string_equal(path, "j.json");
    free(path);
    gput_rank_destroy(rank);
}

TEST(leaves_streams_and_devices_alone)
{
    assert_string_equal(path_of(of_rank_3, "-"), "-");
    assert_string_equal(path_of(of_rank_3, "/dev/stdout"), "/dev/stdout");
}

TEST(fills_in_placeholders)
{
    char expected[64];
    assert_string_equal(path_of(of_rank_3, "s-%r-%l-%j.csv"), "s-3-1-prterun-a_b@1.csv");
    assert_string_equal(path_of(without_launcher, "s-%r-%l-%j.csv"), "s-0-0-none.csv");
    assert_string_equal(path_of(of_rank_2_alone, "s-%l.csv"), "s-none.r2.csv");
    assert_string_equal(path_of(of_rank_2_alone, "s-%l-%r.csv"), "s-none-2.csv");
    assert_string_equal(path_of(without_launcher, "%q{USER}-%q{UNSET}.csv"), "kim-.csv");
    snprintf(expected, sizeof expected, "%ld.csv", (long)getpid());
    assert_string_equal(path_of(without_launcher, "%p.csv"), expected);
    assert_int_equal(strlen(path_of(without_launcher, "%t")), strlen("20260131T235959Z"));
    assert_string_equal(path_of(without_launcher, "a%20b%"), "a%20b%"); /* no placeholders */
}

/* Returns when its program runs. */
static pid_t start(const char *const *environment)
{
    static const char *const arguments[] = {"sleep", "1000", NULL};
    int started[2];
    char nothing;
    assert_int_equal(pipe2(started, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        execve("/bin/sleep", (char *const *)arguments, (char *const *)environment);
        _exit(1);
    }
    close(started[1]);
    assert_int_equal(read(started[0], &nothing, 1), 0); /* closed by execve() */
    close(started[0]);
    return pid;
}

TEST(another_process_has_its_own)
{
    static const char *const environment[] = {"RANK=5", "WORLD_SIZE=6", "LOCAL_RANK=1",
        "LOCAL_WORLD_SIZE=2", "TORCHELASTIC_RUN_ID=run", NULL};
    static const char *const nothing[] = {NULL};
    struct gput_rank *rank;
    struct gput_error error;
    pid_t pid = start(environment);
    assert_int_equal(gput_rank_of_process(pid, &rank, NULL), GPUT_OK);
    assert_string_equal(gput_rank_launcher(rank), "torchrun");
    assert_int_equal(gput_rank_number(rank), 5);
    assert_int_equal(gput_rank_world_size(rank), 6);
    assert_int_equal(gput_rank_local_size(rank), 2);
    gput_rank_destroy(rank);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(gput_rank_of_process(pid, &rank, &error), GPUT_ERROR_GONE);
    assert_null(rank);

    /* Not that of the caller. */
    assert_int_equal(setenv("RANK", "3", 1) | setenv("WORLD_SIZE", "4", 1), 0);
    pid = start(nothing);
    assert_int_equal(gput_rank_of_process(pid, &rank, NULL), GPUT_OK);
    assert_int_equal(gput_rank_number(rank), -1);
    gput_rank_destroy(rank);
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST(refuses_what_names_no_file)
{
    static const char *const wrong[] = {"", "%q", "%q{", "%q{}", "%qUSER", "%q{USER"};
    struct gput_rank *rank;
    struct gput_error error;
    char *path;
    assert_int_equal(gput_rank_create(without_launcher, &rank, NULL), GPUT_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(gput_rank_path(rank, wrong[i], &path, &error), GPUT_ERROR_INVALID);
    gput_rank_destroy(rank);
}

TEST(finds_names_that_are_free)
{
    char folder[] = "/tmp/gput-test-rank-XXXXXX", taken[64], name[64], expected[64];
    char *path;
    assert_non_null(mkdtemp(folder));
    snprintf(taken, sizeof taken, "%s/s.0.csv", folder);
    snprintf(name, sizeof name, "%s/s.%%n.csv", folder);
    snprintf(expected, sizeof expected, "%s/s.1.csv", folder);
    fclose(fopen(taken, "we"));
    assert_string_equal(path_of(without_launcher, name), expected);
    assert_int_equal(gput_rank_free_path(taken, &path, NULL), GPUT_OK);
    snprintf(expected, sizeof expected, "%s/s.0.1.csv", folder);
    assert_string_equal(path, expected);
    free(path);
    static const char *const names[][2] = {{"en.r0", "en.r0.1"}, {"en.t3.r12", "en.t3.r12.1"},
        {"en.t3", "en.t3.1"}, {"en.r0/", "en.r0.1/"}, {"code.r", "code.1.r"}, {"a.r0x", "a.1.r0x"},
        {"a.s0", "a.1.s0"}, {"s.r0.csv", "s.r0.1.csv"}, {"en", "en.1"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "%s/%s", folder, names[i][0]);
        snprintf(expected, sizeof expected, "%s/%s", folder, names[i][1]);
        assert_int_equal(gput_rank_free_path(name, &path, NULL), GPUT_OK);
        assert_string_equal(path, expected);
        free(path);
    }
    unlink(taken);
    rmdir(folder);
}

RUN_TESTS(NULL, NULL)
