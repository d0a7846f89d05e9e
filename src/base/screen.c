#include "base/screen.h"

#include "base/utf8.h"

#include <string.h>

/* Returns whether a character is C0 (except line ends and tabs), DEL or C1, or changes the
 * direction of text. */
bool screen_is_control(uint32_t point)
{
    return (point < 0x20 && point != '\n' && point != '\t') || (point >= 0x7f && point < 0xa0) ||
           (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

size_t screen_clean(char *text, size_t length)
{
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        uint32_t point;
        size_t step = utf8_decode(text + i, length - i, &point);
        if (step == 0 || screen_is_control(point)) {
            text[used++] = '?';
        } else {
            memmove(text + used, text + i, step);
            used += step;
        }
        i += step == 0 ? 1 : step;
    }
    return used;
}

void screen_sanitize(struct str *text, size_t start)
{
    if (text->failed || text->length == start)
        return;
    text->length = start + screen_clean(text->data + start, text->length - start);
    text->data[text->length] = '\0';
}
