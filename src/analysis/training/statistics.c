#include "analysis/training/statistics.h"

#include "base/array.h"
#include "base/doubles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct sorted_figures sorted_figures_of(size_t count)
{
    return (struct sorted_figures){.summary = {NAN, NAN, NAN, NAN, NAN, NAN}, .count = count};
}

/* Adds the share of the next value, in sorted order, to the p-th percentile. */
static void add_part_of(
    double *percentile, const struct sorted_figures *figures, double p, double value)
{
    double place = p / 100 * (double)(figures->count - 1);
    size_t below = (size_t)place;
    if (figures->next == below)
        *percentile = value;
    else if (figures->next == below + 1)
        *percentile += (value - *percentile) * (place - (double)below);
}

void sorted_figures_next(struct sorted_figures *figures, double value)
{
    struct figure_summary *summary = &figures->summary;
    add_part_of(&summary->p50, figures, 50, value);
    add_part_of(&summary->p95, figures, 95, value);
    add_part_of(&summary->p99, figures, 99, value);
    if (figures->next == 0)
        summary->min = value;
    summary->max = value;
    figures->sum += value;
    if (++figures->next == figures->count)
        summary->mean = figures->sum / (double)figures->count;
}

bool figure_set_add(struct figure_set *figures, double value)
{
    if (!ARRAY_EXTEND(figures->values, figures->count))
        return false;
    figures->values[figures->count++] = value;
    return true;
}

void figure_set_finish(struct figure_set *figures)
{
    free(figures->values);
    *figures = (struct figure_set){0};
}

struct figure_summary figure_set_summarize(struct figure_set *figures)
{
    struct sorted_figures sorted = sorted_figures_of(figures->count);
    if (figures->count > 1)
        qsort(figures->values, figures->count, sizeof *figures->values, doubles_compare);
    for (size_t i = 0; i < figures->count; i++)
        sorted_figures_next(&sorted, figures->values[i]);
    return sorted.summary;
}

void figure_summary_add_columns(
    struct gput_table *table, const char *prefix, const char *suffix, const char *unit)
{
    static const char *const what[] = {"mean", "min", "max", "p50", "p95", "p99"};
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%s%s", prefix, what[i], suffix);
        table_add_column(table, name, GPUT_COLUMN_DOUBLE);
        if (unit)
            table_set_unit(table, unit);
    }
}

void figure_summary_put(struct gput_table *table, const struct figure_summary *summary)
{
    table_put_double(table, summary->mean);
    table_put_double(table, summary->min);
    table_put_double(table, summary->max);
    table_put_double(table, summary->p50);
    table_put_double(table, summary->p95);
    table_put_double(table, summary->p99);
}
