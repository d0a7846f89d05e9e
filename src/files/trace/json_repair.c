#include "files/trace/json_repair.h"

#include "base/cleanup.h"

/* Bytes that are copied at first, and at most. Nearly all events are shorter than the first. */
#define FIRST_LENGTH ((size_t)512)
#define MAX_LENGTH ((size_t)256 << 10)

/* Appends a text to a copy in which backslashes that escape nothing and control characters within
 * strings are escaped, until the copy has `most` bytes. Returns how many bytes of the text were
 * copied. */
static size_t append_repaired(const char *text, size_t length, size_t most, struct str *copy)
{
    bool in_string = false;
    size_t at = 0;
    while (at < length && copy->length < most && !copy->failed) {
        char byte = text[at];
        size_t escape = byte == '\\' ? json_escape_length(text + at) : 0;
        if (byte == '\\' && escape == 0)
            str_append_bytes(copy, "\\\\", 2);
        else if (in_string && (unsigned char)byte < ' ')
            str_printf(copy, "\\u%04x", byte);
        else
            str_append_bytes(copy, text + at, escape ? escape : 1);
        in_string ^= byte == '"';
        at += escape ? escape : 1;
    }
    return at;
}

enum json_status json_repair_scan(
    struct str *copy, const char **at, const char *end, json_scan_function *scan, void *user)
{
    static const char padding[JSON_PADDING] = {0};
    const size_t all = (size_t)(end - *at);
    enum json_status status = JSON_TORN;
    for (size_t length = FIRST_LENGTH; status == JSON_TORN; length *= 8) {
        bool is_all = length >= all;
        if (length > MAX_LENGTH)
            return JSON_BAD;
        str_clear(copy);
        append_repaired(*at, is_all ? all : length, SIZE_MAX, copy);
        str_append_bytes(copy, padding, sizeof padding);
        if (copy->failed)
            return JSON_BAD;
        const char *start = str_text(copy), *here = start;
        status = scan(user, &here, start + copy->length - JSON_PADDING);
        if (status == JSON_OK) {
            CLEANUP_STR struct str scanned = {0};
            *at += append_repaired(*at, all, (size_t)(here - start), &scanned);
            status = scanned.failed ? JSON_BAD : JSON_OK;
        }
        if (is_all)
            break;
    }
    return status;
}
