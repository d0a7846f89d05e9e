#include "machine/os/sysfs.h"

#include "fake_sysfs.h"

#include <errno.h>

static int make_machine(void **state)
{
    (void)state;
    if (fake_sysfs_create() != 0)
        return -1;
    fake_sysfs_write("card/decimal", "18446744073709551615\n");
    fake_sysfs_write("card/hexadecimal", "0x10de\n");
    fake_sysfs_write("card/fraction", "2.3283064365386962890625e-10\n");
    fake_sysfs_write("card/negative", "-1\n");
    fake_sysfs_write("card/too_large", "18446744073709551616\n");
    fake_sysfs_write("card/words", "two words\nsecond line\n");
    fake_sysfs_write("card/empty", "");
    fake_sysfs_write("card/uevent", "DRIVER=xe\nPCI_SLOT_NAME=0000:03:00.0\n");
    fake_sysfs_write("nodes/node10/x", "");
    fake_sysfs_write("nodes/node2/x", "");
    fake_sysfs_write("nodes/node3x/x", "");
    return 0;
}

static const char *card(void)
{
    static char folder[128];
    snprintf(folder, sizeof folder, "%s/card", fake_sysfs);
    return folder;
}

TEST(reads_numbers)
{
    uint64_t value;
    double fraction;
    assert_true(sysfs_read_uint64(card(), "decimal", &value));
    assert_true(value == UINT64_MAX);
    assert_true(sysfs_read_uint64(card(), "hexadecimal", &value));
    assert_int_equal(value, 0x10de);
    assert_true(sysfs_read_double(card(), "fraction", &fraction));
    assert_true(fraction == 0x1p-32);
}

TEST(what_is_no_number_is_none)
{
    uint64_t value;
    double fraction;
    const char *files[] = {"negative", "too_large", "words", "empty", "absent"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        assert_false(sysfs_read_uint64(card(), files[i], &value));
    assert_int_equal(errno, ENOENT);
    assert_false(sysfs_read_double(card(), "words", &fraction));
}

TEST(reads_one_line_and_truncates_it)
{
    char line[64], small[4];
    assert_true(sysfs_read_line(card(), "words", line, sizeof line));
    assert_string_equal(line, "two words");
    assert_true(sysfs_read_line(card(), "words", small, sizeof small));
    assert_string_equal(small, "two");
    assert_true(sysfs_read_uevent(card(), "PCI_SLOT_NAME", line, sizeof line));
    assert_string_equal(line, "0000:03:00.0");
    assert_false(sysfs_read_uevent(card(), "PCI", line, sizeof line));
}

TEST(lists_folders_by_their_numbers)
{
    char folder[128];
    snprintf(folder, sizeof folder, "%s/nodes", fake_sysfs);
    assert_int_equal(sysfs_next_numbered(folder, "node", -1), 2);
    assert_int_equal(sysfs_next_numbered(folder, "node", 2), 10);
    assert_int_equal(sysfs_next_numbered(folder, "node", 10), -1);
    assert_int_equal(errno, 0);
    snprintf(folder, sizeof folder, "%s/none", fake_sysfs);
    assert_int_equal(sysfs_next_numbered(folder, "node", -1), -1);
    assert_int_equal(errno, 0);
    assert_int_equal(symlink("none", folder), 0); /* a loop: also root cannot read it */
    assert_int_equal(sysfs_next_numbered(folder, "node", -1), -1);
    assert_int_equal(errno, ELOOP);
}

RUN_TESTS(make_machine, fake_sysfs_remove)
