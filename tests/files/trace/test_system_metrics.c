#include "files/trace/system_metrics.h"
#include "testing.h"

#include <math.h>
#include <string.h>

struct seen {
    int count;
    double values;
    struct system_reading last;
    char name[32], dimension[32];
    char warning[256];
};

static int take(void *user, const struct system_reading *reading, struct gput_error *error)
{
    struct seen *seen = user;
    (void)error;
    seen->count++;
    seen->values += isnan(reading->value) ? 0 : reading->value;
    seen->last = *reading;
    snprintf(seen->name, sizeof seen->name, "%s", reading->name);
    snprintf(seen->dimension, sizeof seen->dimension, "%s", reading->dimension);
    return GPUT_OK;
}

static void warn(void *user, const char *message)
{
    struct seen *seen = user;
    assert_string_equal(seen->warning, ""); /* one warning a file */
    snprintf(seen->warning, sizeof seen->warning, "%s", message);
}

static struct seen read_text(const char *text, size_t length, struct read_report *report)
{
    struct seen seen = {0};
    struct byte_source *source;
    *report = (struct read_report){.warn = warn, .user = &seen};
    assert_int_equal(byte_source_open_memory(text, length, &source, NULL), GPUT_OK);
    assert_int_equal(
        system_metrics_read_source(source, "s.json", take, &seen, report, NULL), GPUT_OK);
    return seen;
}

static const char two[] =
    "{\"Type\":\"cpu\",\"Name\":\"cpu0\",\"Dimension\":\"CPUUtilization\",\"Value\":4.5,"
    "\"NodeId\":\"algo-1\",\"Timestamp\":1591160699.4570894}\n"
    "{\"Type\": \"memory\", \"Dimension\": \"\", \"Value\": 2, \"NodeId\": \"algo-1\", "
    "\"Timestamp\": 1591160700}\n";

TEST(reads_readings)
{
    struct read_report report;
    struct seen seen = read_text(two, strlen(two), &report);
    assert_int_equal(seen.count, 2);
    assert_true(seen.values == 6.5);
    assert_int_equal(seen.last.time_us, INT64_C(1591160700000000));
    assert_string_equal(seen.name, ""); /* it lacks one */
    assert_string_equal(seen.warning, "");

    seen = read_text(two, strlen(two) - 1, &report); /* no line break at the end: still whole */
    assert_int_equal(seen.count, 2);
    assert_int_equal(report.truncated, 0);
}

TEST(keeps_whole_lines_before_a_cut)
{
    size_t first = strcspn(two, "\n");
    for (size_t length = 1; length < strlen(two) - 1; length++) {
        struct read_report report;
        struct seen seen = read_text(two, length, &report);
        assert_int_equal(seen.count, length >= first);
        bool between = length == first || length == first + 1;
        assert_int_equal(report.truncated, !between);
        assert_int_equal(report.damaged, 0);
    }
}

TEST(skips_and_counts_bad_lines)
{
    static const char text[] = "\n"
                               "{\"Type\":\"cpu\",\"Value\":1,\"Timestamp\":1}\n"
                               "garbage\n"
                               "   \n"
                               "{\"Type\":\"cpu\",\"Value\":1}\n"
                               "[1,2]\n"
                               "{\"Type\":\"cpu\",\"Value\":1,\"Timestamp\":9e9}\n"
                               "{\"Type\":\"cpu\",\"Value\":NaN,\"Timestamp\":2.0000019}\n"
                               "{\"Type\":\"cpu\"";
    struct read_report report;
    struct seen seen = read_text(text, strlen(text), &report);
    assert_int_equal(seen.count, 2);
    assert_true(isnan(seen.last.value));
    assert_int_equal(seen.last.time_us, 2000001); /* cut, not rounded */
    assert_int_equal(report.damaged, 4);          /* the last: not in any year to come */
    assert_int_equal(report.truncated, 1);
    assert_string_equal(seen.warning,
        "s.json ends too early; its 2 whole readings are used; 4 damaged lines were skipped");
}

RUN_TESTS(NULL, NULL)
