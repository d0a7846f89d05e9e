#include "files/trace/base_time.h"

#include "files/trace/byte_source.h"
#include "files/trace/json_scan.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define END_BYTES ((size_t)1 << 20)

/* Whether the text ends with the object that is open at its beginning: then the member before it is
 * one of the whole trace, not of an event. Its texts may have invalid escapes. */
static bool ends_object(const char *at, const char *end)
{
    int depth = 1;
    for (bool in_string = false; at < end && depth > 0; at++) {
        if (in_string && *at == '\\')
            at++;
        else if (*at == '"')
            in_string = !in_string;
        else if (!in_string)
            depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    }
    return depth == 0 && at <= end && json_skip_space(at) >= end;
}

/* The number after the last such key. */
static int64_t parse_end(const char *text, size_t length)
{
    static const char key[] = "\"baseTimeNanoseconds\"";
    const char *end = text + length, *found = NULL, *at = text;
    struct json_value value;
    int64_t base_ns;
    while ((at = memmem(at, (size_t)(end - at), key, sizeof key - 1)) != NULL)
        found = at += sizeof key - 1;
    if (!found)
        return 0;
    at = json_skip_space(found);
    if (*at != ':')
        return 0;
    at = json_skip_space(at + 1);
    bool is_base = json_scan_value(&at, end, &value) == JSON_OK && json_int64(&value, &base_ns) &&
                   ends_object(at, end);
    return is_base ? base_ns : 0;
}

/* Reads to the end: the last one or two END_BYTES stay in the text. */
static int read_end(
    struct byte_source *source, char *text, size_t *length, struct gput_error *error)
{
    size_t got = 1;
    *length = 0;
    while (got > 0) {
        if (*length == 2 * END_BYTES) {
            memcpy(text, text + END_BYTES, END_BYTES);
            *length = END_BYTES;
        }
        TRY(byte_source_read(source, text + *length, 2 * END_BYTES - *length, &got, error));
        *length += got;
    }
    memset(text + *length, 0, JSON_PADDING);
    return GPUT_OK;
}

int base_time_find(const char *path, int64_t *base_ns, struct gput_error *error)
{
    struct byte_source *source;
    struct stat info;
    size_t length;
    *base_ns = 0;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return GPUT_OK; /* what can be read once is not read for this */
    char *text = malloc(2 * END_BYTES + JSON_PADDING);
    if (!text)
        return error_memory(error);
    int code = byte_source_open(path, &source, error);
    if (code == GPUT_OK) {
        if (byte_source_plain_fd(source) >= 0 && (size_t)info.st_size > END_BYTES)
            code = byte_source_move(source, (uint64_t)info.st_size - END_BYTES, error);
        if (code == GPUT_OK)
            code = read_end(source, text, &length, error);
        if (code == GPUT_OK)
            *base_ns = parse_end(text, length);
        byte_source_close(source);
    }
    free(text);
    return code;
}
