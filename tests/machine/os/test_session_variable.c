#include "machine/os/environment.h"

#include "testing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char root[] = "/proc";

static void make_ids(char own[SESSION_ID_SIZE], char parents[SESSION_ID_SIZE])
{
    session_variable_make_id(root, getpid(), own);
    session_variable_make_id(root, getppid(), parents);
}

TEST(ids_are_unique)
{
    char id[SESSION_ID_SIZE], other[SESSION_ID_SIZE];
    session_variable_make_id(root, getpid(), id);
    session_variable_make_id(root, getpid(), other);
    assert_string_not_equal(id, other);
}

TEST(a_process_is_in_the_sessions_of_its_ancestors)
{
    char own[SESSION_ID_SIZE], parents[SESSION_ID_SIZE], value[128], ids[SESSION_IDS_SIZE];
    make_ids(own, parents);
    snprintf(value, sizeof value, "%s/%s", parents, own);
    session_variable_parse(value, root, getpid(), ids);
    assert_string_equal(ids, value);
    session_variable_parse(NULL, root, getpid(), ids);
    assert_string_equal(ids, "");
}

/* As of a batch system's daemon, which starts a job with the environment of who submitted it. */
TEST(a_copied_variable_does_not_count)
{
    char own[SESSION_ID_SIZE], parents[SESSION_ID_SIZE], value[128], ids[SESSION_IDS_SIZE];
    make_ids(own, parents);
    snprintf(value, sizeof value, "%s/%s", own, parents);
    session_variable_parse(value, root, getppid(), ids);
    assert_string_equal(ids, parents);
}

/* Pids of another pid namespace say nothing here. */
TEST(a_session_of_another_pid_namespace_counts)
{
    char ids[SESSION_IDS_SIZE];
    session_variable_parse("0123456789abcdef-2147483647-77", root, getpid(), ids);
    assert_string_equal(ids, "0123456789abcdef-2147483647-77");
}

TEST(what_is_no_id_is_skipped)
{
    static const char *const values[] = {"", "/", "x", "0123456789abcdef", "0123456789abcdef-1",
        "0123456789abcdef-1-77x", "0123456789abcdef-0-77", "0123456789abcdef--5-77",
        "00000000000000000000000000000000000000000000000000000000000000000000"};
    char ids[SESSION_IDS_SIZE];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        session_variable_parse(values[i], root, getpid(), ids);
        assert_string_equal(ids, "");
    }
}

TEST(of_many_the_innermost_are_kept)
{
    char value[4096] = "", ids[SESSION_IDS_SIZE], last[SESSION_ID_SIZE];
    for (int i = 0; i < 50; i++) {
        snprintf(last, sizeof last, "%016d-%d-77", i, i + 1);
        snprintf(value + strlen(value), sizeof value - strlen(value), "%s%s", i ? "/" : "", last);
    }
    session_variable_parse(value, root, getpid(), ids);
    assert_true(strlen(ids) > SESSION_IDS_SIZE / 2);
    assert_string_equal(ids, value + strlen(value) - strlen(ids));
    assert_int_equal(value[strlen(value) - strlen(ids) - 1], '/');
}

TEST(the_environment_has_it_once)
{
    char given_a[] = "A=1", given_old[] = "GPUT_SESSION=old", given_other[] = "GPUT_SESSIONS=2";
    char *given[] = {given_a, given_old, given_other, NULL};
    char **made = session_variable_add(given, "a/b", "c");
    assert_non_null(made);
    assert_string_equal(made[0], "A=1");
    assert_string_equal(made[1], "GPUT_SESSIONS=2");
    assert_string_equal(made[2], "GPUT_SESSION=a/b/c");
    assert_null(made[3]);
    free(made);
    made = session_variable_add(given, "", "c");
    assert_string_equal(made[2], "GPUT_SESSION=c");
    free(made);
}

RUN_TESTS(NULL, NULL)
