#include "base/number.h"
#include "decimal_commas.h"
#include "testing.h"

#include <math.h>
#include <string.h>

#define RANDOM_VALUES 20000

/* xorshift64: the same values on every run. */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static double double_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Doubles of every magnitude, and figures like those in tracking files. */
static double random_double(uint64_t *seed)
{
    uint64_t bits = next_random(seed);
    switch (bits % 5) {
    case 0:
        return (double)(bits >> 20) * 1e-9;
    case 1:
        return (double)(bits >> 40) / (double)(1 + bits % 997) * 100.0;
    case 2:
        return (double)(bits >> 13) / 1e6;
    default:
        return double_of_bits(next_random(seed));
    }
}

static void assert_same_double(double value, double expected, const char *text)
{
    if (isnan(expected) ? isnan(value) : memcmp(&value, &expected, sizeof value) == 0)
        return;
    fail_msg("\"%s\": %.17g is not %.17g", text, value, expected);
}

static void assert_text(double value, const char *expected)
{
    char text[NUMBER_TEXT_SIZE];
    assert_int_equal(number_format_double(value, text), strlen(expected));
    assert_string_equal(text, expected);
}

TEST(doubles_are_written_as_python_does)
{
    assert_text(0.0, "0.0");
    assert_text(-0.0, "-0.0");
    assert_text(1.0, "1.0");
    assert_text(0.1, "0.1");
    assert_text(-0.083, "-0.083");
    assert_text(67.254165504, "67.254165504");
    assert_text(873852928 * 1e-6, "873.8529279999999");
    assert_text(67254149120 * 1e-9, "67.25414912000001");
    assert_text(100.0 / 3, "33.333333333333336");
    assert_text(0.0001, "0.0001");
    assert_text(0.00012, "0.00012");
    assert_text(1e-5, "1e-05");
    assert_text(1.25e-5, "1.25e-05");
    assert_text(1e15, "1000000000000000.0");
    assert_text(123456789012345680.0, "1.2345678901234568e+17");
    assert_text(9999999999999998.0, "9999999999999998.0");
    assert_text(1e16, "1e+16");
    assert_text(1.5e16, "1.5e+16");
    assert_text(1e22, "1e+22");
    assert_text(1e23, "1e+23");
    assert_text(9007199254740993.0, "9007199254740992.0");
    assert_text(0x1p-44, "5.684341886080802e-14");
    assert_text(5e-324, "5e-324");
    assert_text(-5e-324, "-5e-324");
    assert_text(2.2250738585072014e-308, "2.2250738585072014e-308");
    assert_text(2.225073858507201e-308, "2.225073858507201e-308");
    assert_text(1.7976931348623157e308, "1.7976931348623157e+308");
    assert_text(-2.2250738585072014e-308, "-2.2250738585072014e-308");
    assert_text(INFINITY, "inf");
    assert_text(-INFINITY, "-inf");
    assert_text(NAN, "nan");
    assert_text(-NAN, "nan");
    assert_text(1745449609.982110, "1745449609.98211");
}

TEST(written_doubles_read_back_and_have_no_digit_too_many)
{
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < RANDOM_VALUES; i++) {
        double value = random_double(&seed);
        char text[NUMBER_TEXT_SIZE];
        size_t length = number_format_double(value, text);
        assert_true(length < NUMBER_TEXT_SIZE && text[length] == '\0');
        assert_same_double(strtod(text, NULL), value, text);

        int digits = 0, zeros = 0;
        for (const char *at = text; *at && *at != 'e'; at++) {
            if (*at < '0' || *at > '9' || (*at == '0' && digits == 0))
                continue;
            digits++;
            zeros = *at == '0' ? zeros + 1 : 0;
        }
        digits -= zeros;
        if (digits < 2 || isinf(value) || isnan(value))
            continue;
        char shorter[64];
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        if (strtod(shorter, NULL) == value)
            fail_msg("%s is not the shortest: %s", text, shorter);
    }
}

static void assert_rounded(double value, int decimals, const char *expected)
{
    char text[NUMBER_TEXT_SIZE];
    assert_int_equal(number_format_rounded(value, decimals, text), strlen(expected));
    assert_string_equal(text, expected);
}

TEST(rounding_is_that_of_python)
{
    assert_rounded(66.9999, 3, "67.0");
    assert_rounded(0.0834, 3, "0.083");
    assert_rounded(2.675, 2, "2.67"); /* the double is a little less */
    assert_rounded(1.005, 2, "1.0");
    assert_rounded(0.0005, 3, "0.001"); /* a little more than half */
    assert_rounded(0.0015, 3, "0.002");
    assert_rounded(0.0625, 3, "0.062"); /* exactly half: to even */
    assert_rounded(0.1875, 3, "0.188");
    assert_rounded(0.5, 0, "0.0");
    assert_rounded(1.5, 0, "2.0");
    assert_rounded(2.5, 0, "2.0");
    assert_rounded(-0.0001, 3, "-0.0");
    assert_rounded(-2.5, 0, "-2.0");
    assert_rounded(67254165504.0, 3, "67254165504.0");
    assert_rounded(4503599627370.4961, 3, "4503599627370.496");
    assert_rounded(1e300, 15, "1e+300");
    assert_rounded(1e-300, 15, "0.0");
    assert_rounded(INFINITY, 3, "inf");
    assert_rounded(NAN, 3, "nan");
}

TEST(rounding_agrees_with_printf)
{
    uint64_t seed = 1234567891011u;
    for (int i = 0; i < RANDOM_VALUES; i++) {
        double value = random_double(&seed);
        if (!(fabs(value) < 1e20))
            continue;
        int decimals = (int)(next_random(&seed) % 16);
        char text[64];
        snprintf(text, sizeof text, "%.*f", decimals, value);
        assert_same_double(number_round(value, decimals), strtod(text, NULL), text);
    }
}

static void assert_reads(const char *text, double expected, const char *rest)
{
    double value = 12345.0;
    const char *end = number_parse_double(text, text + strlen(text), &value);
    assert_non_null(end);
    assert_string_equal(end, rest);
    assert_same_double(value, expected, text);
}

TEST(doubles_are_read_up_to_their_end)
{
    assert_reads("0", 0.0, "");
    assert_reads("-0.0,", -0.0, ",");
    assert_reads("+1.5", 1.5, "");
    assert_reads(".5", 0.5, "");
    assert_reads("5.", 5.0, "");
    assert_reads("12e3x", 12000.0, "x");
    assert_reads("1e", 1.0, "e");
    assert_reads("1e+", 1.0, "e+");
    assert_reads("1.5E-3", 0.0015, "");
    assert_reads("1.2.3", 1.2, ".3");
    assert_reads("0x10", 0.0, "x10");
    assert_reads("NaN,", NAN, ",");
    assert_reads("inf", INFINITY, "");
    assert_reads("-Infinity", -INFINITY, "");
    assert_reads("infinit", INFINITY, "init");
    assert_reads("1e999999999999999999999", INFINITY, "");
    assert_reads("1e-999999999999999999999", 0.0, "");
    assert_reads("0e999999", 0.0, "");
    assert_reads("1745449609.9821098", 1745449609.9821098, "");
    assert_reads("5e-324", 5e-324, "");
    assert_reads("2.4703282292062327e-324", 0.0, "");
    assert_reads("2.4703282292062328e-324", 5e-324, "");
    assert_reads("2.2250738585072011e-308", 2.2250738585072011e-308, "");
    assert_reads("1.7976931348623158e308", 1.7976931348623157e308, "");
    assert_reads("1.7976931348623159e308", INFINITY, "");
    assert_reads("9007199254740993", 9007199254740992.0, "");
    assert_reads("9007199254740993.00000000000000000000001", 9007199254740994.0, "");
    assert_reads("9007199254740993.00000000000000000000000", 9007199254740992.0, "");
}

TEST(other_texts_are_refused)
{
    static const char *const texts[] = {
        "", "-", "+", ".", "-.", "e5", " 1", "abc", "na", "in", "--1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        double value;
        assert_null(number_parse_double(texts[i], texts[i] + strlen(texts[i]), &value));
    }
}

TEST(reading_never_passes_the_end)
{
    const char *text = "123.4567890123456e5inf";
    double value;
    assert_ptr_equal(number_parse_double(text, text + 2, &value), text + 2);
    assert_true(value == 12.0);
    assert_ptr_equal(number_parse_double(text, text + 6, &value), text + 6);
    assert_true(value == 123.45);
    assert_ptr_equal(number_parse_double(text, text + 18, &value), text + 17);
    assert_null(number_parse_double(text + 19, text + 21, &value));
}

/* Parsers go wrong with more digits than a double has, with ties among them. */
TEST(reading_agrees_with_strtod)
{
    uint64_t seed = 777777777777u;
    for (int i = 0; i < RANDOM_VALUES; i++) {
        double value = fabs(random_double(&seed));
        uint64_t bits = next_random(&seed);
        char text[1200];
        if (isnan(value) || isinf(value))
            continue;
        if (bits % 4 == 0) /* exactly between two doubles */
            snprintf(text, sizeof text, "%.800Le",
                ((long double)value + (long double)nextafter(value, INFINITY)) / 2);
        else if (bits % 4 == 1)
            snprintf(text, sizeof text, "%.*f", (int)(bits >> 10) % 30, fmod(value, 1e30));
        else
            snprintf(text, sizeof text, "%.*e", (int)(bits >> 10) % 25, value);
        if (bits % 32 == 0) { /* a little above the middle */
            char *exponent = strchr(text, 'e');
            if (exponent) {
                memmove(exponent + 1, exponent, strlen(exponent) + 1);
                *exponent = '1';
            }
        }
        assert_reads(text, strtod(text, NULL), "");
    }
}

TEST(the_locale_does_not_matter)
{
    char text[NUMBER_TEXT_SIZE];
    if (!decimal_commas_set())
        SKIP("this libc has no locale with a decimal comma");
    number_format_double(1.5, text);
    assert_string_equal(text, "1.5");
    assert_reads("9007199254740993.00000000000000000000001", 9007199254740994.0, "");
    setlocale(LC_NUMERIC, "C");
}

TEST(whole_numbers_are_written_and_read)
{
    static const int64_t values[] = {0, 7, 10, 99, 100, 12345, -1, -100, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[NUMBER_TEXT_SIZE], expected[NUMBER_TEXT_SIZE];
        size_t length = number_format_int64(values[i], text);
        snprintf(expected, sizeof expected, "%lld", (long long)values[i]);
        assert_string_equal(text, expected);
        int64_t value;
        assert_ptr_equal(number_parse_int64(text, text + length, &value), text + length);
        assert_true(value == values[i]);
    }
}

TEST(whole_numbers_that_do_not_fit_are_refused)
{
    static const char *const texts[] = {"", "-", "+1", "x", "9223372036854775808",
        "-9223372036854775809", "99999999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int64_t value;
        assert_null(number_parse_int64(texts[i], texts[i] + strlen(texts[i]), &value));
    }
    uint64_t whole;
    const char *largest = "18446744073709551615";
    assert_non_null(number_parse_uint64(largest, largest + 20, &whole));
    assert_true(whole == UINT64_MAX);
    assert_null(number_parse_uint64("18446744073709551616", largest + 20, &whole));
    assert_null(number_parse_uint64("-1", largest + 2, &whole));
}

TEST(a_sum_is_known_once_a_part_of_it_is)
{
    double sum = NAN;
    number_add_known(&sum, NAN);
    assert_true(isnan(sum));
    number_add_known(&sum, 2);
    number_add_known(&sum, NAN);
    number_add_known(&sum, 3);
    assert_true(sum == 5);
}

TEST(whole_texts_are_numbers_or_are_not)
{
    static const char *const texts[] = {"", "12x", " 12", "12 ", "0x10"};
    double number;
    int64_t whole;
    assert_true(number_read_double("-2.5", &number) && number == -2.5);
    assert_true(number_read_int64("-25", &whole) && whole == -25);
    assert_false(number_read_int64("2.5", &whole));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(number_read_double(texts[i], &number) || number_read_int64(texts[i], &whole));
}

RUN_TESTS(NULL, NULL)
