/* Space on a disk that is kept. */
#include "base/space_reserve.h"
#include "formats/temporary.h"

#include <sys/stat.h>

static blkcnt_t blocks_of(const struct space_reserve *reserve)
{
    struct stat status;
    assert_int_equal(fstat(reserve->fd, &status), 0);
    return status.st_blocks;
}

static void takes_space_and_gives_it_back(void **state)
{
    (void)state;
    struct space_reserve reserve;
    space_reserve_open(&reserve, temporary("x.csv"), 64 * 1024);
    if (reserve.fd < 0)
        skip(); /* no unnamed files here */
    assert_true(blocks_of(&reserve) >= 128);
    space_reserve_release(&reserve, 16 * 1024);
    assert_in_range(blocks_of(&reserve), 32, 127);
    space_reserve_close(&reserve);
    assert_int_equal(reserve.fd, -1);
    space_reserve_close(&reserve);
}

static void leaves_no_file(void **state)
{
    (void)state;
    struct space_reserve reserve;
    space_reserve_open(&reserve, temporary("x.csv"), 4096);
    assert_int_not_equal(access(temporary("x.csv"), F_OK), 0);
    space_reserve_close(&reserve);
}

static void without_a_folder_there_is_none(void **state)
{
    (void)state;
    struct space_reserve reserve;
    space_reserve_open(&reserve, temporary("none/x.csv"), 4096);
    assert_int_equal(reserve.fd, -1);
    space_reserve_release(&reserve, 0);
    space_reserve_close(&reserve);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        temporary_test(takes_space_and_gives_it_back),
        temporary_test(leaves_no_file),
        temporary_test(without_a_folder_there_is_none),
    };
    return cmocka_run_group_tests_name(
        "base/space_reserve", tests, temporary_create, temporary_remove);
}
