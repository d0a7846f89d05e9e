#include "machine/gpu/amdgpu.h"
#include "testing.h"

#include <math.h>
#include <string.h>

static uint8_t table[512];

/* A table of that version, in which nothing is set. */
static void begin(uint8_t format, uint8_t revision)
{
    memset(table, 0, sizeof table);
    table[2] = format;
    table[3] = revision;
}

static void put(size_t offset, size_t size, uint64_t value)
{
    memcpy(table + offset, &value, size);
}

static struct card_reading filled(size_t length)
{
    struct card_reading reading;
    card_reading_clear(&reading, "not read");
    gpu_metrics_fill(table, length, &reading);
    return reading;
}

TEST(reads_a_discrete_card)
{
    begin(1, 3);
    put(4, 2, 55);
    put(8, 2, 66);
    put(18, 2, 40);
    put(54, 2, 2400);
    put(58, 2, 0xffff);
    put(74, 2, 16);
    put(76, 2, 160);
    put(112, 8, 1ull << 2 | 1ull << 22 | 1ull << 36);
    struct card_reading reading = filled(120);
    assert_true(reading.values[CARD_TEMPERATURE] == 55);
    assert_true(reading.values[CARD_MEMORY_TEMPERATURE] == 66);
    assert_true(reading.values[CARD_MEMORY_BUSY] == 40);
    assert_true(reading.values[CARD_GRAPHICS_CLOCK] == 2400);
    assert_true(isnan(reading.values[CARD_MEMORY_CLOCK]));
    assert_true(reading.values[CARD_PCIE_WIDTH] == 16);
    assert_true(reading.values[CARD_PCIE_GENERATION] == 4);
    assert_true(
        (unsigned)reading.values[CARD_SLOWDOWN_REASONS] ==
        (1u << CARD_REASON_POWER_CAP | 1u << CARD_REASON_CURRENT | 1u << CARD_REASON_THERMAL));
    assert_true(isnan(filled(100).values[CARD_SLOWDOWN_REASONS])); /* cut */
}

TEST(adds_up_what_went_over_the_links_between_cards)
{
    static const struct {
        uint8_t revision;
        size_t offset;
    } rows[] = {{4, 104}, {6, 128}, {7, 136}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        begin(1, rows[i].revision);
        put(rows[i].offset, 8, 5);
        put(rows[i].offset + 8, 8, UINT64_MAX); /* no such link */
        put(rows[i].offset + 56, 8, 2);
        put(rows[i].offset + 64, 8, 3);
        struct card_reading reading = filled(400);
        assert_true(reading.values[CARD_XGMI_READ] == 7 * 1024);
        assert_true(reading.values[CARD_XGMI_WRITTEN] == 3 * 1024);
    }
    begin(1, 3);
    assert_true(isnan(filled(400).values[CARD_XGMI_READ]));
}

TEST(an_unknown_version_gives_nothing)
{
    begin(1, 9);
    put(4, 2, 55);
    assert_true(isnan(filled(sizeof table).values[CARD_TEMPERATURE]));
    assert_true(isnan(filled(0).values[CARD_TEMPERATURE]));
    begin(1, 2); /* its reasons mean something else on each card */
    assert_true(isnan(filled(sizeof table).values[CARD_SLOWDOWN_REASONS]));
}

TEST(reads_the_energy_of_newer_cards)
{
    begin(1, 6);
    put(16, 8, 1000000);
    assert_true(fabs(gpu_metrics_energy_joules(table, 256) - 15.259) < 1e-9);
    begin(1, 7);
    put(24, 8, 2000000);
    assert_true(fabs(gpu_metrics_energy_joules(table, 256) - 30.518) < 1e-9);
}

TEST(adds_up_for_how_long_a_card_was_slowed)
{
    struct gpu_metrics_slowed slowed = {0};
    struct card_reading reading;
    card_reading_clear(&reading, "not read");
    begin(1, 6);
    put(24, 8, 1000000000);
    put(32, 4, 0xfffffff0u); /* the counter goes round */
    put(40, 4, 100);
    put(44, 4, 7);
    gpu_metrics_add_slowed(&slowed, table, 256, &reading);
    assert_true(reading.values[CARD_POWER_CAP_SECONDS] == 0);
    put(24, 8, 3000000000); /* two seconds, 100 ticks */
    put(32, 4, 0xfffffff0u + 100);
    put(40, 4, 125);
    put(44, 4, 57);
    put(52, 4, 10);
    gpu_metrics_add_slowed(&slowed, table, 256, &reading);
    assert_true(fabs(reading.values[CARD_POWER_CAP_SECONDS] - 0.5) < 1e-9);
    assert_true(fabs(reading.values[CARD_THERMAL_SECONDS] - 1) < 1e-9);
    assert_true(reading.values[CARD_HARDWARE_THERMAL_SECONDS] == 0);
    put(24, 8, 4000000000); /* the card was reset: nothing is known of this second */
    put(32, 4, 50);
    put(40, 4, 0);
    put(44, 4, 0);
    put(52, 4, 0);
    gpu_metrics_add_slowed(&slowed, table, 256, &reading);
    assert_true(fabs(reading.values[CARD_POWER_CAP_SECONDS] - 0.5) < 1e-9);
    assert_true(fabs(reading.values[CARD_THERMAL_SECONDS] - 1) < 1e-9);
    begin(1, 3); /* has no such counters */
    card_reading_clear(&reading, "not read");
    gpu_metrics_add_slowed(&slowed, table, 256, &reading);
    assert_true(isnan(reading.values[CARD_POWER_CAP_SECONDS]));
}

RUN_TESTS(NULL, NULL)
