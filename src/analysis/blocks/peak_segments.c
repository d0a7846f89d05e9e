#include "analysis/blocks/peak_segments.h"

#include "base/order.h"
#include "files/marks/sub_tracking_file.h"

/* Makes space: the peak of two neighbors is that of the first, which is higher. It is not known any
 * more for a call that began between them. */
static void halve(struct peak_segments *peaks)
{
    size_t kept = 0;
    for (size_t i = 0; i < peaks->count; i += 2, kept++) {
        peaks->segments[kept] = peaks->segments[i];
        if (i + 1 < peaks->count)
            peaks->segments[kept].end_ns = peaks->segments[i + 1].end_ns;
    }
    peaks->count = kept;
}

void peak_segments_add(struct peak_segments *peaks, int64_t end_ns, int64_t bytes)
{
    while (peaks->count > 0 && peaks->segments[peaks->count - 1].bytes <= bytes)
        peaks->count--;
    if (peaks->count == PEAK_SEGMENTS_MAX)
        halve(peaks);
    peaks->segments[peaks->count++] = (struct peak_segment){end_ns, end_ns, bytes};
}

int64_t peak_segments_since(const struct peak_segments *peaks, int64_t time_ns)
{
    size_t at;
    PARTITION_POINT(at, peaks->count, peaks->segments[at].end_ns <= time_ns);
    bool is_known = at < peaks->count && time_ns < peaks->segments[at].first_end_ns;
    return is_known ? peaks->segments[at].bytes : SUB_TRACKING_UNKNOWN;
}
