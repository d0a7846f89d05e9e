#include "views/plot/axis.h"

#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Units ---- */

#define MAX_EXPONENT 15

/* Returns the symbol of a unit, and whether decimal prefixes go with it. */
static const char *symbol_of(const char *unit)
{
    static const struct {
        const char *name, *symbol;
    } symbols[] = {{"bytes", "B"}, {"watts", "W"}, {"joules", "J"}, {"bytes_per_second", "B/s"}};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (strcmp(unit, symbols[i].name) == 0)
            return symbols[i].symbol;
    }
    return NULL;
}

/* Returns the power of a thousand below a value: 9 for 12e9. Other units have 0. */
static int exponent_of(double value, bool has_small)
{
    int exponent = 0;
    while (exponent < MAX_EXPONENT && fabs(value) >= 999.5 * pow(10, exponent))
        exponent += 3;
    while (has_small && exponent > -6 && value != 0 && fabs(value) < 0.9995 * pow(10, exponent))
        exponent -= 3;
    return exponent;
}

/* Returns the power of a thousand for numbers without a unit, 0 while they are short anyway. */
static int exponent_of_number(double value)
{
    double size = fabs(value);
    if (size < 1e-300 || (size < 99999.5 && size >= 0.001))
        return 0;
    return 3 * (int)floor(log10(size) / 3);
}

/* Sets the unit for labels up to that value. */
static void choose_unit(struct axis *axis, double largest, const char *unit)
{
    static const char prefixes[] = {'u', 'm', 0, 'k', 'M', 'G', 'T', 'P'};
    const char *symbol = symbol_of(unit);
    bool is_plain = strcmp(unit, "count") == 0;
    int exponent = symbol ? exponent_of(largest, *symbol != 'B') : exponent_of_number(largest);
    axis->scale = pow(10, exponent);
    if (symbol) {
        char prefix = prefixes[exponent / 3 + 2];
        snprintf(axis->unit, sizeof axis->unit, "%s%s",
            prefix == 'u' ? "\u00b5" : (char[]){prefix, 0}, symbol);
        return;
    }
    bool is_ratio = strcmp(unit, "ratio") == 0;
    const char *name = is_plain ? "" : is_ratio || strcmp(unit, "percent") == 0 ? "%" : unit;
    if (is_ratio)
        axis->scale = 0.01;
    if (is_ratio || exponent == 0)
        snprintf(axis->unit, sizeof axis->unit, "%.40s", name);
    else
        snprintf(axis->unit, sizeof axis->unit, "1e%d%s%.30s", exponent, *name ? " " : "", name);
}

/* ---- Ticks ---- */

/* Returns the smallest of 1, 2 and 5 times a power of ten that is at least `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    if (!(power > 0))
        return least;
    double digits = least / power;
    return power * (digits <= 1.0000001      ? 1
                       : digits <= 2.0000001 ? 2
                       : digits <= 5.0000001 ? 5
                                             : 10);
}

/* Places ticks at the multiples of the step between the ends. The step is in units of the
 * labels. */
static void place_ticks(struct axis *axis, double step)
{
    double first = ceil(axis->low / axis->scale / step - 1e-9);
    double last = floor(axis->high / axis->scale / step + 1e-9);
    axis->count = 0;
    for (double i = first; i <= last && axis->count < AXIS_MAX_TICKS; i++)
        axis->ticks[axis->count++] = i == 0 ? 0 : i * step * axis->scale;

    /* Count the decimals that multiples of the step need. */
    int decimals = 0;
    while (decimals < 12 && fabs(step - round(step)) > 1e-6 * step) {
        step *= 10;
        decimals++;
    }
    axis->decimals = decimals;
}

/* Smaller ranges cannot be divided into steps. */
#define MIN_RANGE 1e-250

void axis_make(struct axis *axis, double low, double high, const char *unit, size_t max_ticks)
{
    low = fmin(low, 0);
    high = fmax(high, 0);
    if (!(high - low > MIN_RANGE))
        high = low + (strcmp(unit, "percent") == 0 ? 100 : 1);
    choose_unit(axis, fmax(high, -low), unit);
    double least = (high - low) / axis->scale / (double)(max_ticks ? max_ticks : 1);
    double step = round_step(least);
    if (strcmp(unit, "count") == 0 && axis->scale == 1)
        step = fmax(step, 1);
    axis->low = floor(low / axis->scale / step + 1e-9) * step * axis->scale;
    axis->high = ceil(high / axis->scale / step - 1e-9) * step * axis->scale;
    place_ticks(axis, step);
}

/* ---- Time ---- */

static const struct time_unit {
    const char *name;
    double seconds;
    double from;      /* the shortest span that uses this unit, in seconds */
    double steps[10]; /* steps before those of 1, 2 and 5 times powers of ten; ended by 0 */
} time_units[] = {
    {"d", 86400, 4 * 86400, {0.25, 0.5}},
    {"h", 3600, 3 * 3600, {0.25, 0.5, 1, 2, 3, 6, 12, 24}},
    {"min", 60, 180, {0.5, 1, 2, 5, 10, 15, 30, 60}},
    {"s", 1, 1, {0}},
    {"ms", 1e-3, 1e-3, {0}},
    {"\u00b5s", 1e-6, 0, {0}},
};

/* Returns the smallest step of a unit that is at least `least`. */
static double time_step(const struct time_unit *unit, double least)
{
    for (const double *step = unit->steps; *step > 0; step++) {
        if (*step >= least * 0.9999999)
            return *step;
    }
    return round_step(least);
}

void axis_make_time(struct axis *axis, double start, double end, size_t max_ticks)
{
    const struct time_unit *unit = time_units;
    axis->low = start;
    axis->high = end > start ? end : start + 1;
    double span = axis->high - axis->low;
    while (span < unit->from)
        unit++;
    axis->scale = unit->seconds;
    snprintf(axis->unit, sizeof axis->unit, "%s", unit->name);
    place_ticks(axis, time_step(unit, span / axis->scale / (double)(max_ticks ? max_ticks : 1)));
}

/* ---- Labels ---- */

const char *axis_label(const struct axis *axis, double value, char *text)
{
    char number[NUMBER_TEXT_SIZE];
    size_t length = number_format_rounded(value / axis->scale, axis->decimals, number);
    const char *point = memchr(number, '.', length);
    size_t decimals = point ? length - (size_t)(point - number) - 1 : 0;
    if (point && axis->decimals == 0) {
        length = (size_t)(point - number);
        decimals = 0;
    }
    memcpy(text, number, length);
    for (; point && decimals < (size_t)axis->decimals; decimals++)
        text[length++] = '0';
    text[length] = '\0';
    return text;
}

const char *axis_value(double value, const char *unit, char *text)
{
    struct axis axis = {.decimals = 0};
    char number[AXIS_TEXT_SIZE];
    choose_unit(&axis, value, unit);
    double size = fabs(value / axis.scale);
    axis.decimals = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : 2;
    axis_label(&axis, value, number);
    if (strchr(number, '.')) {
        size_t length = strlen(number);
        while (number[length - 1] == '0')
            length--;
        number[number[length - 1] == '.' ? length - 1 : length] = '\0';
    }
    snprintf(text, AXIS_TEXT_SIZE, "%.22s%s%.22s", number, *axis.unit ? " " : "", axis.unit);
    return text;
}

double axis_place(const struct axis *axis, double value)
{
    return (value - axis->low) / (axis->high - axis->low);
}
