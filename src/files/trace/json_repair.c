#include "files/trace/json_repair.h"

/* How much is copied at first, and at most: nearly all events are shorter. */
#define FIRST_LENGTH ((size_t)512)
#define MAX_LENGTH ((size_t)256 << 10)

/* Replaces `out` by a text in which backslashes that escape nothing are escaped, and the padding.
 */
static void append_repaired(const char *text, size_t length, struct str *out)
{
    static const char padding[JSON_PADDING] = {0};
    const char *at = text, *end = text + length, *backslash;
    str_clear(out);
    while (at < end && (backslash = memchr(at, '\\', (size_t)(end - at))) != NULL) {
        size_t escape = json_escape_length(backslash);
        str_append_bytes(out, at, (size_t)(backslash - at) + escape);
        if (escape == 0)
            str_append_bytes(out, "\\\\", 2);
        at = backslash + (escape ? escape : 1);
    }
    if (at < end)
        str_append_bytes(out, at, (size_t)(end - at));
    str_append_bytes(out, padding, sizeof padding);
}

/* Returns how many bytes of a text became that many bytes of its repaired copy. */
static size_t length_before(const char *text, size_t repaired)
{
    size_t at = 0, made = 0;
    while (made < repaired) {
        const char *backslash = memchr(text + at, '\\', repaired - made);
        size_t plain = backslash ? (size_t)(backslash - text) - at : repaired - made;
        size_t escape = backslash ? json_escape_length(backslash) : 0;
        at += plain + (backslash ? (escape ? escape : 1) : 0);
        made += plain + (backslash ? (escape ? escape : 2) : 0);
    }
    return at;
}

enum json_status json_repair_scan(
    struct str *copy, const char **at, const char *end, json_scan_function *scan, void *user)
{
    const size_t all = (size_t)(end - *at);
    enum json_status status = JSON_TORN;
    for (size_t length = FIRST_LENGTH; status == JSON_TORN; length *= 8) {
        bool is_all = length >= all;
        if (length > MAX_LENGTH)
            return JSON_BAD;
        append_repaired(*at, is_all ? all : length, copy);
        if (copy->failed)
            return JSON_BAD;
        const char *start = str_text(copy), *here = start;
        status = scan(user, &here, start + copy->length - JSON_PADDING);
        if (status == JSON_OK)
            *at += length_before(*at, (size_t)(here - start));
        if (is_all)
            break;
    }
    return status;
}
