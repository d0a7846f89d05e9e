#include "machine/os/system_stat.h"

#include "testing.h"

static void reads_an_old_kernel(void **state)
{
    (void)state;
    struct meminfo meminfo;
    assert_int_equal(meminfo_read(fixture("procfs-old"), &meminfo, NULL), GPUT_OK);
    assert_int_equal(meminfo.total_bytes, UINT64_C(1000000) * 1024);
    assert_int_equal(meminfo.free_bytes, 200000 * 1024);
    assert_false(meminfo.has_available);
    assert_int_equal(meminfo.buffers_bytes, 50000 * 1024);
    assert_int_equal(meminfo.cached_bytes, 300000 * 1024);
    assert_int_equal(meminfo.reclaimable_slab_bytes, 40000 * 1024);
    assert_int_equal(
        meminfo_used_bytes(&meminfo), (1000000 - 200000 - 50000 - 300000 - 40000) * 1024);
}

static void used_is_what_is_not_available(void **state)
{
    (void)state;
    struct meminfo meminfo;
    assert_int_equal(meminfo_read(fixture("procfs-hybrid"), &meminfo, NULL), GPUT_OK);
    assert_true(meminfo.has_available);
    assert_int_equal(meminfo_used_bytes(&meminfo), meminfo.total_bytes - meminfo.available_bytes);
}

static void used_never_falls_below_zero(void **state)
{
    (void)state;
    struct meminfo meminfo;
    const char *available = "MemTotal: 100 kB\nMemFree: 10 kB\nMemAvailable: 200 kB\n";
    assert_int_equal(meminfo_parse(available, &meminfo), GPUT_OK);
    assert_int_equal(meminfo_used_bytes(&meminfo), 0);
    /* A container's total with its host's cache: then all that is not free is used. */
    const char *cached = "MemTotal: 100 kB\nMemFree: 10 kB\nCached: 200 kB\n";
    assert_int_equal(meminfo_parse(cached, &meminfo), GPUT_OK);
    assert_int_equal(meminfo_used_bytes(&meminfo), 90 * 1024);
}

static void refuses_what_is_no_meminfo(void **state)
{
    (void)state;
    struct meminfo meminfo;
    assert_int_equal(meminfo_parse("", &meminfo), GPUT_ERROR_FORMAT);
    assert_int_equal(
        meminfo_parse("MemTotal: 100 kB\nMemFree: 10 kB", &meminfo), GPUT_ERROR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_an_old_kernel),
        cmocka_unit_test(used_is_what_is_not_available),
        cmocka_unit_test(used_never_falls_below_zero),
        cmocka_unit_test(refuses_what_is_no_meminfo),
    };
    return cmocka_run_group_tests_name("machine/os/meminfo", tests, NULL, NULL);
}
