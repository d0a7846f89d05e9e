#include "quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *quantity_text(enum quantity quantity, double value, char *text)
{
    if (!isfinite(value)) {
        snprintf(text, QUANTITY_SIZE, "-");
        return text;
    }
    switch (quantity) {
    case QUANTITY_BYTES:
        return human_bytes_of_column(value, text);
    case QUANTITY_RATE:
        human_bytes_of_column(value, text);
        strncat(text, "/s", QUANTITY_SIZE - strlen(text) - 1);
        return text;
    case QUANTITY_WATTS:
        return human_watts_of_column(value, text);
    case QUANTITY_JOULES:
        return human_joules_of_column(value, text);
    case QUANTITY_SECONDS:
        return human_seconds_of_figure(value, text);
    case QUANTITY_CORES:
        snprintf(text, QUANTITY_SIZE, "%.2f", value / 100);
        return text;
    case QUANTITY_PERCENT:
        snprintf(text, QUANTITY_SIZE, "%.0f %%", value);
        return text;
    case QUANTITY_COUNT:
        break;
    }
    snprintf(text, QUANTITY_SIZE, "%.0f", value);
    return text;
}

const char *quantity_elapsed(double seconds, char *text)
{
    return quantity_text(QUANTITY_SECONDS, seconds >= 0 ? floor(seconds) : NAN, text);
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
