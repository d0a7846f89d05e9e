#include "machine/gpu/fdinfo.h"
#include "testing.h"

#include <string.h>

static int parse(const char *text, struct fdinfo *info)
{
    return fdinfo_parse(text, strlen(text), info);
}

static uint64_t ram_bytes(const struct fdinfo *info, bool integrated)
{
    uint64_t shared;
    return fdinfo_ram_bytes(info, integrated, &shared);
}

TEST(reads_an_amdgpu_client)
{
    struct fdinfo info;
    assert_int_equal(parse("pos:\t0\nflags:\t02100002\n"
                           "drm-driver:\tamdgpu\ndrm-client-id:\t71\ndrm-pdev:\t0000:03:00.0\n"
                           "drm-total-vram:\t300000 KiB\ndrm-resident-vram:\t262144 KiB\n"
                           "drm-memory-vram:\t262144 KiB\ndrm-memory-gtt: \t1024 KiB\n"
                           "drm-engine-gfx:\t1000000 ns\n",
                         &info),
        GPUT_OK);
    assert_string_equal(info.driver, "amdgpu");
    assert_string_equal(info.pci_address, "0000:03:00.0");
    assert_true(info.has_client);
    assert_int_equal(info.client, 71);
    assert_int_equal(info.n_regions, 2);
    assert_int_equal(info.regions[0].total_bytes, 300000 * 1024);
    assert_int_equal(ram_bytes(&info, false), 256 << 20); /* once, under both names */
    assert_int_equal(ram_bytes(&info, true), 257 << 20);
    assert_int_equal(info.engines[0].busy_ns, 1000000);
}

TEST(reads_cycles_and_capacities)
{
    struct fdinfo info;
    assert_int_equal(parse("drm-driver:\txe\ndrm-cycles-vcs:\t500\ndrm-total-cycles-vcs:\t2000\n"
                           "drm-engine-capacity-vcs:\t2\ndrm-total-vram0:\t24 MiB\n"
                           "drm-resident-vram0:\t22 MiB\ndrm-resident-gtt:\t192 KiB\n"
                           "drm-resident-system:\t8192\n",
                         &info),
        GPUT_OK);
    assert_int_equal(info.n_engines, 1);
    assert_string_equal(info.engines[0].name, "vcs");
    assert_int_equal(info.engines[0].busy_cycles, 500);
    assert_int_equal(info.engines[0].total_cycles, 2000);
    assert_int_equal(info.engines[0].capacity, 2);
    assert_int_equal(info.n_regions, 3);
    assert_int_equal(ram_bytes(&info, false), 22 << 20);
    assert_int_equal(ram_bytes(&info, true), (22 << 20) + 192 * 1024 + 8192);
    assert_false(info.has_client);
}

TEST(reads_the_total_without_resident_memory)
{
    struct fdinfo info;
    assert_int_equal(parse("drm-driver:\tmsm\ndrm-total-memory:\t2 MiB", &info), GPUT_OK);
    assert_int_equal(ram_bytes(&info, true), 2 << 20);
}

TEST(knows_what_other_clients_have_too)
{
    struct fdinfo info;
    uint64_t shared;
    assert_int_equal(parse("drm-driver:\txe\ndrm-total-vram0:\t9 MiB\ndrm-shared-vram0:\t5 MiB\n"
                           "drm-resident-vram0:\t7 MiB\ndrm-resident-system:\t4 MiB\n"
                           "drm-shared-system:\t6 MiB\n",
                         &info),
        GPUT_OK);
    assert_int_equal(fdinfo_ram_bytes(&info, false, &shared), 7 << 20);
    assert_int_equal(shared, 5 << 20);
    assert_int_equal(fdinfo_ram_bytes(&info, true, &shared), 11 << 20);
    assert_int_equal(shared, 9 << 20); /* not more than it has */
}

TEST(refuses_descriptors_that_are_not_a_card)
{
    struct fdinfo info;
    assert_int_equal(parse("", &info), GPUT_ERROR_FORMAT);
    assert_int_equal(parse("pos:\t0\nflags:\t02\neventfd-count: 0\n", &info), GPUT_ERROR_FORMAT);
    assert_int_equal(parse("drm-client-id:\t1\n", &info), GPUT_ERROR_FORMAT);
}

TEST(skips_malformed_lines)
{
    struct fdinfo info;
    char many[4096] = "drm-driver:\tx\n";
    for (int i = 0; i < 40; i++)
        sprintf(many + strlen(many), "drm-engine-e%d: %d ns\ndrm-resident-r%d: 1\n", i, i, i);
    assert_int_equal(parse(many, &info), GPUT_OK);
    assert_int_equal(info.n_engines, FDINFO_MAX_ENGINES);
    assert_int_equal(info.n_regions, FDINFO_MAX_REGIONS);
    assert_int_equal(
        parse(
            "drm-driver:\tx\ndrm-\n:\ndrm-resident-:\t1\ndrm-resident-vram:\t-5\ndrm-resident-"
            "vram\n"
            "drm-resident-vram: 99999999999999999999 KiB\ndrm-resident-vram: 18446744073709551615 "
            "KiB\ndrm-engine-capacity-a: 0\ndrm-pdev: nowhere\n",
            &info),
        GPUT_OK);
    assert_int_equal(ram_bytes(&info, true), 0);
    assert_string_equal(info.pci_address, "");
}

RUN_TESTS(NULL, NULL)
