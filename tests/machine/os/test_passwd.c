#include "machine/os/passwd.h"

#include "testing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

TEST(knows_the_users_of_the_file)
{
    assert_name(0, NULL, "root");
    assert_name(1000, "root", "anna");
}

TEST(takes_a_name_that_is_no_other_users)
{
    assert_name(5000, "berta", "berta");
    assert_name(5000, "anna", "5000");
    assert_name(5000, "", "5000");
    assert_name(5000, NULL, "5000");
}

TEST(takes_no_name_of_a_broken_line)
{
    assert_name(7, NULL, "7");
    assert_name(12, NULL, "12");
    assert_name(1001, NULL, "1001");
}

TEST(a_long_name_is_cut)
{
    assert_name(5000, "a-very-long-name-indeed", "a-very-long-…");
}

static void write_file(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    assert_int_equal(fclose(stream), 0);
}

static void assert_user(const struct passwd_users *users, uid_t uid, const char *expected)
{
    char name[16];
    passwd_users_name(users, uid, name, sizeof name);
    assert_string_equal(name, expected);
}

TEST(a_file_is_read_once_until_it_is_changed)
{
    char path[] = "/tmp/gput-passwd-XXXXXX";
    const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    struct passwd_users users = {0};
    assert_user(&users, 1000, "1000");
    close(mkstemp(path));
    write_file(path, "berta:x:1001:\nanna:x:1000:\nbroken\nanders:x:1000:\n");
    utimensat(AT_FDCWD, path, times, 0);
    passwd_users_update(&users, path);
    assert_user(&users, 1000, "anna");
    assert_user(&users, 1001, "berta");
    assert_user(&users, 1002, "1002");
    /* Only who reads it again sees this. */
    write_file(path, "berta:x:1001:\nemma:x:1000:\nbroken\nanders:x:1000:\n");
    utimensat(AT_FDCWD, path, times, 0);
    passwd_users_update(&users, path);
    assert_user(&users, 1000, "anna");
    write_file(path, "carla:x:1002:\n");
    passwd_users_update(&users, path);
    assert_user(&users, 1000, "1000");
    assert_user(&users, 1002, "carla");
    unlink(path);
    passwd_users_update(&users, path);
    assert_user(&users, 1002, "carla");
    passwd_users_finish(&users);
}

RUN_TESTS(NULL, NULL)
