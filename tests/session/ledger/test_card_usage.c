#include "base/clock.h"
#include "session/ledger/gpu_usage.h"
#include "testing.h"

#include <math.h>

/* A reading in which two figures are known, and nothing else. */
static struct card_reading reading_of(
    enum card_figure a, double a_value, enum card_figure b, double b_value)
{
    struct card_reading reading;
    card_reading_clear(&reading, "not read");
    reading.values[a] = a_value;
    reading.values[b] = b_value;
    return reading;
}

/* Each reading is a second after the one before. */
static void add_reading(struct card_usage *usage, const struct card_reading *reading)
{
    static int64_t now_ns;
    now_ns += NS_PER_SECOND;
    card_usage_add(usage, reading, now_ns);
}

static void add(struct card_usage *usage, enum card_figure a, double a_value, enum card_figure b,
    double b_value)
{
    struct card_reading reading = reading_of(a, a_value, b, b_value);
    add_reading(usage, &reading);
}

TEST(nothing_is_known_before_a_reading)
{
    static struct card_usage usage;
    char text[100];
    assert_true(isnan(card_usage_max(&usage, CARD_TEMPERATURE)));
    assert_true(isnan(card_usage_counted(&usage, CARD_POWER_CAP_SECONDS)));
    card_usage_describe_slowdowns(&usage, text, sizeof text);
    assert_string_equal(text, "");
    card_usage_describe_health(&usage, text, sizeof text);
    assert_string_equal(text, "");
}

TEST(counters_count_from_the_first_reading_and_over_a_reset)
{
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_POWER_CAP_SECONDS, 100, CARD_ECC_UNCORRECTED, 2);
    assert_true(isnan(card_usage_counted(&usage, CARD_POWER_CAP_SECONDS)));
    add(&usage, CARD_POWER_CAP_SECONDS, 103, CARD_ECC_UNCORRECTED, 2);
    assert_true(card_usage_counted(&usage, CARD_POWER_CAP_SECONDS) == 3);
    card_usage_describe_health(&usage, text, sizeof text);
    assert_string_equal(text, "");
    add(&usage, CARD_POWER_CAP_SECONDS, 1, CARD_ECC_UNCORRECTED, 1);
    assert_true(card_usage_counted(&usage, CARD_POWER_CAP_SECONDS) == 4);
    card_usage_describe_health(&usage, text, sizeof text);
    assert_string_equal(text,
        "1 new memory error that could not be corrected; the card was reset, or its driver was "
        "loaded again");
}

TEST(bytes_of_pcie_begin_anew_without_a_reset_of_the_card)
{
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_PCIE_TRANSMITTED, 4e9, CARD_PCIE_RECEIVED, 1e9);
    add(&usage, CARD_PCIE_TRANSMITTED, 1e9, CARD_PCIE_RECEIVED, 2e9); /* after 2^32 */
    add(&usage, CARD_PCIE_TRANSMITTED, 2e9, CARD_PCIE_RECEIVED, 3e9);
    assert_true(card_usage_counted(&usage, CARD_PCIE_TRANSMITTED) == 2e9); /* at least */
    assert_true(card_usage_counted(&usage, CARD_PCIE_RECEIVED) == 2e9);
    assert_false(card_usage_is_partial(&usage));
    card_usage_describe_health(&usage, text, sizeof text);
    assert_string_equal(text, "");
}

TEST(bytes_that_leap_further_than_a_link_can_carry_do_not_count)
{
    static struct card_usage usage;
    add(&usage, CARD_NVLINK_TRANSMITTED, 1e9, CARD_NVLINK_RECEIVED, 1e9);
    add(&usage, CARD_NVLINK_TRANSMITTED, 1e18, CARD_NVLINK_RECEIVED, 5e11);
    add(&usage, CARD_NVLINK_TRANSMITTED, 1e18 + 2048, CARD_NVLINK_RECEIVED, 5e11);
    assert_true(card_usage_counted(&usage, CARD_NVLINK_TRANSMITTED) == 2048);
    assert_true(card_usage_counted(&usage, CARD_NVLINK_RECEIVED) == 4.99e11);
}

TEST(one_counter_that_begins_anew_is_no_reset_of_the_card)
{
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_NVLINK_ERRORS, 7, CARD_ECC_CORRECTED, 2);
    add(&usage, CARD_NVLINK_ERRORS, 0, CARD_ECC_CORRECTED, 2);
    card_usage_describe_health(&usage, text, sizeof text);
    assert_string_equal(text, "the counter nvlink_errors began anew");
    assert_false(card_usage_is_partial(&usage)); /* of slowed time */
}

TEST(errors_in_the_kernels_log_are_said_with_the_last_one)
{
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_XID_ERRORS, 0, CARD_TEMPERATURE, 50);
    add(&usage, CARD_XID_ERRORS, 2, CARD_LAST_XID, 79);
    card_usage_describe_health(&usage, text, sizeof text);
    assert_string_equal(text, "2 errors in the kernel's log (the last: Xid 79)");
}

TEST(counters_that_were_exchanged_count_from_then_on)
{
    static struct card_usage usage;
    struct card_reading reading = reading_of(CARD_THERMAL_SECONDS, 5, CARD_POWER_CAP_SECONDS, 1);
    add_reading(&usage, &reading);
    reading.n_counter_changes = 1;
    reading.values[CARD_THERMAL_SECONDS] = 100;
    reading.values[CARD_POWER_CAP_SECONDS] = 2;
    add_reading(&usage, &reading);
    reading.values[CARD_THERMAL_SECONDS] = 103;
    reading.values[CARD_POWER_CAP_SECONDS] = 4;
    add_reading(&usage, &reading);
    assert_true(card_usage_counted(&usage, CARD_THERMAL_SECONDS) == 3);
    assert_true(card_usage_counted(&usage, CARD_POWER_CAP_SECONDS) == 3); /* it was not exchanged */
    assert_true(card_usage_is_partial(&usage));
}

TEST(a_counter_that_is_withdrawn_gives_nothing_and_readings_take_its_place)
{
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_POWER_CAP_SECONDS, 5, CARD_SLOWDOWN_REASONS, 1u << CARD_REASON_POWER_CAP);
    add(&usage, CARD_POWER_CAP_SECONDS, 5, CARD_SLOWDOWN_REASONS, 1u << CARD_REASON_POWER_CAP);
    add(&usage, CARD_TEMPERATURE, 50, CARD_SLOWDOWN_REASONS, 1u << CARD_REASON_IDLE);
    assert_true(isnan(card_usage_counted(&usage, CARD_POWER_CAP_SECONDS)));
    card_usage_describe_slowdowns(&usage, text, sizeof text);
    assert_string_equal(text, "power_cap in 2 of 3 readings");
}

TEST(a_counter_that_stands_still_while_its_reason_is_given_does_not_say_nothing)
{
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_POWER_CAP_SECONDS, 5, CARD_SLOWDOWN_REASONS, 0);
    add(&usage, CARD_POWER_CAP_SECONDS, 5, CARD_SLOWDOWN_REASONS, 1u << CARD_REASON_POWER_CAP);
    assert_false(card_usage_is_contradicted(&usage));
    add(&usage, CARD_POWER_CAP_SECONDS, 5, CARD_SLOWDOWN_REASONS, 1u << CARD_REASON_POWER_CAP);
    assert_true(card_usage_is_contradicted(&usage));
    card_usage_describe_slowdowns(&usage, text, sizeof text);
    assert_string_equal(text, "power_cap in 2 of 3 readings");
    add(&usage, CARD_POWER_CAP_SECONDS, 6, CARD_SLOWDOWN_REASONS, 1u << CARD_REASON_POWER_CAP);
    assert_false(card_usage_is_contradicted(&usage));
    card_usage_describe_slowdowns(&usage, text, sizeof text);
    assert_string_equal(text, "power_cap 1 s");
}

TEST(slowdowns_are_named_the_longest_first)
{
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_POWER_CAP_SECONDS, 0, CARD_THERMAL_SECONDS, 10);
    add(&usage, CARD_POWER_CAP_SECONDS, 0.5, CARD_THERMAL_SECONDS, 22.5);
    card_usage_describe_slowdowns(&usage, text, sizeof text);
    assert_string_equal(text, "thermal 12.5 s, power_cap 500 ms");
}

TEST(gauges_have_extremes_and_a_mean)
{
    static struct card_usage usage;
    add(&usage, CARD_GRAPHICS_CLOCK, 1980, CARD_TEMPERATURE, 50);
    add(&usage, CARD_GRAPHICS_CLOCK, 1200, CARD_TEMPERATURE, 60);
    assert_true(card_usage_max(&usage, CARD_GRAPHICS_CLOCK) == 1980);
    assert_true(card_usage_min(&usage, CARD_GRAPHICS_CLOCK) == 1200);
    assert_true(card_usage_mean(&usage, CARD_GRAPHICS_CLOCK) == 1590);
    assert_true(card_usage_last(&usage, CARD_GRAPHICS_CLOCK) == 1200);
}

/* A link of a card that rests may be narrower, and one of a card that has just begun to work. */
TEST(a_link_is_narrower_where_the_card_has_worked_for_some_time)
{
    static const struct {
        double p_state; /* of three readings with the narrow link */
        int n_readings;
        const char *health;
    } rows[] = {{8, 5, ""}, {0, 2, ""}, {0, 4, "PCIe link from x16 to x8"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct card_usage usage = {0};
        char text[200];
        for (int j = 0; j < 5; j++)
            add(&usage, CARD_PCIE_WIDTH, 16, CARD_PERFORMANCE_STATE, 0);
        add(&usage, CARD_PCIE_WIDTH, 8, CARD_PERFORMANCE_STATE, 8);
        for (int j = 1; j < rows[i].n_readings; j++)
            add(&usage, CARD_PCIE_WIDTH, 8, CARD_PERFORMANCE_STATE, rows[i].p_state);
        card_usage_describe_health(&usage, text, sizeof text);
        assert_string_equal(text, rows[i].health);
    }
}

TEST(a_link_that_saves_power_by_its_generation_is_not_narrower)
{
    static struct card_usage usage;
    char text[200];
    for (int i = 0; i < 10; i++)
        add(&usage, CARD_PCIE_WIDTH, i < 5 ? 16 : 1, CARD_PCIE_GENERATION, i < 5 ? 4 : 1);
    card_usage_describe_health(&usage, text, sizeof text);
    assert_string_equal(text, "");
}

RUN_TESTS(NULL, NULL)
