#include "trace/json_repair.h"

/* How much is copied at first, and at most: nearly all events are shorter. */
#define FIRST_LENGTH ((size_t)4096)
#define MAX_LENGTH ((size_t)1 << 20)

static bool is_hex(char byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

/* The length of the escape at a backslash; 0: it escapes nothing. NUL ends the text. */
static size_t escape_length(const char *at)
{
    if (at[1] == 'u' && is_hex(at[2]) && is_hex(at[3]) && is_hex(at[4]) && is_hex(at[5]))
        return 6;
    return at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) ? 2 : 0;
}

/* Appends a text with its strings repaired, up to `limit` bytes, and the padding. Returns how much
 * of it that was. */
static size_t append_repaired(const char *text, size_t length, size_t limit, struct str *out)
{
    const char *at = text, *end = text + length;
    bool in_string = false;
    str_clear(out);
    while (at < end && out->length < limit && !out->failed) {
        size_t escape = in_string && *at == '\\' ? escape_length(at) : 1;
        if (escape == 0)
            str_append(out, "\\\\");
        else
            str_append_bytes(out, at, escape);
        in_string ^= *at == '"';
        at += escape ? escape : 1;
    }
    for (int i = 0; i < JSON_PADDING; i++)
        str_append_char(out, '\0');
    return at < end ? (size_t)(at - text) : length;
}

enum json_status json_repair_scan(struct json_repair *repair, const char **at, const char *end,
    json_scan_function *scan, void *user)
{
    const size_t all = (size_t)(end - *at);
    enum json_status status = JSON_TORN;
    for (size_t length = FIRST_LENGTH; status == JSON_TORN; length *= 8) {
        bool is_all = length >= all;
        if (length > MAX_LENGTH)
            return JSON_BAD;
        append_repaired(*at, is_all ? all : length, SIZE_MAX, &repair->text);
        if (repair->text.failed)
            return JSON_BAD;
        const char *start = str_text(&repair->text), *here = start;
        status = scan(user, &here, start + repair->text.length - JSON_PADDING);
        if (status == JSON_OK)
            *at += append_repaired(*at, all, (size_t)(here - start), &repair->before);
        if (is_all)
            break;
    }
    return repair->before.failed ? JSON_BAD : status;
}

void json_repair_finish(struct json_repair *repair)
{
    str_finish(&repair->text);
    str_finish(&repair->before);
}
