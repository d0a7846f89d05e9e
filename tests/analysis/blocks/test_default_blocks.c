#include "files/temporary.h"

#include <gputracker/blocks.h>

#include <sys/wait.h>

/* The default log is opened once in a process: each test has a process of its own. */
static void in_child(void (*body)(void))
{
    pid_t child = fork();
    if (child == 0) {
        if (chdir(temporary_folder) != 0)
            _exit(98);
        body();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

static void require(bool fine, int line)
{
    if (!fine)
        _exit(line > 0 && line < 256 ? line : 99);
}
#define REQUIRE(expression) require((expression), __LINE__)

static size_t count_lines(const char *path)
{
    char *text = temporary_read(path);
    size_t lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    free(text);
    return lines;
}

static void mark_without_environment(void)
{
    unsetenv("GPUT_BLOCKS_FILE");
    char path[32];
    snprintf(path, sizeof path, "%d.csv", getpid());
    REQUIRE(gput_default_blocks_start("a") == GPUT_OK);
    REQUIRE(gput_default_blocks_stop() == GPUT_OK);
    REQUIRE(gput_default_blocks_stop() == GPUT_ERROR_STATE);
    REQUIRE(count_lines(path) == 3);
    REQUIRE(gput_default_blocks_open("other.csv", NULL, NULL) == GPUT_ERROR_STATE);
    REQUIRE(gput_default_blocks_close(NULL) == GPUT_OK);
    REQUIRE(gput_default_blocks_start("late") == GPUT_ERROR_STATE);
    REQUIRE(gput_default_blocks_open("other.csv", NULL, NULL) == GPUT_OK);
    REQUIRE(gput_default_blocks_start("b") == GPUT_OK);
    REQUIRE(count_lines("other.csv") == 2);
}

FOLDER_TEST(the_first_mark_opens_a_file_named_by_the_process)
{
    in_child(mark_without_environment);
}

static void mark_as_the_environment_says(void)
{
    setenv("GPUT_BLOCKS_FILE", "of-%p.csv", 1);
    setenv("GPUT_BLOCK_EXACT", "1", 1);
    char path[32];
    snprintf(path, sizeof path, "of-%d.csv", getpid());
    temporary_write(path, "old");
    struct gput_blocks_status status = gput_blocks_status_default();
    REQUIRE(gput_default_blocks_open(path, NULL, NULL) == GPUT_ERROR_EXISTS);
    setenv("GPUT_BLOCKS_OVERWRITE", "1", 1);
    REQUIRE(gput_default_blocks_open(NULL, NULL, NULL) == GPUT_OK);
    REQUIRE(gput_default_blocks_start("a") == GPUT_OK);
    gput_default_blocks_read_status(&status);
    REQUIRE(strcmp(status.path, path) == 0 && status.marks_lost == 0 && !status.is_renamed);
    char *text = temporary_read(path);
    REQUIRE(strstr(text, "thread_cpu_ns") != NULL);
    free(text);
}

FOLDER_TEST(the_environment_names_file_and_options)
{
    in_child(mark_as_the_environment_says);
}

static void mark_where_a_file_is(void)
{
    struct gput_blocks_status status = gput_blocks_status_default();
    setenv("GPUT_BLOCKS_FILE", "taken.csv", 1);
    temporary_write("taken.csv", "old");
    temporary_write("taken.1.csv", "old");
    REQUIRE(gput_default_blocks_start("a") == GPUT_OK);
    gput_default_blocks_read_status(&status);
    REQUIRE(strcmp(status.path, "taken.2.csv") == 0 && status.is_renamed);
    pid_t child = fork();
    if (child == 0)
        _exit(gput_default_blocks_start("b") == GPUT_OK ? 0 : 1);
    int failed;
    waitpid(child, &failed, 0);
    char path[64];
    snprintf(path, sizeof path, "taken.2-%d.csv", child);
    REQUIRE(failed == 0 && count_lines(path) == 2);
    REQUIRE(strcmp(temporary_read("taken.csv"), "old") == 0);
}

FOLDER_TEST(a_name_of_the_environment_that_is_taken_is_no_error)
{
    in_child(mark_where_a_file_is);
}

static void mark_as_a_rank(void)
{
    struct gput_blocks_status status = gput_blocks_status_default();
    setenv("OMPI_COMM_WORLD_RANK", "3", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    setenv("GPUT_BLOCKS_FILE", "marks.csv", 1);
    REQUIRE(gput_default_blocks_start("a") == GPUT_OK);
    gput_default_blocks_read_status(&status);
    REQUIRE(strcmp(status.path, "marks.r3.csv") == 0 && !status.is_renamed);
    REQUIRE(gput_default_blocks_stop() == GPUT_OK && gput_default_blocks_close(NULL) == GPUT_OK);
    setenv(
        "GPUT_BLOCKS_FILE", "%p.csv", 1); /* which rank a process is of is not known from its id */
    REQUIRE(gput_default_blocks_open(NULL, NULL, NULL) == GPUT_OK);
    gput_default_blocks_read_status(&status);
    REQUIRE(strcmp(strchr(status.path, '.'), ".r3.csv") == 0);
    REQUIRE(gput_default_blocks_close(NULL) == GPUT_OK);
    setenv("GPUT_BLOCKS_FILE", "of-%r-%q{OMPI_COMM_WORLD_SIZE}%%.csv", 1);
    REQUIRE(gput_default_blocks_open(NULL, NULL, NULL) == GPUT_OK);
    gput_default_blocks_read_status(&status);
    REQUIRE(strcmp(status.path, "of-3-4%.csv") == 0);
    REQUIRE(gput_default_blocks_close(NULL) == GPUT_OK);
    REQUIRE(gput_default_blocks_open("own-%r.csv", NULL, NULL) == GPUT_OK);
    gput_default_blocks_read_status(&status);
    REQUIRE(strcmp(status.path, "own-3.csv") == 0);
}

FOLDER_TEST(one_of_many_ranks_has_a_file_of_its_own)
{
    in_child(mark_as_a_rank);
}

static void mark_while_switched_off(void)
{
    setenv("GPUT_BLOCKS_FILE", "", 1);
    REQUIRE(gput_default_blocks_start("a") == GPUT_OK);
    REQUIRE(gput_default_blocks_stop() == GPUT_OK);
    REQUIRE(gput_default_blocks_close(NULL) == GPUT_OK);
}

FOLDER_TEST(an_empty_name_switches_marks_off)
{
    in_child(mark_while_switched_off);
    assert_int_equal(temporary_count(), 0);
}

static int leave_early(int n)
{
    for (int i = 0; i < 3; i++)
        GPUT_BLOCK("loop")
        {
            if (i == n)
                return i;
            if (i == 1)
                break;
        }
    return -1;
}

static void mark_scopes(void)
{
    setenv("GPUT_BLOCKS_FILE", "scopes.csv", 1);
    REQUIRE(leave_early(2) == 2);
    {
        GPUT_BLOCK_SCOPE("rest");
        GPUT_BLOCK_HERE() REQUIRE(count_lines("scopes.csv") == 1 + 6 + 2);
    }
    REQUIRE(count_lines("scopes.csv") == 1 + 10);
    char *text = temporary_read("scopes.csv");
    REQUIRE(strstr(text, "test_default_blocks.c:") != NULL);
    free(text);
}

FOLDER_TEST(scopes_end_whichever_way_they_are_left)
{
    in_child(mark_scopes);
}

RUN_TESTS(temporary_create, temporary_remove)
