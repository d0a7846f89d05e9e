/*
 * JSON, token by token, over text in memory: no tree, no copies, no allocation. What it gives are
 * slices of the text it was handed. Strict about what it accepts (RFC 8259, at most JSON_MAX_DEPTH
 * levels inside a value; NaN, Infinity, nan and inf are distinguished, since Python and C++ write
 * them) and quick: strings are searched 16 bytes at a time.
 *
 * Every text must be followed by JSON_PADDING readable bytes of which the first is NUL: a NUL is
 * what ends all inner loops, and vector loads may read beyond the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define JSON_PADDING 32
#define JSON_MAX_DEPTH 64

enum json_kind {
    JSON_NONE, /* not there */
    JSON_NULL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NUMBER,
    JSON_NAN, /* NaN, -Infinity, inf and the like: no JSON, seen all the same */
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

/* Contents of a scanned text besides plain ASCII. */
#define JSON_ESCAPED 1   /* a string has a backslash */
#define JSON_NOT_ASCII 2 /* a string has bytes above 0x7f, not checked to be UTF-8 */
#define JSON_HAS_NAN 4   /* a JSON_NAN is it, or is in it */

struct json_value {
    const char *text; /* strings: what stands between the quotes, escapes and all */
    uint32_t length;
    uint8_t kind;  /* enum json_kind */
    uint8_t flags; /* JSON_ESCAPED …; of an array or object: of everything in it */
};

enum json_status {
    JSON_OK,
    JSON_TORN, /* the text ends inside the value */
    JSON_BAD,  /* no JSON */
};

/* The first byte at or after `at` that is not white space. */
static inline const char *json_skip_space(const char *at)
{
    if ((unsigned char)*at > ' ')
        return at;
    while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
        at++;
    return at;
}

/*
 * Scans the value at `*at` (no white space before it) and moves `*at` after it. A number that
 * reaches `end` counts as truncated: more digits may follow. After anything but JSON_OK, `*at` is
 * somewhere inside the value.
 */
enum json_status json_scan_value(const char **at, const char *end, struct json_value *value);

/* The length of the escape that begins with the backslash at `at`; 0: it escapes nothing. */
size_t json_escape_length(const char *at);

/* The same for what is neither an array nor an object; those are JSON_BAD. */
enum json_status json_scan_scalar(const char **at, const char *end, struct json_value *value);

/*
 * Scans a member of an object at `*at`, where its key stands: `"key" : value`, then the comma or
 * the closing brace. `*last` is set to which it was; `*at` is moved after it.
 */
enum json_status json_scan_member(
    const char **at, const char *end, struct json_value *key, struct json_value *value, bool *last);

/* Steps through the members of an object, or the items of an array, that was scanned before. */
struct json_walk {
    const char *at;
    const char *end;
};

struct json_walk json_walk(const struct json_value *container);
bool json_walk_member(struct json_walk *walk, struct json_value *key, struct json_value *value);
bool json_walk_item(struct json_walk *walk, struct json_value *value);

/* The member of that name (spelled without escapes), JSON_NONE when there is none. */
struct json_value json_member(const struct json_value *object, const char *name);

static inline bool json_is(const struct json_value *string, const char *text)
{
    size_t length = strlen(text);
    return string->kind == JSON_STRING && string->length == length &&
           memcmp(string->text, text, length) == 0;
}

/*
 * The number, or the number in a string ("3"); false when it is neither or not a whole number that
 * fits.
 */
bool json_int64(const struct json_value *value, int64_t *number);
bool json_double(const struct json_value *value, double *number);

/*
 * A decimal number times 10^places, cut to a whole number: "12.3456" with 3 places is 12345. What
 * trace files stamp in microseconds becomes nanoseconds without going through floating point.
 * False when it is not a number or does not fit.
 */
bool json_scaled_int64(const struct json_value *value, int places, int64_t *number);
