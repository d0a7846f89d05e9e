#include "files/power/recording_date.h"

#include "base/clock.h"

#include <stdio.h>
#include <time.h>

#define US_PER_SECOND INT64_C(1000000)

/* Parses digits of a fraction as microseconds; further ones are dropped. */
static const char *parse_fraction(const char *text, int64_t *microseconds)
{
    int64_t weight = US_PER_SECOND / 10;
    *microseconds = 0;
    for (; *text >= '0' && *text <= '9'; text++, weight /= 10)
        *microseconds += (*text - '0') * weight;
    return text;
}

bool recording_date_parse(const char *text, int64_t *microseconds)
{
    struct tm date = {0};
    int length = 0;
    int64_t fraction = 0;
    char between;
    if (sscanf(text, "%4d-%2d-%2d%c%2d:%2d:%2d%n", &date.tm_year, &date.tm_mon, &date.tm_mday,
            &between, &date.tm_hour, &date.tm_min, &date.tm_sec, &length) != 7 ||
        (between != ' ' && between != 'T'))
        return false;
    if (date.tm_mon < 1 || date.tm_mon > 12 || date.tm_mday < 1 || date.tm_mday > 31 ||
        date.tm_hour < 0 || date.tm_hour > 23 || date.tm_min < 0 || date.tm_min > 59 ||
        date.tm_sec < 0 || date.tm_sec > 60)
        return false;
    const char *rest = text + length;
    if (*rest == '.')
        rest = parse_fraction(rest + 1, &fraction);
    if (*rest != '\0' && *rest != '+' && *rest != '-' && *rest != 'Z')
        return false;
    date.tm_year -= 1900;
    date.tm_mon -= 1;
    *microseconds = (int64_t)timegm(&date) * US_PER_SECOND + fraction;
    return true;
}

void recording_date_format(int64_t microseconds, char text[RECORDING_DATE_SIZE])
{
    int64_t fraction = microseconds % US_PER_SECOND;
    if (fraction < 0)
        fraction += US_PER_SECOND;
    time_t seconds = (time_t)((microseconds - fraction) / US_PER_SECOND);
    struct tm date;
    gmtime_r(&seconds, &date);
    size_t length = strftime(text, RECORDING_DATE_SIZE, "%Y-%m-%d %H:%M:%S", &date);
    if (fraction)
        snprintf(text + length, RECORDING_DATE_SIZE - length, ".%06d", (int)fraction);
}

int64_t recording_date_of_epoch_ns(int64_t ns)
{
    time_t seconds = (time_t)(ns / NS_PER_SECOND);
    struct tm date;
    localtime_r(&seconds, &date);
    return ns / 1000 + (int64_t)date.tm_gmtoff * US_PER_SECOND;
}
