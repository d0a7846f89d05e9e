/* Space on a disk that is kept. */
#include "base/space_reserve.h"
#include "files/temporary.h"

#include <sys/stat.h>

static blkcnt_t blocks_of(const struct space_reserve *reserve)
{
    struct stat status;
    assert_int_equal(fstat(reserve->fd, &status), 0);
    return status.st_blocks;
}

FOLDER_TEST(takes_space_and_gives_it_back)
{
    struct space_reserve reserve;
    space_reserve_open(&reserve, temporary("x.csv"), 64 * 1024);
    if (reserve.fd < 0)
        SKIP("the file system has no unnamed files");
    assert_true(blocks_of(&reserve) >= 128);
    space_reserve_release(&reserve, 16 * 1024);
    assert_in_range(blocks_of(&reserve), 32, 127);
    space_reserve_fill(&reserve, 64 * 1024);
    assert_true(blocks_of(&reserve) >= 128);
    space_reserve_fill(&reserve, (size_t)1 << 60); /* more than any disk has */
    assert_int_equal(reserve.bytes, 64 * 1024);
    space_reserve_release(&reserve, 128 * 1024); /* has less: stays */
    assert_int_equal(reserve.bytes, 64 * 1024);
    space_reserve_close(&reserve);
    assert_int_equal(reserve.fd, -1);
    space_reserve_close(&reserve);
}

FOLDER_TEST(is_filled_later_where_there_was_no_space)
{
    struct space_reserve reserve;
    space_reserve_open(&reserve, temporary("x.csv"), (size_t)1 << 60);
    if (reserve.fd < 0)
        SKIP("no unnamed files here");
    assert_int_equal(reserve.bytes, 0);
    space_reserve_fill(&reserve, 4096);
    assert_int_equal(reserve.bytes, 4096);
    space_reserve_close(&reserve);
}

FOLDER_TEST(leaves_no_file)
{
    struct space_reserve reserve;
    space_reserve_open(&reserve, temporary("x.csv"), 4096);
    assert_int_not_equal(access(temporary("x.csv"), F_OK), 0);
    space_reserve_close(&reserve);
}

FOLDER_TEST(without_a_folder_there_is_none)
{
    struct space_reserve reserve;
    space_reserve_open(&reserve, temporary("none/x.csv"), 4096);
    assert_int_equal(reserve.fd, -1);
    space_reserve_fill(&reserve, 4096);
    space_reserve_release(&reserve, 0);
    assert_int_equal(reserve.bytes, 0);
    space_reserve_close(&reserve);
}

RUN_TESTS(temporary_create, temporary_remove)
