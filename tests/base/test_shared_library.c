#include "base/shared_library.h"
#include "testing.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct libc {
    size_t (*strlen)(const char *text);
    int (*no_such_function)(void);
};

TEST(the_functions_of_a_library_can_be_called)
{
    struct libc libc = {0};
    assert_true(shared_library_can_load());
    const struct shared_symbol symbols[] = {{"strlen", &libc.strlen}, {NULL, NULL}};
    assert_null(shared_library_load("libc.so.6", symbols));
    assert_int_equal(libc.strlen("four"), 4);
}

TEST(what_is_missing_is_named)
{
    struct libc libc = {0};
    const struct shared_symbol symbols[] = {
        {"no_such_function", &libc.no_such_function}, {NULL, NULL}};
    assert_non_null(strstr(shared_library_load("libc.so.6", symbols), "no_such_function"));
    assert_null(libc.no_such_function);
    assert_non_null(strstr(shared_library_load("libno-such.so.1", symbols), "libno-such.so.1"));
}

TEST(a_file_is_roots_where_no_other_user_can_replace_it)
{
    char folder[] = "/tmp/gput-library-XXXXXX", path[64], resolved[PATH_MAX];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/lib.so", folder);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    close(fd);
    assert_false(shared_library_is_of_root(path, resolved)); /* everybody can write to /tmp */
    assert_false(shared_library_is_of_root("/nowhere/lib.so", resolved));
    unlink(path);
    rmdir(folder);
    struct stat root;
    if (stat("/usr/bin/env", &root) != 0 || root.st_uid != 0)
        SKIP("files of the system are not root's here");
    assert_true(shared_library_is_of_root("/usr/bin/env", resolved));
}

RUN_TESTS(NULL, NULL)
