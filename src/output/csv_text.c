#include "output/csv_text.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

void csv_text_append(struct str *text, const char *value)
{
    if (!strpbrk(value, ",\"\r\n")) {
        str_append(text, value);
        return;
    }
    str_append_char(text, '"');
    for (; *value; value++) {
        if (*value == '"')
            str_append_char(text, '"');
        str_append_char(text, *value);
    }
    str_append_char(text, '"');
}

void csv_text_append_number(struct str *text, double value)
{
    char number[NUMBER_TEXT_SIZE];
    str_append_char(text, ',');
    if (!isnan(value))
        str_append_bytes(text, number, number_format_double(value, number));
}

void csv_text_append_count(struct str *text, bool known, int64_t value)
{
    char number[NUMBER_TEXT_SIZE];
    str_append_char(text, ',');
    if (known)
        str_append_bytes(text, number, number_format_int64(value, number));
}
