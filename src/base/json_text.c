#include "base/json_text.h"

#include "base/utf8.h"

/* Appends a character. NUL, which would end the text, is replaced. */
static void append_point(uint32_t point, struct str *text)
{
    utf8_append_point(point ? point : UTF8_REPLACEMENT, text);
}

/* Returns the value of four hexadecimal digits. */
static uint32_t hex4(const char *digits)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char digit = digits[i];
        value = value << 4 | (uint32_t)(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    return value;
}

/* Resolves the \uXXXX at `at`, with the second half of a pair after it. Returns its length. */
static size_t append_unicode_escape(const char *at, const char *end, struct str *text)
{
    uint32_t point = hex4(at + 2);
    if (point < 0xd800 || point >= 0xe000) {
        append_point(point, text);
        return 6;
    }
    if (point < 0xdc00 && end - at >= 12 && at[6] == '\\' && at[7] == 'u') {
        uint32_t low = hex4(at + 8);
        if (low >= 0xdc00 && low < 0xe000) {
            append_point(0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00), text);
            return 12;
        }
    }
    append_point(UTF8_REPLACEMENT, text);
    return 6;
}

/* Appends a text with its escapes resolved. */
static void append_unescaped(const char *at, const char *end, struct str *text)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    while (at < end) {
        const char *backslash = memchr(at, '\\', (size_t)(end - at));
        const char *stop = backslash ? backslash : end;
        utf8_append(at, (size_t)(stop - at), text);
        at = stop;
        if (!backslash)
            break;
        if (at[1] == 'u') {
            at += append_unicode_escape(at, end, text);
            continue;
        }
        const char *found = strchr(from, at[1]);
        str_append_char(text, found ? to[found - from] : at[1]);
        at += 2;
    }
}

void json_append_string(const struct json_value *string, struct str *text)
{
    if (string->flags & JSON_ESCAPED)
        append_unescaped(string->text, string->text + string->length, text);
    else if (string->flags & JSON_NOT_ASCII)
        utf8_append(string->text, string->length, text);
    else
        str_append_bytes(text, string->text, string->length);
}

void json_write_value(const struct json_value *value, struct str *text)
{
    bool nested = value->kind == JSON_OBJECT || value->kind == JSON_ARRAY;
    if (value->kind == JSON_NONE || value->kind == JSON_NAN) {
        str_append(text, "null");
    } else if (nested && value->flags & JSON_HAS_NAN) {
        /* Copy a container, at most JSON_MAX_DEPTH deep, with null for each NaN. */
        struct json_value key, inner;
        struct json_walk walk = json_walk(value);
        bool object = value->kind == JSON_OBJECT;
        const char *separator = "";
        str_append_char(text, object ? '{' : '[');
        while (object ? json_walk_member(&walk, &key, &inner) : json_walk_item(&walk, &inner)) {
            str_append(text, separator);
            separator = ", ";
            if (object) {
                json_write_value(&key, text);
                str_append(text, ": ");
            }
            json_write_value(&inner, text);
        }
        str_append_char(text, object ? '}' : ']');
    } else {
        if (value->kind == JSON_STRING)
            str_append_char(text, '"');
        /* Copy a value without line breaks and indentation: they are between tokens alone. */
        const char *at = value->text, *end = at + value->length;
        while (at < end) {
            const char *line_break = memchr(at, '\n', (size_t)(end - at));
            const char *stop = line_break ? line_break : end;
            if (value->flags & JSON_NOT_ASCII)
                utf8_append(at, (size_t)(stop - at), text);
            else
                str_append_bytes(text, at, (size_t)(stop - at));
            at = json_skip_space(stop);
        }
        if (value->kind == JSON_STRING)
            str_append_char(text, '"');
    }
}
