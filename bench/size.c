/*
 * How often later runs fit in what `gpu-tracker size` asks for, and how much of it they do not use:
 * beside the rule of Kubernetes' vertical autoscaler (the 90th percentile and 15 %), and "the
 * highest x 1.2". The series are made up, from a fixed seed.
 */
#include "../tests/analysis/size/families.h"

#include <stdio.h>

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* The quantile of what was seen, killed runs as they are, times a factor. */
static double scaled(const struct size_value *values, size_t count, double quantile, double factor)
{
    double sorted[MAX_RUNS];
    for (size_t i = 0; i < count; i++)
        sorted[i] = values[i].value;
    qsort(sorted, count, sizeof *sorted, by_value);
    return sorted[(size_t)ceil(quantile * (double)count) - 1] * factor;
}

static double autoscaler(const struct size_value *values, size_t count, double input)
{
    (void)input;
    return scaled(values, count, 0.9, 1.15);
}

static double highest(const struct size_value *values, size_t count, double input)
{
    (void)input;
    return scaled(values, count, 1, 1.2);
}

int main(void)
{
    static const struct {
        const char *name;
        family_rule *rule;
    } rules[] = {{"size", bound_of_size}, {"p90 x 1.15", autoscaler}, {"highest x 1.2", highest}};
    const size_t counts[] = {5, 10, 20, 50, 100};
    puts("| series | runs | size: fit, unused | p90 x 1.15 | highest x 1.2 |\n"
         "| --- | --- | --- | --- | --- |");
    for (int family = 0; family < FAMILY_COUNT; family++) {
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            printf("| %s | %zu |", family_names[family], counts[i]);
            for (size_t rule = 0; rule < sizeof rules / sizeof *rules; rule++) {
                struct coverage coverage =
                    measure_coverage((enum family)family, counts[i], 4000, rules[rule].rule);
                printf(" %.1f %%, %.0f %% |", 100 * coverage.share, 100 * coverage.waste);
            }
            putchar('\n');
        }
    }
    return 0;
}
