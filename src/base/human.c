#include "base/human.h"

#include "base/text.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define LARGEST_PREFIX 5
#define N_FRACTIONS 3 /* of its prefixes */

/* Returns the decimals of three significant digits: 1.90, 25.3, 412. */
static int significant_decimals(double value)
{
    double size = fabs(value);
    return size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
}

/* Writes a value with the prefix that leaves one to three digits before its point. */
static const char *scaled(
    double value, int smallest_prefix, const char *unit, bool is_of_column, char *text)
{
    static const char *const prefixes[] = {"n", "µ", "m", "", "k", "M", "G", "T", "P"};
    int prefix = 0;
    if (!isfinite(value)) {
        text_fit(text, HUMAN_SIZE, "n/a");
        return text;
    }
    while (prefix > smallest_prefix && value != 0 && fabs(value) < 0.9995) {
        value *= 1000;
        prefix--;
    }
    while (prefix < LARGEST_PREFIX && fabs(value) >= 999.5) {
        value /= 1000;
        prefix++;
    }
    char number[HUMAN_SIZE];
    text_fit(number, sizeof number, "%.*f", significant_decimals(value), value);
    bool is_whole = smallest_prefix == 0 && prefix == 0; /* there is no half byte */
    if (!is_of_column || is_whole || value == 0) {
        /* Drop trailing zeros: "1.90" becomes "1.9", "4.00" becomes "4". */
        char *point = strchr(number, '.');
        size_t length = strlen(number);
        while (point && number[length - 1] == '0')
            number[--length] = '\0';
        if (point && number[length - 1] == '.')
            number[length - 1] = '\0';
    }

    prefix += N_FRACTIONS;
    const char *gap = *prefixes[prefix] || *unit ? " " : "";
    text_fit(text, HUMAN_SIZE, "%.20s%s%s%s", number, gap, prefixes[prefix], unit);
    return text;
}

const char *human_bytes(double bytes, char *text)
{
    return scaled(bytes, 0, "B", false, text);
}

const char *human_bytes_of_column(double bytes, char *text)
{
    return scaled(bytes, 0, "B", true, text);
}

const char *human_count(double count, char *text)
{
    return scaled(count, 0, "", false, text);
}

const char *human_joules(double joules, char *text)
{
    return scaled(joules, -1, "J", false, text);
}

const char *human_watts(double watts, char *text)
{
    return scaled(watts, -1, "W", false, text);
}

const char *human_joules_of_column(double joules, char *text)
{
    return scaled(joules, -1, "J", true, text);
}

const char *human_watts_of_column(double watts, char *text)
{
    return scaled(watts, -1, "W", true, text);
}

const char *human_grams(double grams, char *text)
{
    return scaled(grams, -1, "g", false, text);
}

const char *human_change(double percent, char *text)
{
    if (!isfinite(percent))
        text_fit(text, HUMAN_SIZE, "n/a");
    else if (percent != 0 && fabs(percent) < 0.05)
        text_fit(text, HUMAN_SIZE, "< 0.1 %%");
    else if (percent >= HUMAN_TIMES_PERCENT)
        text_fit(text, HUMAN_SIZE, percent < 895 ? "%.1f times" : "%.0f times", 1 + percent / 100);
    else
        text_fit(text, HUMAN_SIZE, "%+.1f %%", percent);
    return text;
}

const char *human_cores(double cores, char *text)
{
    if (!isfinite(cores))
        text_fit(text, HUMAN_SIZE, "n/a");
    else if (cores > 0 && cores < 0.01)
        text_fit(text, HUMAN_SIZE, "under 0.01");
    else if (cores < 0.995)
        text_fit(text, HUMAN_SIZE, "%g", round(cores * 100) / 100);
    else
        text_fit(text, HUMAN_SIZE, "%.1f", cores);
    return text;
}

const char *human_share(double percent, char *text)
{
    if (!isfinite(percent))
        text_fit(text, HUMAN_SIZE, "n/a");
    else if (percent > 0 && percent < 0.95)
        text_fit(text, HUMAN_SIZE, "under 1 %%");
    else
        text_fit(text, HUMAN_SIZE, "%.0f %%", percent);
    return text;
}

const char *human_percent(double percent, char *text)
{
    if (!isfinite(percent))
        text_fit(text, HUMAN_SIZE, "n/a");
    else
        text_fit(text, HUMAN_SIZE, fabs(percent) >= 999.5 ? "%.0f %%" : "%.3g %%", percent);
    return text;
}

/* Writes a time as seconds, or as the two largest of minutes, hours and days. */
static const char *duration(double seconds, bool is_of_column, char *text)
{
    if (!isfinite(seconds) || fabs(seconds) < 59.95)
        return scaled(seconds, -3, "s", is_of_column, text);
    double minutes = floor(seconds / 60 + 0.5 / 60);
    double hours = floor(seconds / 3600 + 0.5 / 60);
    double days = floor(seconds / 86400 + 0.5 / 24);
    if (minutes < 60)
        text_fit(text, HUMAN_SIZE, "%.0f min %.0f s", minutes,
            fmax(floor(seconds + 0.5) - 60 * minutes, 0));
    else if (hours < 24)
        text_fit(text, HUMAN_SIZE, "%.0f h %02.0f min", hours,
            fmax(floor(seconds / 60 + 0.5) - 60 * hours, 0));
    else
        text_fit(text, HUMAN_SIZE, "%.0f d %02.0f h", days,
            fmax(floor(seconds / 3600 + 0.5) - 24 * days, 0));
    return text;
}

const char *human_seconds(double seconds, char *text)
{
    return duration(seconds, false, text);
}

const char *human_seconds_of_column(double seconds, char *text)
{
    return duration(seconds, true, text);
}

/* "10 min 10 s" and "10 h 10 min" have eleven. */
const char *human_seconds_of_figure(double seconds, char *text)
{
    if (seconds >= 599.5 && seconds < 3599.5)
        text_fit(text, HUMAN_SIZE, "%.3g min", seconds / 60);
    else if (seconds >= 35970 && seconds < 86370)
        text_fit(text, HUMAN_SIZE, "%.3g h", seconds / 3600);
    else
        human_seconds(seconds, text);
    return text;
}

const char *human_of_unit(const char *unit, double value, char *text)
{
    static const struct {
        const char *unit;
        const char *(*write)(double value, char *text);
    } writers[] = {{"bytes", human_bytes}, {"seconds", human_seconds}, {"percent", human_percent},
        {"joules", human_joules}, {"watts", human_watts}, {"grams", human_grams}};
    for (size_t i = 0; unit && i < sizeof writers / sizeof *writers; i++) {
        if (strcmp(writers[i].unit, unit) == 0)
            return writers[i].write(value, text);
    }
    text_fit(text, HUMAN_SIZE, isfinite(value) ? "%.4g" : "n/a", value);
    return text;
}
