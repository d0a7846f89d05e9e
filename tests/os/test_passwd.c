#include "os/passwd.h"

#include "testing.h"

static const char file[] = "root:x:0:0:root:/root:/bin/bash\n"
                           "broken\n"
                           ":x:7:7::/:\n"
                           "number:x:12a:1::/:\n"
                           "anna:x:1000:1000:Anna,,,:/home/anna:/bin/sh\n"
                           "cut:x:1001";

static void assert_name(uid_t uid, const char *claimed, const char *expected)
{
    char name[16];
    passwd_parse(file, uid, claimed, name, sizeof name);
    assert_string_equal(name, expected);
}

static void knows_the_users_of_the_file(void **state)
{
    (void)state;
    assert_name(0, NULL, "root");
    assert_name(1000, "root", "anna");
}

static void takes_a_name_that_is_no_other_users(void **state)
{
    (void)state;
    assert_name(5000, "berta", "berta");
    assert_name(5000, "anna", "5000");
    assert_name(5000, "", "5000");
    assert_name(5000, NULL, "5000");
}

static void takes_no_name_of_a_broken_line(void **state)
{
    (void)state;
    assert_name(7, NULL, "7");
    assert_name(12, NULL, "12");
    assert_name(1001, NULL, "1001");
}

static void a_long_name_is_cut(void **state)
{
    (void)state;
    assert_name(5000, "a-very-long-name-indeed", "a-very-long-…");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_users_of_the_file),
        cmocka_unit_test(takes_a_name_that_is_no_other_users),
        cmocka_unit_test(takes_no_name_of_a_broken_line),
        cmocka_unit_test(a_long_name_is_cut),
    };
    return cmocka_run_group_tests_name("os/passwd", tests, NULL, NULL);
}
