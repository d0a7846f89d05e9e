#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ELLIPSIS "…"

/* Whether a byte is not the first of its character. */
static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Ends a truncated text with "…". */
static void mark_truncated(char *text, size_t size)
{
    size_t end = size - 1, space = sizeof ELLIPSIS - 1;
    if (end < space)
        return;
    end -= space;
    while (end > 0 && continues(text[end]))
        end--;
    strcpy(text + end, ELLIPSIS);
}

void text_fit_list(char *text, size_t size, const char *format, va_list arguments)
{
    int length = vsnprintf(text, size, format, arguments);
    if (length < 0)
        text[0] = '\0';
    else if ((size_t)length >= size)
        mark_truncated(text, size);
}

void text_fit(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text_fit_list(text, size, format, arguments);
    va_end(arguments);
}
