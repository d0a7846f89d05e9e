#include "options/numbers.h"

#include <errno.h>
#include <stdlib.h>

const char *numbers_parse_whole(const char *text, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end == text || errno != 0 ? NULL : end;
}

bool numbers_read_whole(const char *text, int64_t *number)
{
    const char *end = numbers_parse_whole(text, number);
    return end && *end == '\0';
}

bool numbers_read_decimal(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0';
}
