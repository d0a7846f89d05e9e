#include "files/marks/sub_tracking_columns.h"
#include "testing.h"

#include <stdlib.h>
#include <string.h>

/* Some of them halfway between two doubles, where rounding is to the even one. */
static const char *const times[] = {"1745449609.7528222", "1745449613.0", "1745449610.000000119",
    "1745449610.00000012", "0.1", "262143.999999999", "262144.000000001", "8589934591.999999999",
    "8589934592.5", "2147483647.999999999", "1745449609.123046875", "1048576.000000000"};

TEST(times_read_as_the_nearest_double_and_exact_nanoseconds)
{
    for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
        double seconds;
        int64_t ns;
        const char *end = times[i] + strlen(times[i]);
        assert_ptr_equal(sub_tracking_parse_timestamp(times[i], end, &seconds, &ns), end);
        assert_true(seconds == strtod(times[i], NULL));
        assert_true(sub_tracking_seconds_of_ns(ns) == seconds);
        char text[SUB_TRACKING_TIME_TEXT_SIZE];
        sub_tracking_format_ns(ns, text);
        assert_true(strtod(text, NULL) == seconds);
        assert_memory_equal(text, times[i], strlen(text)); /* except trailing zeroes */
    }
}

TEST(every_nanosecond_reads_as_the_nearest_double)
{
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        int64_t ns = (int64_t)(random >> 1);
        char text[SUB_TRACKING_TIME_TEXT_SIZE];
        sub_tracking_format_ns(ns, text);
        assert_true(sub_tracking_seconds_of_ns(ns) == strtod(text, NULL));
    }
}

TEST(unusual_forms_of_times_are_read_too)
{
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {{"1.7e9", INT64_C(1700000000000000000)}, {"-2.5", INT64_C(-2500000000)},
        {"1745449609", INT64_C(1745449609000000000)}, {"1745449609.", INT64_C(1745449609000000000)},
        {"1745449609.12345678951", INT64_C(1745449609123456790)}, {"1.5e-3", 1500000}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double seconds;
        int64_t ns;
        const char *end = cases[i].text + strlen(cases[i].text);
        assert_ptr_equal(sub_tracking_parse_timestamp(cases[i].text, end, &seconds, &ns), end);
        assert_int_equal(ns, cases[i].ns);
        assert_true(seconds == strtod(cases[i].text, NULL));
    }
}

TEST(other_texts_are_refused)
{
    static const char *const cases[] = {"", ".", "-", "nan", "inf", "1e10", "99999999999", "soon"};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double seconds;
        int64_t ns;
        assert_null(
            sub_tracking_parse_timestamp(cases[i], cases[i] + strlen(cases[i]), &seconds, &ns));
    }
}

RUN_TESTS(NULL, NULL)
