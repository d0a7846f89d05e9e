/*
 * The rocTX collector, whose sources are part of this program: its functions come before those of
 * the library that this program is linked with.
 */
#include "regions_log.h"
#include "runtime.h"

static bool attach(void)
{
    return true; /* the first call does */
}

static void nest(void)
{
    bool passed = roctxRangePushA("outer") == 40 && roctxRangePushA("inner") == 41;
    passed &= strcmp(runtime_calls.message, "inner") == 0;
    passed &= roctxRangePop() == 41 && roctxRangePop() == 40;
    roctxRangePop();
    uint64_t first = roctxRangeStartA("first"), second = roctxRangeStartA("second");
    passed &= first == 1001 && second == 1002;
    roctxRangeStop(first);
    passed &= runtime_calls.stopped == first;
    roctxRangeStop(second);
    roctxRangeStop(4711);
    if (!passed)
        _exit(3);
}

TEST_WITH(ranges_are_recorded_and_the_library_sees_them_too, make_folder, remove_folder)
{
    struct recorded recorded = record(*state, attach, nest);
    assert_string_equal(recorded.text,
        "+roctx:default/outer +roctx:default/inner -roctx:default/inner -roctx:default/outer "
        "+roctx:default/first +roctx:default/second -roctx:default/first -roctx:default/second ");
    assert_int_equal(recorded.unmatched, 2);
}

TEST_WITH(without_a_folder_the_library_alone_is_called, make_folder, remove_folder)
{
    unsetenv("GPUT_REGIONS_FOLDER");
    assert_int_equal(run(attach, nest), 0);
}

RUN_TESTS(NULL, NULL)
