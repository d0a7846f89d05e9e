#include "profile/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool figures_add(struct figures *figures, double value)
{
    if (figures->count == figures->capacity) {
        size_t capacity = figures->capacity ? figures->capacity * 2 : 16;
        double *values = realloc(figures->values, capacity * sizeof *values);
        if (!values)
            return false;
        figures->values = values;
        figures->capacity = capacity;
    }
    figures->values[figures->count++] = value;
    return true;
}

void figures_finish(struct figures *figures)
{
    free(figures->values);
    *figures = (struct figures){0};
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

void figures_sort(struct figures *figures)
{
    if (figures->count > 1)
        qsort(figures->values, figures->count, sizeof *figures->values, compare);
}

double figures_mean(const struct figures *figures)
{
    double sum = 0;
    for (size_t i = 0; i < figures->count; i++)
        sum += figures->values[i];
    return figures->count > 0 ? sum / (double)figures->count : NAN;
}

double figures_percentile(const struct figures *figures, double p)
{
    if (figures->count == 0)
        return NAN;
    double place = p / 100 * (double)(figures->count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= figures->count)
        return figures->values[figures->count - 1];
    double low = figures->values[below], high = figures->values[below + 1];
    return low + (high - low) * (place - (double)below);
}

void figures_add_columns(struct gput_table *table, const char *prefix, const char *suffix)
{
    static const char *const what[] = {"mean", "min", "max", "p50", "p95", "p99"};
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%s%s", prefix, what[i], suffix);
        table_add_column(table, name, GPUT_COLUMN_DOUBLE);
    }
}

void figures_put(struct gput_table *table, struct figures *figures)
{
    figures_sort(figures);
    table_put_double(table, figures_mean(figures));
    table_put_double(table, figures_percentile(figures, 0));
    table_put_double(table, figures_percentile(figures, 100));
    table_put_double(table, figures_percentile(figures, 50));
    table_put_double(table, figures_percentile(figures, 95));
    table_put_double(table, figures_percentile(figures, 99));
}
