#include "base/text.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#define ELLIPSIS "…"

bool text_begins_with(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

bool text_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool text_is_among(const char *text, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, texts[i]) == 0)
            return true;
    }
    return false;
}

/* Returns whether a byte is not the first of its character. */
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

int text_print_list(char *text, size_t size, const char *format, va_list arguments)
{
    locale_t locale = newlocale(LC_ALL_MASK, "C", NULL); /* never fails: it is there always */
    locale_t before = uselocale(locale);
    int length = vsnprintf(text, size, format, arguments);
    uselocale(before);
    freelocale(locale);
    return length;
}

/* Returns what needs no formatting: the text of "%s", or a format without "%". NULL: it needs some.
 */
static const char *plain_text(const char *format, va_list arguments)
{
    if (strcmp(format, "%s") == 0) {
        va_list copy;
        va_copy(copy, arguments);
        const char *text = va_arg(copy, const char *);
        va_end(copy);
        return text;
    }
    return strchr(format, '%') ? NULL : format;
}

void text_fit_list(char *text, size_t size, const char *format, va_list arguments)
{
    const char *plain = size > 0 ? plain_text(format, arguments) : NULL;
    if (plain) {
        size_t wanted = strlen(plain), fits = wanted < size ? wanted : size - 1;
        memmove(text, plain, fits);
        text[fits] = '\0';
        if (wanted >= size)
            mark_truncated(text, size);
        return;
    }
    int length = text_print_list(text, size, format, arguments);
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
