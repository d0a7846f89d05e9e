#include "base/error.h"
#include "testing.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

TEST(an_error_has_its_code_and_its_sentence)
{
    struct gput_error error = {0};
    assert_int_equal(
        error_set(&error, GPUT_ERROR_FORMAT, "line %d of %s", 3, "x"), GPUT_ERROR_FORMAT);
    assert_int_equal(error.code, GPUT_ERROR_FORMAT);
    assert_string_equal(error.message, "line 3 of x");
    assert_int_equal(error_set(NULL, GPUT_ERROR_IO, "not asked for"), GPUT_ERROR_IO);
}

TEST(a_long_message_is_cut_and_stays_terminated)
{
    char long_name[2000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    struct gput_error error = {0};
    error_set_errno(&error, ENOSPC, "Cannot write %s", long_name);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

TEST(errno_values_become_codes_and_messages)
{
    struct gput_error error = {0};
    assert_int_equal(error_set_errno(&error, ENOENT, "Cannot open %s", "a"), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "Cannot open a: No such file or directory");
    assert_int_equal(error_code_of_errno(EEXIST), GPUT_ERROR_EXISTS);
    assert_int_equal(error_code_of_errno(EACCES), GPUT_ERROR_PERMISSION);
    assert_int_equal(error_code_of_errno(ESRCH), GPUT_ERROR_GONE);
    assert_int_equal(error_code_of_errno(ENOMEM), GPUT_ERROR_MEMORY);
    assert_int_equal(error_code_of_errno(ENOSPC), GPUT_ERROR_IO);
}

TEST(an_error_carries_errno)
{
    struct gput_error error = {.errno_value = ENOSPC}, copy = {0};
    error_set(&error, GPUT_ERROR_FORMAT, "line 3 is not a number");
    assert_int_equal(error.errno_value, 0);
    error_set_errno(&error, ENOTDIR, "Cannot open a/b");
    assert_int_equal(error.errno_value, ENOTDIR);
    assert_int_equal(
        error_set_errno_as(&error, GPUT_ERROR_PERMISSION, ETXTBSY, "Cannot run %s", "a"),
        GPUT_ERROR_PERMISSION);
    assert_int_equal(error.errno_value, ETXTBSY);
    assert_string_equal(error.message, "Cannot run a: Text file busy");
    assert_int_equal(error_copy(&copy, &error), GPUT_ERROR_PERMISSION);
    assert_memory_equal(&copy, &error, sizeof copy);
    assert_int_equal(error_copy(NULL, &error), GPUT_ERROR_PERMISSION);
    assert_int_equal(error_set_exists(&error, "a.csv"), GPUT_ERROR_EXISTS);
    assert_int_equal(error.errno_value, EEXIST);
    assert_string_equal(error.message, "File a.csv already exists.");
}

TEST(a_limit_of_file_sizes_is_named)
{
    struct gput_error error;
    struct rlimit before, limited;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limited = before;
    limited.rlim_cur = 12345;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limited), 0);
    error_set_errno(&error, EFBIG, "Cannot write a");
    assert_string_equal(
        error.message, "Cannot write a: File too large (ulimit -f allows 12345 bytes)");
    error_set_errno(&error, ENOSPC, "Cannot write a");
    assert_string_equal(error.message, "Cannot write a: No space left on device");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
}

static int fails_third(int *calls)
{
    for (int i = 0; i < 5; i++) {
        (*calls)++;
        TRY(i == 2 ? GPUT_ERROR_STATE : GPUT_OK);
    }
    return GPUT_OK;
}

TEST(try_returns_the_first_failure)
{
    int calls = 0;
    assert_int_equal(fails_third(&calls), GPUT_ERROR_STATE);
    assert_int_equal(calls, 3);
}

RUN_TESTS(NULL, NULL)
