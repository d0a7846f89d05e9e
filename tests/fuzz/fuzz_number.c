/* Numbers: never past the end, the same as strtod, and what is written reads back. */
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = malloc(size ? size : 1); /* no NUL after it: reading on is seen */
    if (size)
        memcpy(exact, data, size);
    double value;
    const char *end = number_parse_double(exact, exact + size, &value);
    if (end) {
        size_t length = (size_t)(end - exact);
        char *text = calloc(1, length + 1);
        memcpy(text, exact, length);
        double expected = strtod(text, NULL);
        if (memcmp(&value, &expected, sizeof value) != 0 && !isnan(value))
            abort();
        char written[NUMBER_TEXT_SIZE];
        size_t written_length = number_format_double(value, written);
        if (written_length >= NUMBER_TEXT_SIZE || (strtod(written, NULL) != value && !isnan(value)))
            abort();
        free(text);
    }
    int64_t whole;
    number_parse_int64(exact, exact + size, &whole);
    free(exact);
    return 0;
}
