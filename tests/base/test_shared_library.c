#include "base/shared_library.h"
#include "testing.h"

#include <string.h>

struct libc {
    size_t (*strlen)(const char *text);
    int (*no_such_function)(void);
};

static void the_functions_of_a_library_can_be_called(void **state)
{
    (void)state;
    struct libc libc = {0};
    assert_true(shared_library_can_load());
    const struct shared_symbol symbols[] = {{"strlen", &libc.strlen}, {NULL, NULL}};
    assert_null(shared_library_load("libc.so.6", symbols));
    assert_int_equal(libc.strlen("four"), 4);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    struct libc libc = {0};
    const struct shared_symbol symbols[] = {
        {"no_such_function", &libc.no_such_function}, {NULL, NULL}};
    assert_non_null(strstr(shared_library_load("libc.so.6", symbols), "no_such_function"));
    assert_null(libc.no_such_function);
    assert_non_null(strstr(shared_library_load("libno-such.so.1", symbols), "libno-such.so.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_functions_of_a_library_can_be_called),
        cmocka_unit_test(what_is_missing_is_named),
    };
    return cmocka_run_group_tests_name("base/shared_library", tests, NULL, NULL);
}
