#include "process/peak_sums.h"

#include "base/clock.h"
#include "process/bytes.h"

#include <math.h>

#define FIRST_STEP_NS (NS_PER_SECOND / 1000)

static void add_to(struct peak_sum *sum, const struct peak_sum *peak)
{
    sum->bytes += peak->bytes;
    sum->unbounded += peak->unbounded;
}

/* The larger bound of two steps bounds the step that joins them. */
static void double_steps(struct peak_sums *sums)
{
    for (int i = 0; i < PEAK_SUMS_STEPS; i++) {
        struct peak_sum both = {0};
        if (2 * i < PEAK_SUMS_STEPS) {
            const struct peak_sum *a = &sums->steps[2 * i], *b = &sums->steps[2 * i + 1];
            both = (struct peak_sum){
                bytes_max(a->bytes, b->bytes), bytes_max(a->unbounded, b->unbounded)};
        }
        sums->steps[i] = both;
    }
    sums->step_ns *= 2;
}

static int64_t step_of(const struct peak_sums *sums, int64_t time_ns)
{
    return time_ns > sums->begin_ns ? (time_ns - sums->begin_ns) / sums->step_ns : 0;
}

void peak_sums_begin(struct peak_sums *sums, int64_t begin_ns)
{
    if (sums->step_ns == 0)
        *sums = (struct peak_sums){.begin_ns = begin_ns, .step_ns = FIRST_STEP_NS};
}

void peak_sums_add(
    struct peak_sums *sums, int64_t start_ns, int64_t end_ns, const struct peak_sum *peak)
{
    peak_sums_begin(sums, start_ns);
    while (step_of(sums, end_ns) >= PEAK_SUMS_STEPS)
        double_steps(sums);
    for (int64_t i = step_of(sums, start_ns), last = step_of(sums, end_ns); i <= last; i++)
        add_to(&sums->steps[i], peak);
}

void peak_sums_add_always(struct peak_sums *sums, const struct peak_sum *peak)
{
    add_to(&sums->always, peak);
}

static double bound_of(const struct peak_sum *sum, double unbounded_bytes)
{
    return (double)sum->bytes + (sum->unbounded ? (double)sum->unbounded * unbounded_bytes : 0);
}

double peak_sums_upper_bound(
    const struct peak_sums *sums, const struct peak_sum *others, double unbounded_bytes)
{
    struct peak_sum always = sums->always;
    if (others)
        add_to(&always, others);
    double highest = bound_of(&always, unbounded_bytes);
    for (int i = 0; i < PEAK_SUMS_STEPS && !isnan(highest); i++) {
        struct peak_sum sum = sums->steps[i];
        if (sum.bytes == 0 && sum.unbounded == 0)
            continue;
        add_to(&sum, &always);
        double bytes = bound_of(&sum, unbounded_bytes);
        if (!(bytes <= highest))
            highest = bytes;
    }
    return highest;
}
