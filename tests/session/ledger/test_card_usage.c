#include "session/ledger/card_usage.h"
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

static void add(struct card_usage *usage, enum card_figure a, double a_value, enum card_figure b,
    double b_value)
{
    struct card_reading reading = reading_of(a, a_value, b, b_value);
    card_usage_add(usage, &reading);
}

static void nothing_is_known_before_a_reading(void **state)
{
    (void)state;
    static struct card_usage usage;
    char text[100];
    assert_true(isnan(card_usage_max(&usage, CARD_TEMPERATURE)));
    assert_true(isnan(card_usage_counted(&usage, CARD_POWER_CAP_SECONDS)));
    card_usage_describe_slowdowns(&usage, text, sizeof text);
    assert_string_equal(text, "");
    card_usage_describe_health(&usage, text, sizeof text);
    assert_string_equal(text, "");
}

static void counters_count_from_the_first_reading_and_over_a_reset(void **state)
{
    (void)state;
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

static void bytes_of_pcie_begin_anew_without_a_reset_of_the_card(void **state)
{
    (void)state;
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_PCIE_TRANSMITTED, 4e9, CARD_PCIE_RECEIVED, 1e9);
    add(&usage, CARD_PCIE_TRANSMITTED, 1e9, CARD_PCIE_RECEIVED, 2e9); /* after 2^32 */
    add(&usage, CARD_PCIE_TRANSMITTED, 2e9, CARD_PCIE_RECEIVED, 3e9);
    assert_true(card_usage_counted(&usage, CARD_PCIE_TRANSMITTED) == 2e9); /* at least */
    assert_true(card_usage_counted(&usage, CARD_PCIE_RECEIVED) == 2e9);
    assert_false(usage.was_reset);
    card_usage_describe_health(&usage, text, sizeof text);
    assert_string_equal(text, "");
}

static void a_counter_that_is_withdrawn_gives_nothing_and_readings_take_its_place(void **state)
{
    (void)state;
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_POWER_CAP_SECONDS, 5, CARD_SLOWDOWN_REASONS, 1u << CARD_REASON_POWER_CAP);
    add(&usage, CARD_POWER_CAP_SECONDS, 5, CARD_SLOWDOWN_REASONS, 1u << CARD_REASON_POWER_CAP);
    add(&usage, CARD_TEMPERATURE, 50, CARD_SLOWDOWN_REASONS, 1u << CARD_REASON_IDLE);
    assert_true(isnan(card_usage_counted(&usage, CARD_POWER_CAP_SECONDS)));
    card_usage_describe_slowdowns(&usage, text, sizeof text);
    assert_string_equal(text, "power_cap in 2 of 3 readings");
}

static void a_counter_that_stands_still_while_its_reason_is_given_does_not_say_nothing(void **state)
{
    (void)state;
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

static void slowdowns_are_named_the_longest_first(void **state)
{
    (void)state;
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_POWER_CAP_SECONDS, 0, CARD_THERMAL_SECONDS, 10);
    add(&usage, CARD_POWER_CAP_SECONDS, 0.5, CARD_THERMAL_SECONDS, 22.5);
    card_usage_describe_slowdowns(&usage, text, sizeof text);
    assert_string_equal(text, "thermal 12.5 s, power_cap 500 ms");
}

static void gauges_have_extremes_and_a_mean(void **state)
{
    (void)state;
    static struct card_usage usage;
    char text[200];
    add(&usage, CARD_GRAPHICS_CLOCK, 1980, CARD_PCIE_WIDTH, 16);
    add(&usage, CARD_GRAPHICS_CLOCK, 1200, CARD_PCIE_WIDTH, 8);
    assert_true(card_usage_max(&usage, CARD_GRAPHICS_CLOCK) == 1980);
    assert_true(card_usage_min(&usage, CARD_GRAPHICS_CLOCK) == 1200);
    assert_true(card_usage_mean(&usage, CARD_GRAPHICS_CLOCK) == 1590);
    assert_true(card_usage_last(&usage, CARD_GRAPHICS_CLOCK) == 1200);
    card_usage_describe_health(&usage, text, sizeof text);
    assert_string_equal(text, "PCIe link from x16 to x8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_before_a_reading),
        cmocka_unit_test(counters_count_from_the_first_reading_and_over_a_reset),
        cmocka_unit_test(bytes_of_pcie_begin_anew_without_a_reset_of_the_card),
        cmocka_unit_test(a_counter_that_is_withdrawn_gives_nothing_and_readings_take_its_place),
        cmocka_unit_test(
            a_counter_that_stands_still_while_its_reason_is_given_does_not_say_nothing),
        cmocka_unit_test(slowdowns_are_named_the_longest_first),
        cmocka_unit_test(gauges_have_extremes_and_a_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
