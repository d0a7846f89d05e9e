#include "quantity.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *three_digits(double value, const char *unit, char *text)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    size_t prefix = 0;
    while (fabs(value) >= 999.5 && prefix + 1 < sizeof prefixes / sizeof prefixes[0]) {
        value /= 1000;
        prefix++;
    }
    bool is_whole = prefix == 0 && unit[0] == 'B';
    int decimals = is_whole || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text, QUANTITY_SIZE, "%.*f %s%s", decimals, value, prefixes[prefix], unit);
    return text;
}

const char *quantity_text(enum quantity quantity, double value, char *text)
{
    if (!isfinite(value)) {
        snprintf(text, QUANTITY_SIZE, "-");
        return text;
    }
    switch (quantity) {
    case QUANTITY_BYTES:
        return three_digits(value, "B", text);
    case QUANTITY_WATTS:
        return three_digits(value, "W", text);
    case QUANTITY_JOULES:
        return three_digits(value, "J", text);
    case QUANTITY_CORES:
        snprintf(text, QUANTITY_SIZE, "%.2f", value / 100);
        return text;
    case QUANTITY_PERCENT:
        snprintf(text, QUANTITY_SIZE, "%.0f %%", value);
        return text;
    case QUANTITY_SECONDS:
        return fabs(value) < 59.95 ? three_digits(value, "s", text)
                                   : quantity_duration(value, text);
    case QUANTITY_COUNT:
        break;
    }
    snprintf(text, QUANTITY_SIZE, "%.0f", value);
    return text;
}

const char *quantity_duration(double seconds, char *text)
{
    if (!(seconds >= 0) || seconds > 1e10) {
        snprintf(text, QUANTITY_SIZE, "-");
        return text;
    }
    long whole = (long)seconds, minutes = whole / 60, hours = whole / 3600;
    if (whole < 60)
        snprintf(text, QUANTITY_SIZE, "%ld s", whole);
    else if (hours < 1)
        snprintf(text, QUANTITY_SIZE, "%ld:%02ld", minutes, whole % 60);
    else if (hours < 24)
        snprintf(text, QUANTITY_SIZE, "%ld:%02ld:%02ld", hours, minutes % 60, whole % 60);
    else
        snprintf(text, QUANTITY_SIZE, "%ld d %02ld:%02ld", hours / 24, hours % 24, minutes % 60);
    return text;
}

void quantity_share(enum quantity quantity, double value, double full, char *text, size_t size)
{
    char part[QUANTITY_SIZE], whole[QUANTITY_SIZE];
    quantity_text(quantity, value, part);
    quantity_text(quantity, full, whole);
    char *unit = strchr(part, ' ');
    const char *other = strchr(whole, ' ');
    if (unit && other && strcmp(unit, other) == 0)
        *unit = '\0';
    snprintf(text, size, "%s of %s", part, whole);
}
