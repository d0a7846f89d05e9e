#include "base/str.h"

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

void str_finish(struct str *string)
{
    free(string->data);
    *string = (struct str){0};
}

void str_clear(struct str *string)
{
    string->length = 0;
    if (string->data)
        string->data[0] = '\0';
}

void str_restart(struct str *string)
{
    string->failed = false;
    str_clear(string);
}

void str_drop(struct str *string, size_t length)
{
    if (length > string->length)
        length = string->length;
    string->length -= length;
    if (string->data)
        memmove(string->data, string->data + length, string->length + 1);
}

bool str_reserve(struct str *string, size_t extra)
{
    if (string->failed)
        return false;
    if (extra < string->capacity - string->length)
        return true;
    if (extra > SIZE_MAX / 4 || string->length > SIZE_MAX / 4) {
        string->failed = true;
        return false;
    }

    size_t capacity = string->capacity ? string->capacity : 64;
    while (capacity - string->length <= extra)
        capacity *= 2;
    char *data = realloc(string->data, capacity);
    if (!data) {
        string->failed = true;
        return false;
    }
    string->data = data;
    string->capacity = capacity;
    data[string->length] = '\0'; /* a text also before anything is put there */
    return true;
}

void str_append_bytes(struct str *string, const void *bytes, size_t length)
{
    if (!str_reserve(string, length))
        return;
    if (length)
        memcpy(string->data + string->length, bytes, length);
    string->length += length;
    string->data[string->length] = '\0';
}

void str_append(struct str *string, const char *text)
{
    str_append_bytes(string, text, strlen(text));
}

void str_append_char(struct str *string, char byte)
{
    str_append_bytes(string, &byte, 1);
}

void str_append_shell_word(struct str *string, const char *text)
{
    if (*text && !text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789/._-+,:@%")]) {
        str_append(string, text);
        return;
    }
    str_append_char(string, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            str_append(string, "'\\''");
        else
            str_append_char(string, *text);
    }
    str_append_char(string, '\'');
}

void str_append_sentence(struct str *string, const char *sentence)
{
    size_t length = strlen(sentence);
    str_append_bytes(string, sentence, length);
    str_append(string, length > 0 && sentence[length - 1] == '.' ? " " : ". ");
}

void str_append_int64(struct str *string, int64_t value)
{
    if (str_reserve(string, NUMBER_TEXT_SIZE))
        string->length += number_format_int64(value, string->data + string->length);
}

void str_append_double(struct str *string, double value)
{
    if (str_reserve(string, NUMBER_TEXT_SIZE))
        string->length += number_format_double(value, string->data + string->length);
}

void str_append_repeated(struct str *string, char byte, size_t count)
{
    if (!str_reserve(string, count))
        return;
    memset(string->data + string->length, byte, count);
    string->length += count;
    string->data[string->length] = '\0';
}

void str_print_list(struct str *string, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);

    int length = text_print_list(NULL, 0, format, arguments);
    if (length < 0)
        string->failed = true;
    else if (str_reserve(string, (size_t)length)) {
        text_print_list(string->data + string->length, (size_t)length + 1, format, again);
        string->length += (size_t)length;
    }
    va_end(again);
}

void str_printf(struct str *string, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    str_print_list(string, format, arguments);
    va_end(arguments);
}

char *str_steal(struct str *string)
{
    if (!string->failed && !string->data)
        str_append(string, "");
    char *text = string->failed ? NULL : string->data;
    if (!text)
        free(string->data);
    *string = (struct str){0};
    return text;
}

int str_steal_bytes(struct str *string, char **bytes, size_t *length, struct gput_error *error)
{
    if (length)
        *length = string->length;
    *bytes = str_steal(string);
    return *bytes ? GPUT_OK : error_memory(error);
}

const char *str_text(const struct str *string)
{
    return string->data ? string->data : "";
}
