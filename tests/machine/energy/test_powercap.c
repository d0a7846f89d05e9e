#include "machine/energy/powercap.h"

#include "fake_sysfs.h"

#include <errno.h>

static int make_machine(void **state)
{
    (void)state;
    if (fake_sysfs_create() != 0)
        return -1;
    fake_sysfs_make_two_packages();
    return 0;
}

static size_t count_of(const struct powercap *powercap, enum energy_domain domain)
{
    size_t count = 0;
    for (size_t i = 0; i < powercap->count; i++)
        count += powercap->zones[i].domain == domain;
    return count;
}

#define ON_MACHINE(name) TEST_WITH(name, make_machine, fake_sysfs_remove)

ON_MACHINE(finds_each_counter_once)
{
    struct powercap powercap;
    powercap_open(fake_sysfs, &powercap);
    assert_int_equal(powercap.count, 6);
    assert_int_equal(count_of(&powercap, ENERGY_PACKAGE), 2);
    assert_int_equal(count_of(&powercap, ENERGY_DRAM), 2);
    assert_int_equal(count_of(&powercap, ENERGY_CORE), 1);
    assert_int_equal(count_of(&powercap, ENERGY_PSYS), 1);
    powercap_close(&powercap);
}

ON_MACHINE(reads_a_counter_again_and_again)
{
    struct powercap powercap;
    uint64_t energy_uj;
    powercap_open(fake_sysfs, &powercap);
    assert_int_equal(powercap.zones[0].range_uj, 262143328850);
    assert_int_equal(powercap_read(&powercap.zones[0], &energy_uj), GPUT_OK);
    assert_int_equal(energy_uj, 1000000000);
    fake_sysfs_set_joules("intel-rapl:0", 1001.5);
    assert_int_equal(powercap_read(&powercap.zones[0], &energy_uj), GPUT_OK);
    assert_int_equal(energy_uj, 1001500000);
    powercap_close(&powercap);
}

ON_MACHINE(passes_over_what_is_no_counter_of_its_own)
{
    struct powercap powercap;
    fake_sysfs_make_zone("intel-rapl:x", "package-7\n", 1);
    fake_sysfs_make_zone("intel-rapl", "package-7\n", 1);
    fake_sysfs_make_zone("dtpm:0", "package-8\n", 1);
    fake_sysfs_make_zone("intel-rapl:0:3", "npu\n", 1); /* in the package */
    powercap_open(fake_sysfs, &powercap);
    assert_int_equal(powercap.count, 6);
    assert_int_equal(powercap.n_unnamed, 0);
    powercap_close(&powercap);
}

ON_MACHINE(keeps_apart_what_has_no_name)
{
    struct powercap powercap;
    fake_sysfs_make_zone("intel-rapl:3", "npu\n", 1);
    fake_sysfs_make_zone("intel-rapl:1:1", "\n", 1); /* may be DRAM */
    fake_sysfs_write("class/powercap/intel-rapl:4/energy_uj", "12\n");
    powercap_open(fake_sysfs, &powercap);
    assert_int_equal(powercap.count, 6);
    assert_int_equal(powercap.n_unnamed, 3);
    assert_non_null(strstr(powercap.zones[6].path, "/intel-rapl:1:1/"));
    assert_non_null(strstr(powercap.zones[7].path, "/intel-rapl:3/"));
    assert_non_null(strstr(powercap.zones[8].path, "/intel-rapl:4/"));
    powercap_close(&powercap);
}

ON_MACHINE(mmio_counts_packages_that_are_nowhere_else)
{
    struct powercap powercap;
    fake_sysfs_make_zone("intel-rapl-mmio:0:0", "dram\n", 200); /* of package-0, known already */
    fake_sysfs_make_zone("intel-rapl-mmio:1", "package-2\n", 1);
    fake_sysfs_make_zone("intel-rapl-mmio:1:0", "dram\n", 1);
    fake_sysfs_make_zone("intel-rapl-mmio:2", "\n", 1);
    fake_sysfs_make_zone("intel-rapl-mmio:2:0", "dram\n", 1);
    powercap_open(fake_sysfs, &powercap);
    assert_int_equal(powercap.count, 8);
    assert_int_equal(count_of(&powercap, ENERGY_PACKAGE), 3);
    assert_int_equal(count_of(&powercap, ENERGY_DRAM), 3);
    for (size_t i = 0; i < powercap.count; i++)
        assert_int_equal(powercap.zones[i].is_mmio, i >= 6);
    assert_non_null(strstr(powercap.zones[6].path, "/intel-rapl-mmio:1/"));
    assert_int_equal(powercap.n_unnamed, 1);
    assert_non_null(strstr(powercap.zones[8].path, "/intel-rapl-mmio:2/"));
    powercap_close(&powercap);
}

TEST(mmio_alone_is_enough)
{
    uint64_t energy_uj;
    struct powercap powercap;
    assert_int_equal(fake_sysfs_create(), 0);
    fake_sysfs_make_zone("intel-rapl-mmio:0", "package-0\n", 3);
    powercap_open(fake_sysfs, &powercap);
    assert_int_equal(powercap.count, 1);
    assert_int_equal(powercap_read(&powercap.zones[0], &energy_uj), GPUT_OK);
    assert_int_equal(energy_uj, 3000000);
    powercap_close(&powercap);
    fake_sysfs_remove(NULL);
}

ON_MACHINE(a_counter_that_cannot_be_read_says_why)
{
    char path[256];
    struct powercap powercap;
    uint64_t energy_uj;
    /* Missing instead of refused, as root may read everything. */
    snprintf(path, sizeof path, "%s/class/powercap/intel-rapl:0:1/energy_uj", fake_sysfs);
    unlink(path);
    powercap_open(fake_sysfs, &powercap);
    assert_int_equal(powercap.count, 6);
    for (size_t i = 0; i < powercap.count; i++) {
        bool missing = strcmp(powercap.zones[i].path, path) == 0;
        int code = powercap_read(&powercap.zones[i], &energy_uj);
        assert_int_equal(code, missing ? GPUT_ERROR_NOT_FOUND : GPUT_OK);
    }
    powercap_close(&powercap);
}

ON_MACHINE(text_that_is_no_number_is_an_error)
{
    struct powercap powercap;
    uint64_t energy_uj;
    fake_sysfs_write("class/powercap/intel-rapl:0/energy_uj", "\n");
    powercap_open(fake_sysfs, &powercap);
    assert_int_equal(powercap_read(&powercap.zones[0], &energy_uj), GPUT_ERROR_FORMAT);
    powercap_close(&powercap);
}

TEST(no_counters_are_no_error)
{
    struct powercap powercap;
    powercap_open("/nonexistent", &powercap);
    assert_int_equal(powercap.count, 0);
    assert_int_equal(powercap.folder_errno, 0);
    powercap_close(&powercap);
}

ON_MACHINE(a_folder_that_cannot_be_read_is_not_one_without_counters)
{
    char path[128];
    struct powercap powercap;
    fake_sysfs_remove(NULL);
    fake_sysfs_write("class/other", "");
    snprintf(path, sizeof path, "%s/class/powercap", fake_sysfs);
    assert_int_equal(symlink("powercap", path), 0); /* a loop: also root cannot read it */
    assert_int_equal(powercap_open(fake_sysfs, &powercap), GPUT_OK);
    assert_int_equal(powercap.count, 0);
    assert_int_equal(powercap.folder_errno, ELOOP);
    powercap_close(&powercap);
}

TEST(knows_domains_by_their_names)
{
    enum energy_domain domain;
    assert_true(energy_domain_parse("package-1\n", &domain) && domain == ENERGY_PACKAGE);
    assert_true(energy_domain_parse("package-0-die-1\n", &domain) && domain == ENERGY_PACKAGE);
    assert_true(energy_domain_parse("uncore", &domain) && domain == ENERGY_UNCORE);
    assert_true(energy_domain_parse("psys\n", &domain) && domain == ENERGY_PSYS);
    assert_false(energy_domain_parse("cores", &domain));
    assert_false(energy_domain_parse("", &domain));
}

ON_MACHINE(any_number_of_packages_is_found)
{
    char zone[32], name[32];
    struct powercap powercap;
    for (int package = 3; package < 40; package++) {
        snprintf(zone, sizeof zone, "intel-rapl:%d", package);
        snprintf(name, sizeof name, "package-%d\n", package);
        fake_sysfs_make_zone(zone, name, 1000);
        snprintf(zone, sizeof zone, "intel-rapl:%d:0", package);
        fake_sysfs_make_zone(zone, "dram\n", 100);
    }
    assert_int_equal(powercap_open(fake_sysfs, &powercap), GPUT_OK);
    assert_int_equal(count_of(&powercap, ENERGY_PACKAGE), 2 + 37);
    assert_int_equal(count_of(&powercap, ENERGY_DRAM), 2 + 37);
    powercap_close(&powercap);
}

RUN_TESTS(NULL, NULL)
