#include <gputracker/screen.h>

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* `text` is one complete character. */
static bool is_control(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    if (first == 0xc2) /* U+0080 to U+00BF, of which the first half are the C1 controls */
        return (unsigned char)text[1] < 0xa0;
    return (first < ' ' && first != '\n' && first != '\t') || first == 0x7f;
}

size_t gput_screen_text(char *text, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        size_t step = utf8_length(text + i, length - i);
        if (step == 0 || is_control(text + i)) {
            text[used++] = '?';
        } else {
            memmove(text + used, text + i, step);
            used += step;
        }
        i += step == 0 ? 1 : step;
    }
    return used;
}
