#include "base/nearest.h"

#include "testing.h"

#include <string.h>

static void assert_near(const char *words, const char *word, const char *expected)
{
    char text[GPUT_NEAREST_SIZE];
    int count = gput_nearest_words(words, word, text);
    assert_string_equal(text, expected);
    assert_int_equal(count, !expected[0] ? 0 : strstr(expected, " or ") ? 2 : 1);
}

TEST(near_are_those_of_which_a_third_or_less_is_wrong)
{
    assert_near("text json csv", "jsno", "json");  /* two swapped */
    assert_near("text json csv", "jso", "json");   /* one is missing */
    assert_near("text json csv", "jsonn", "json"); /* one too much */
    assert_near("text json csv", "xml", "");
    assert_near("text json csv", "", "");
    assert_near("", "json", "");
}

TEST(a_short_word_has_one_slip)
{
    assert_near("--live --ram --gb --report", "--lives", "--live");
    assert_near("--live --ram --gb --report", "--time", "");
    assert_near("--live --ram --gb --report", "--name", "");
    assert_near("--live --ram --gb --report", "--db", "");
    assert_near("--live --ram --gb --report", "--repeat", "");
    assert_near("energy analyze", "energie", "energy");
}

TEST(near_is_what_begins_so)
{
    assert_near("kilowatt-hours joules", "kil", "kilowatt-hours");
    assert_near("kilowatt-hours joules", "ki", "");
}

TEST(the_nearest_is_first_and_two_are_enough)
{
    assert_near("restarts restart stop", "restrat", "restart or restarts");
    assert_near("bytes gigabytes megabytes", "gigabyts", "gigabytes");
    assert_near("min max mean std", "maxx", "max");
}

TEST(a_comma_divides_words_too)
{
    assert_near("bytes, gigabytes, kilobytes", "gigabyts", "gigabytes");
}

TEST(long_words_are_near_to_none)
{
    assert_near("a-word-that-has-more-than-thirty-two-bytes", "a-word-that", "");
    assert_near("smdataparallel_timeline.json", "smdataparallel_timeline.jso",
        "smdataparallel_timeline.json");
}

TEST(a_refused_word_is_answered_with_all_valid_ones)
{
    struct gput_error error;
    assert_int_equal(
        nearest_refuse("days, hours", "hous", "time unit", &error), GPUT_ERROR_INVALID);
    assert_string_equal(error.message,
        "\"hous\" is not a valid time unit: did you mean hours? Valid values are days, hours");
    nearest_refuse("days, hours", "x", "time unit", &error);
    assert_string_equal(
        error.message, "\"x\" is not a valid time unit. Valid values are days, hours");
}

RUN_TESTS(NULL, NULL)
