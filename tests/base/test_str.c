#include "base/str.h"
#include "testing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

TEST(appends_text_and_terminates_it)
{
    struct str text = {0};
    assert_string_equal(str_text(&text), "");
    str_append(&text, "ab");
    str_append_char(&text, 'c');
    str_append_repeated(&text, '-', 100);
    str_printf(&text, "%d", 42);
    assert_int_equal(text.length, 105);
    assert_memory_equal(text.data, "abc---", 6);
    assert_string_equal(text.data + 103, "42");
    str_finish(&text);
    assert_null(text.data);
}

TEST(appends_numbers_as_python_writes_them)
{
    struct str text = {0};
    str_append_int64(&text, INT64_MIN);
    str_append_char(&text, ' ');
    str_append_double(&text, 0.1);
    str_append_double(&text, -1e16);
    assert_string_equal(str_text(&text), "-9223372036854775808 0.1-1e+16");
    assert_int_equal(text.length, strlen(str_text(&text)));
    str_finish(&text);
}

TEST(a_word_of_a_shell_is_quoted_where_it_has_to_be)
{
    struct str text = {0};
    str_append_shell_word(&text, "/sys/a-b_c.d");
    assert_string_equal(str_text(&text), "/sys/a-b_c.d");
    str_clear(&text);
    str_append_shell_word(&text, "a b'$(c)");
    assert_string_equal(str_text(&text), "'a b'\\''$(c)'");
    str_clear(&text);
    str_append_shell_word(&text, "");
    assert_string_equal(str_text(&text), "''");
    str_finish(&text);
}

/* An empty file is read so: malloc() gives other bytes than 0 in the tests. */
TEST(space_that_holds_nothing_yet_is_an_empty_text)
{
    struct str text = {0};
    assert_true(str_reserve(&text, 4096));
    assert_string_equal(str_text(&text), "");
    str_append(&text, "ab");
    assert_true(str_reserve(&text, 100000));
    assert_string_equal(str_text(&text), "ab");
    str_finish(&text);
}

TEST(transfers_its_text)
{
    struct str text = {0};
    char *empty = str_steal(&text);
    assert_string_equal(empty, "");
    free(empty);
    str_append(&text, "x");
    char *taken = str_steal(&text);
    assert_string_equal(taken, "x");
    assert_null(text.data);
    free(taken);
}

TEST(stays_failed_without_memory)
{
    struct str text = {0};
    str_append(&text, "kept");
    assert_false(str_reserve(&text, SIZE_MAX / 2));
    str_append(&text, "lost");
    assert_true(text.failed);
    str_clear(&text);
    assert_true(text.failed);
    str_append(&text, "lost too");
    assert_string_equal(str_text(&text), "");
    assert_null(str_steal(&text));
    assert_false(text.failed);
}

TEST(starts_again_with_its_memory_after_a_failure)
{
    struct str text = {0};
    str_append(&text, "kept");
    char *memory = text.data;
    assert_false(str_reserve(&text, SIZE_MAX / 2));
    str_restart(&text);
    str_append(&text, "new");
    assert_ptr_equal(text.data, memory);
    assert_string_equal(str_text(&text), "new");
    str_finish(&text);
}

TEST(drops_what_is_at_its_beginning)
{
    struct str text = {0};
    str_drop(&text, 5);
    assert_string_equal(str_text(&text), "");
    str_append(&text, "written rest");
    str_drop(&text, strlen("written "));
    assert_string_equal(str_text(&text), "rest");
    str_drop(&text, 100);
    assert_int_equal(text.length, 0);
    str_finish(&text);
}

RUN_TESTS(NULL, NULL)
