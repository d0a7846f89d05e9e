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

/* The base time at the end of a text: the number after the last such key. 0: there is none. */
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

int base_time_find(const char *path, int64_t *base_ns, struct gput_error *error)
{
    CLEANUP(byte_source_close_pointer) struct byte_source *source = NULL;
    struct stat info;
    *base_ns = 0;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return GPUT_OK; /* what can be read once is not read for this */
    CLEANUP_FREE char *text = malloc(2 * END_BYTES + JSON_PADDING);
    if (!text)
        return error_memory(error);
    TRY(byte_source_open(path, &source, error));
    if (byte_source_plain_fd(source) >= 0 && (size_t)info.st_size > END_BYTES)
        TRY(byte_source_move(source, (uint64_t)info.st_size - END_BYTES, error));

    /* Of what is read, the last one or two END_BYTES stay in the text. */
    size_t length = 0, got = 1;
    while (got > 0) {
        if (length == 2 * END_BYTES) {
            memcpy(text, text + END_BYTES, END_BYTES);
            length = END_BYTES;
        }
        TRY(byte_source_read(source, text + length, 2 * END_BYTES - length, &got, error));
        length += got;
    }
    memset(text + length, 0, JSON_PADDING);
    *base_ns = parse_end(text, length);
    return GPUT_OK;
}
