#include "formats/temporary.h"

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
    REQUIRE(gput_block_begin("a") == GPUT_OK);
    REQUIRE(gput_block_end() == GPUT_OK);
    REQUIRE(gput_block_end() == GPUT_ERROR_STATE);
    REQUIRE(count_lines(path) == 3);
    REQUIRE(gput_block_open("other.csv", NULL, NULL) == GPUT_ERROR_STATE);
    REQUIRE(gput_block_close(NULL) == GPUT_OK);
    REQUIRE(gput_block_begin("late") == GPUT_ERROR_STATE);
    REQUIRE(gput_block_open("other.csv", NULL, NULL) == GPUT_OK);
    REQUIRE(gput_block_begin("b") == GPUT_OK);
    REQUIRE(count_lines("other.csv") == 2);
}

static void the_first_mark_opens_a_file_named_by_the_process(void **state)
{
    (void)state;
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
    REQUIRE(gput_block_begin("a") == GPUT_ERROR_EXISTS);
    REQUIRE(gput_block_end() == GPUT_ERROR_EXISTS);
    gput_block_read_status(&status);
    REQUIRE(status.lost.code == GPUT_ERROR_EXISTS && strstr(status.lost.message, path));
    REQUIRE(strstr(status.lost.message, "GPUT_BLOCKS_OVERWRITE=1") != NULL);
    setenv("GPUT_BLOCKS_OVERWRITE", "1", 1);
    REQUIRE(gput_block_open(NULL, NULL, NULL) == GPUT_OK);
    REQUIRE(gput_block_begin("a") == GPUT_OK);
    gput_block_read_status(&status);
    REQUIRE(strcmp(status.path, path) == 0 && status.marks_lost == 0);
    char *text = temporary_read(path);
    REQUIRE(strstr(text, "thread_cpu_ns") != NULL);
    free(text);
}

static void the_environment_names_file_and_options(void **state)
{
    (void)state;
    in_child(mark_as_the_environment_says);
}

static void mark_while_switched_off(void)
{
    setenv("GPUT_BLOCKS_FILE", "", 1);
    REQUIRE(gput_block_begin("a") == GPUT_OK);
    REQUIRE(gput_block_end() == GPUT_OK);
    REQUIRE(gput_block_close(NULL) == GPUT_OK);
}

static void an_empty_name_switches_marks_off(void **state)
{
    (void)state;
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

static void scopes_end_whichever_way_they_are_left(void **state)
{
    (void)state;
    in_child(mark_scopes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        temporary_test(the_first_mark_opens_a_file_named_by_the_process),
        temporary_test(the_environment_names_file_and_options),
        temporary_test(an_empty_name_switches_marks_off),
        temporary_test(scopes_end_whichever_way_they_are_left),
    };
    return cmocka_run_group_tests_name(
        "blocks/default_blocks", tests, temporary_create, temporary_remove);
}
