#include "analysis/analyze/duration_statistics.h"

#include <math.h>

void duration_statistics_finish(struct duration_statistics *statistics)
{
    quantile_sketch_finish(&statistics->sketch);
}

int duration_statistics_add(struct duration_statistics *statistics, double seconds, bool quantiles,
    struct gput_error *error)
{
    struct duration_statistics *s = statistics;
    if (s->count++ == 0)
        s->origin = s->min = s->max = seconds;
    double x = seconds - s->origin;
    double before = x - s->mean;
    s->mean += before / (double)s->count;
    s->squares += before * (x - s->mean);
    s->min = fmin(s->min, seconds);
    s->max = fmax(s->max, seconds);
    double total = s->total + seconds;
    s->total_error +=
        s->total >= seconds ? (s->total - total) + seconds : (seconds - total) + s->total;
    s->total = total;
    return quantiles ? quantile_sketch_add(&s->sketch, seconds, error) : GPUT_OK;
}

struct gput_statistics duration_statistics_get(const struct duration_statistics *statistics)
{
    if (statistics->count == 0)
        return (struct gput_statistics){NAN, NAN, NAN, NAN, 0};
    return (struct gput_statistics){
        .min = statistics->min,
        .max = statistics->max,
        .mean = duration_statistics_total(statistics) / (double)statistics->count,
        .std = sqrt(statistics->squares / (double)statistics->count),
    };
}

double duration_statistics_total(const struct duration_statistics *statistics)
{
    return statistics->total + statistics->total_error;
}
