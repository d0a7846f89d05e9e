#include "base/sized.h"
#include "testing.h"

#include <string.h>

/* What the library knows, what an older program knows, and a newer one. */
struct known {
    size_t size;
    double interval;
    const char *path;
};

struct older {
    size_t size;
    double interval;
};

struct newer {
    size_t size;
    double interval;
    const char *path;
    int more;
};

static const struct known usual = {.size = sizeof usual, .interval = 1, .path = "usual"};

TEST(an_older_program_gets_defaults_for_what_it_does_not_know)
{
    struct older options;
    sized_init(&options, sizeof options, &usual, sizeof usual);
    assert_true(options.interval == 1);
    options.interval = 5;
    struct known read = usual;
    assert_int_equal(sized_read(&read, sizeof read, &options, NULL), GPUT_OK);
    assert_true(read.interval == 5);
    assert_string_equal(read.path, "usual");
    assert_int_equal(read.size, sizeof read);
}

TEST(a_newer_program_is_understood_or_refused)
{
    struct newer options;
    memset(&options, 0x5a, sizeof options);
    sized_init(&options, sizeof options, &usual, sizeof usual);
    assert_int_equal(options.more, 0);
    options.path = "own";
    struct known read = usual;
    assert_int_equal(sized_read(&read, sizeof read, &options, NULL), GPUT_OK);
    assert_string_equal(read.path, "own");

    struct gput_error error;
    options.more = 1;
    assert_int_equal(sized_read(&read, sizeof read, &options, &error), GPUT_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "does not know"));
}

TEST(without_a_size_options_are_refused)
{
    struct known options = {0}, read = usual;
    assert_int_equal(sized_read(&read, sizeof read, &options, NULL), GPUT_ERROR_INVALID);
    assert_int_equal(sized_read(&read, sizeof read, NULL, NULL), GPUT_OK); /* none at all */
    assert_string_equal(read.path, "usual");
}

TEST(a_result_is_written_as_far_as_there_is_space)
{
    struct {
        struct older result;
        int after;
    } older = {.result = {.size = sizeof older.result}, .after = 7};
    sized_write(&older.result, &usual, sizeof usual);
    assert_true(older.result.interval == 1);
    assert_int_equal(older.result.size, sizeof older.result);
    assert_int_equal(older.after, 7);

    struct newer newer = {.size = sizeof newer, .more = 7};
    sized_write(&newer, &usual, sizeof usual);
    assert_string_equal(newer.path, "usual");
    assert_int_equal(newer.size, sizeof newer);
    assert_int_equal(newer.more, 0); /* is not known */
}

RUN_TESTS(NULL, NULL)
