#include "analysis/blocks/process_peak.h"
#include "files/marks/sub_tracking_file.h"
#include "testing.h"

static struct peak_segments peaks;

static int clear(void **state)
{
    (void)state;
    peaks.count = 0;
    return 0;
}

TEST_WITH(a_call_has_the_highest_of_its_segments_and_no_earlier_one, clear, NULL)
{
    peak_segments_add(&peaks, 10, 900);
    peak_segments_add(&peaks, 20, 300);
    peak_segments_add(&peaks, 30, 500);
    peak_segments_add(&peaks, 40, 200);
    assert_int_equal(peak_segments_since(&peaks, 0), 900);
    assert_int_equal(peak_segments_since(&peaks, 9), 900);
    assert_int_equal(peak_segments_since(&peaks, 10), 500);
    assert_int_equal(peak_segments_since(&peaks, 25), 500);
    assert_int_equal(peak_segments_since(&peaks, 30), 200);
    assert_int_equal(peak_segments_since(&peaks, 40), SUB_TRACKING_UNKNOWN);
}

TEST_WITH(segments_below_a_later_one_are_dropped, clear, NULL)
{
    for (int i = 1; i <= 100000; i++)
        peak_segments_add(&peaks, i, i);
    assert_int_equal(peaks.count, 1);
    assert_int_equal(peak_segments_since(&peaks, 0), 100000);
}

/* Ever lower ones: outer calls keep their peak, others are right or unknown.
 */
TEST_WITH(of_too_many_segments_neighbors_become_one, clear, NULL)
{
    const int64_t n = 3 * PEAK_SEGMENTS_MAX;
    unsigned known = 0;
    for (int64_t i = 1; i <= n; i++)
        peak_segments_add(&peaks, i, 100000 - i);
    assert_true(peaks.count <= PEAK_SEGMENTS_MAX);
    assert_int_equal(peak_segments_since(&peaks, 0), 99999);
    for (int64_t start = 0; start < n; start++) {
        int64_t bytes = peak_segments_since(&peaks, start);
        assert_true(bytes == SUB_TRACKING_UNKNOWN || bytes == 100000 - (start + 1));
        known += bytes != SUB_TRACKING_UNKNOWN;
    }
    assert_true(known >= PEAK_SEGMENTS_MAX / 2);
    assert_int_equal(peak_segments_since(&peaks, n - 1), 100000 - n);
}

RUN_TESTS(NULL, NULL)
