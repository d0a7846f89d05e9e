#include "session/ledger/usage.h"

#include "model/measurement_list.h"

#include <math.h>

void usage_init(struct usage *usage)
{
    *usage = (struct usage){0};
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++)
        usage->max[i] = usage->first[i] = usage->last[i] = NAN;
}

void usage_add(struct usage *usage, const struct gput_sample *sample, double seconds)
{
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++) {
        double value = sample->values[i];
        usage->last[i] = value;
        if (isnan(value))
            continue;
        if (isnan(usage->first[i]))
            usage->first[i] = value;
        if (!(value <= usage->max[i]))
            usage->max[i] = value;
        usage->weighted[i] += value * seconds;
        usage->seconds[i] += seconds;
        if (seconds > 0) {
            usage->sum[i] += value;
            usage->count[i]++;
        }
    }
}

double usage_mean(const struct usage *usage, enum gput_measurement_id id)
{
    if (usage->count[id] == 0)
        return usage->first[id];
    if (measurement_curves[id].is_of_interval)
        return usage->weighted[id] / usage->seconds[id];
    return usage->sum[id] / (double)usage->count[id];
}
