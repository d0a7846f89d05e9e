#include "base/str.h"
#include "testing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void appends_text_and_terminates_it(void **state)
{
    (void)state;
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

static void appends_numbers_as_python_writes_them(void **state)
{
    (void)state;
    struct str text = {0};
    str_append_int64(&text, INT64_MIN);
    str_append_char(&text, ' ');
    str_append_double(&text, 0.1);
    str_append_double(&text, -1e16);
    assert_string_equal(str_text(&text), "-9223372036854775808 0.1-1e+16");
    assert_int_equal(text.length, strlen(str_text(&text)));
    str_finish(&text);
}

static void a_word_of_a_shell_is_quoted_where_it_has_to_be(void **state)
{
    (void)state;
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
static void space_that_holds_nothing_yet_is_an_empty_text(void **state)
{
    (void)state;
    struct str text = {0};
    assert_true(str_reserve(&text, 4096));
    assert_string_equal(str_text(&text), "");
    str_append(&text, "ab");
    assert_true(str_reserve(&text, 100000));
    assert_string_equal(str_text(&text), "ab");
    str_finish(&text);
}

static void transfers_its_text(void **state)
{
    (void)state;
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

static void stays_failed_without_memory(void **state)
{
    (void)state;
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

static void starts_again_with_its_memory_after_a_failure(void **state)
{
    (void)state;
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

static void drops_what_is_at_its_beginning(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_text_and_terminates_it),
        cmocka_unit_test(appends_numbers_as_python_writes_them),
        cmocka_unit_test(a_word_of_a_shell_is_quoted_where_it_has_to_be),
        cmocka_unit_test(space_that_holds_nothing_yet_is_an_empty_text),
        cmocka_unit_test(transfers_its_text),
        cmocka_unit_test(stays_failed_without_memory),
        cmocka_unit_test(starts_again_with_its_memory_after_a_failure),
        cmocka_unit_test(drops_what_is_at_its_beginning),
    };
    return cmocka_run_group_tests_name("base/str", tests, NULL, NULL);
}
