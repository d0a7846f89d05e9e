#include "analyze/energy_integral.h"

#include <math.h>

struct energy_integral energy_integrate(const int64_t *times_us, const uint32_t *segments,
    const double *values, size_t count, int64_t start_us, int64_t end_us)
{
    struct energy_integral integral = {.total = NAN, .max = NAN, .single = NAN};
    size_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]) || times_us[i] < start_us || times_us[i] > end_us)
            continue;
        if (integral.points == 0)
            integral.total = 0;
        if (integral.points > 0 && segments[last] == segments[i]) {
            double seconds = (double)(times_us[i] - times_us[last]) / 1e6;
            integral.total += seconds * (values[i] + values[last]) / 2;
            integral.seconds += seconds;
        } else {
            integral.segments++;
        }
        if (!(values[i] <= integral.max))
            integral.max = values[i];
        integral.single = values[i];
        integral.points++;
        last = i;
    }
    return integral;
}
