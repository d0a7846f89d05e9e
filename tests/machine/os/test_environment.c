#include "machine/os/environment.h"

#include "testing.h"

#include <stdlib.h>
#include <unistd.h>

TEST(finds_whole_names)
{
    static const char bytes[] = "RANK_OF=1\0RANK=2\0EMPTY=\0NO_VALUE\0RANK=3";
    struct environment environment = {0};
    str_append_bytes(&environment.text, bytes, sizeof bytes - 1);
    assert_string_equal(environment_variable(&environment, "RANK"), "2");
    assert_string_equal(environment_variable(&environment, "EMPTY"), "");
    assert_null(environment_variable(&environment, "NO_VALUE"));
    assert_null(environment_variable(&environment, "RAN"));
    environment_finish(&environment);
    assert_null(environment_variable(&environment, "RANK"));
}

TEST(reads_that_of_a_process)
{
    struct environment environment = {0};
    const char *path = getenv("PATH");
    assert_int_equal(environment_read(NULL, "/proc", getpid(), &environment, NULL), GPUT_OK);
    if (path)
        assert_string_equal(environment_variable(&environment, "PATH"), path);
    environment_finish(&environment);
    setenv("GPUT_TEST_LATER", "yes", 1);
    assert_string_equal(environment_own_variable(NULL, "GPUT_TEST_LATER"), "yes");
}

RUN_TESTS(NULL, NULL)
