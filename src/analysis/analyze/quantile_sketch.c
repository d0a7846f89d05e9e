#include "analysis/analyze/quantile_sketch.h"

#include "base/array.h"
#include "base/doubles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LN_GROWTH 0.0099503308531680834 /* log(1.01) */
#define MIN_VALUE 1e-12
#define LARGEST 1e18

void quantile_sketch_finish(struct quantile_sketch *sketch)
{
    free(sketch->values);
    free(sketch->buckets);
    *sketch = (struct quantile_sketch){0};
}

/* Buckets are numbered in the order of their values: 0 is for zero, negative values are mirrored.
 */
static int key_of(double value)
{
    double size = fabs(value);
    if (size < MIN_VALUE)
        return 0;
    int key = 1 + (int)ceil(log(fmin(size, LARGEST) / MIN_VALUE) / LN_GROWTH);
    return value < 0 ? -key : key;
}

/* The geometric middle of a bucket. */
static double value_of(int key)
{
    if (key == 0)
        return 0;
    double upper = MIN_VALUE * exp((abs(key) - 1) * LN_GROWTH);
    double middle = upper * 2 / (1 + exp(LN_GROWTH));
    return key < 0 ? -middle : middle;
}

/* Reserves space for the bucket of that key. */
static int reach_key(struct quantile_sketch *sketch, int key, struct gput_error *error)
{
    int first = sketch->first_key, count = sketch->n_buckets;
    if (count == 0) {
        first = key - 8;
        count = 16;
    } else if (key < first) {
        int extra = first - key + count / 4;
        first -= extra;
        count += extra;
    } else if (key >= first + count) {
        count = key - first + 1 + count / 4;
    } else {
        return GPUT_OK;
    }
    uint64_t *buckets = calloc((size_t)count, sizeof *buckets);
    if (!buckets)
        return error_memory(error);
    if (sketch->n_buckets > 0)
        memcpy(buckets + (sketch->first_key - first), sketch->buckets,
            (size_t)sketch->n_buckets * sizeof *buckets);
    free(sketch->buckets);
    sketch->buckets = buckets;
    sketch->first_key = first;
    sketch->n_buckets = count;
    return GPUT_OK;
}

/* Counts a value in its bucket. */
static int count_value(struct quantile_sketch *sketch, double value, struct gput_error *error)
{
    if (value != sketch->last_value || !sketch->buckets) {
        int key = key_of(value);
        TRY(reach_key(sketch, key, error));
        sketch->last_value = value;
        sketch->last_key = key;
    }
    sketch->buckets[sketch->last_key - sketch->first_key]++;
    return GPUT_OK;
}

static int keep_value(struct quantile_sketch *sketch, double value, struct gput_error *error)
{
    if (!ARRAY_EXTEND(sketch->values, sketch->count))
        return error_memory(error);
    sketch->values[sketch->count] = value;
    return GPUT_OK;
}

int quantile_sketch_add(struct quantile_sketch *sketch, double value, struct gput_error *error)
{
    if (isnan(value))
        return GPUT_OK;
    if (sketch->count == QUANTILE_EXACT) {
        /* Move the values that were kept one by one into buckets. */
        for (size_t i = 0; i < QUANTILE_EXACT; i++)
            TRY(count_value(sketch, sketch->values[i], error));
        free(sketch->values);
        sketch->values = NULL;
    }
    if (sketch->count < QUANTILE_EXACT)
        TRY(keep_value(sketch, value, error));
    else
        TRY(count_value(sketch, value, error));
    sketch->min = sketch->count == 0 || value < sketch->min ? value : sketch->min;
    sketch->max = sketch->count == 0 || value > sketch->max ? value : sketch->max;
    sketch->count++;
    return GPUT_OK;
}

double quantile_sketch_get(struct quantile_sketch *sketch, double q)
{
    if (sketch->count == 0)
        return NAN;
    if (sketch->count <= QUANTILE_EXACT) {
        /* All values are kept: interpolate the quantile as numpy does. */
        qsort(sketch->values, sketch->count, sizeof *sketch->values, doubles_compare);
        double rank = q * (double)(sketch->count - 1);
        size_t low = (size_t)rank;
        double share = rank - (double)low;
        if (share == 0)
            return sketch->values[low];
        return sketch->values[low] + share * (sketch->values[low + 1] - sketch->values[low]);
    }
    uint64_t rank = (uint64_t)(q * (double)(sketch->count - 1));
    uint64_t below = 0;
    int bucket = 0;
    while (bucket < sketch->n_buckets - 1 && (below += sketch->buckets[bucket]) <= rank)
        bucket++;
    return fmin(fmax(value_of(sketch->first_key + bucket), sketch->min), sketch->max);
}

struct gput_percentiles quantile_sketch_percentiles(struct quantile_sketch *sketch)
{
    return (struct gput_percentiles){
        .p50 = quantile_sketch_get(sketch, 0.50),
        .p95 = quantile_sketch_get(sketch, 0.95),
        .p99 = quantile_sketch_get(sketch, 0.99),
    };
}

/* ---- Statistics of durations ---- */

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
