#include "machine/os/system_stat.h"

#include "testing.h"

TEST(reads_an_old_kernel)
{
    struct meminfo meminfo;
    assert_int_equal(meminfo_read(fixture("procfs-old"), &meminfo, NULL), GPUT_OK);
    assert_int_equal(meminfo.total_bytes, UINT64_C(1000000) * 1024);
    assert_int_equal(meminfo.free_bytes, 200000 * 1024);
    assert_false(meminfo.has_available);
    assert_int_equal(meminfo.buffers_bytes, 50000 * 1024);
    assert_int_equal(meminfo.cached_bytes, 300000 * 1024);
    assert_int_equal(meminfo.reclaimable_slab_bytes, 40000 * 1024);
    assert_int_equal(meminfo.swap_total_bytes, 500000 * 1024);
    assert_int_equal(meminfo.swap_free_bytes, 400000 * 1024);
    assert_int_equal(
        meminfo_used_bytes(&meminfo), (1000000 - 200000 - 50000 - 300000 - 40000) * 1024);
}

TEST(used_is_what_is_not_available)
{
    struct meminfo meminfo;
    assert_int_equal(meminfo_read(fixture("procfs-hybrid"), &meminfo, NULL), GPUT_OK);
    assert_true(meminfo.has_available);
    assert_int_equal(meminfo_used_bytes(&meminfo), meminfo.total_bytes - meminfo.available_bytes);
}

TEST(used_never_falls_below_zero)
{
    struct meminfo meminfo;
    const char *available = "MemTotal: 100 kB\nMemFree: 10 kB\nMemAvailable: 200 kB\n";
    assert_int_equal(meminfo_parse(available, &meminfo), GPUT_OK);
    assert_int_equal(meminfo_used_bytes(&meminfo), 0);
    /* A container's total with its host's cache: then all that is not free is used. */
    const char *cached = "MemTotal: 100 kB\nMemFree: 10 kB\nCached: 200 kB\n";
    assert_int_equal(meminfo_parse(cached, &meminfo), GPUT_OK);
    assert_int_equal(meminfo_used_bytes(&meminfo), 90 * 1024);
}

TEST(refuses_what_is_no_meminfo)
{
    struct meminfo meminfo;
    assert_int_equal(meminfo_parse("", &meminfo), GPUT_ERROR_FORMAT);
    assert_int_equal(
        meminfo_parse("MemTotal: 100 kB\nMemFree: 10 kB", &meminfo), GPUT_ERROR_FORMAT);
}

RUN_TESTS(NULL, NULL)
