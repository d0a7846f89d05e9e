#include "machine/os/mountinfo.h"

#include "testing.h"

#include <string.h>

TEST(reads_mounts_with_any_number_of_optional_words)
{
    const char *text =
        "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
        "not a mount\n"
        "31 23 0:28 /a\\040b /mnt/x\\134y rw shared:9 master:3 - cgroup c rw,cpu,cpuacct\n"
        "32 23 0:29 / /torn rw - cgroup2";
    const char *position = text;
    const char *end = text + strlen(text);
    struct mountinfo_entry entry;
    assert_true(mountinfo_next(&position, end, &entry));
    assert_true(mountinfo_is(entry.type, "proc"));
    assert_true(mountinfo_next(&position, end, &entry));
    assert_true(mountinfo_is(entry.type, "cgroup"));
    assert_true(mountinfo_has_option(entry.options, "cpu"));
    assert_true(mountinfo_has_option(entry.options, "cpuacct"));
    assert_false(mountinfo_has_option(entry.options, "cpua"));
    char *root = mountinfo_unescape(entry.root);
    char *mount_point = mountinfo_unescape(entry.mount_point);
    assert_string_equal(root, "/a b");
    assert_string_equal(mount_point, "/mnt/x\\y");
    free(root);
    free(mount_point);
    assert_false(mountinfo_next(&position, end, &entry));
}

RUN_TESTS(NULL, NULL)
