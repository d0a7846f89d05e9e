/*
 * The loops that every reader here uses: digits, blanks, lines of "Key: value". Written by hand
 * because they run for each process at each tick, where sscanf() would cost more than the kernel.
 * Internal to src/os.
 *
 * All of them stop at the first byte that does not match, so that they never read past a final NUL
 * or newline.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline const char *scan_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

static inline bool scan_is_digit(char byte)
{
    return (unsigned char)(byte - '0') < 10;
}

/* Digits to a number. Returns the byte after them, or NULL when there are none or too many. */
static inline const char *scan_uint64(const char *text, uint64_t *value)
{
    const char *start = text;
    uint64_t number = 0;

    for (; scan_is_digit(*text); text++)
        number = number * 10 + (uint64_t)(*text - '0');
    size_t length = (size_t)(text - start);
    /* Only 20 digits and more can be too many, and 20 wrap to less than 10^19 or start above 1. */
    if (length == 0 || length > 20 ||
        (length == 20 && (*start > '1' || number < UINT64_C(10000000000000000000))))
        return NULL;
    *value = number;
    return text;
}

/* Lower or upper case digits of base 16. */
static inline const char *scan_hexadecimal(const char *text, uint64_t *value)
{
    const char *start = text;
    uint64_t number = 0;

    for (;; text++) {
        unsigned digit = (unsigned char)(*text - '0');
        if (digit > 9) {
            digit = (unsigned char)((*text | 0x20) - 'a');
            if (digit > 5)
                break;
            digit += 10;
        }
        number = number << 4 | digit;
    }
    if (text == start || text - start > 16)
        return NULL;
    *value = number;
    return text;
}

/* One whole line of a text. */
struct scan_line {
    const char *start;
    const char *end; /* its newline */
};

/* The next line; false at the end. A line without newline is truncated and does not count. */
static inline bool scan_next_line(const char **position, const char *end, struct scan_line *line)
{
    const char *newline =
        *position < end ? memchr(*position, '\n', (size_t)(end - *position)) : NULL;
    if (!newline)
        return false;
    line->start = *position;
    line->end = newline;
    *position = newline + 1;
    return true;
}

/* The value of a line that begins with `key` ("VmHWM:"), after blanks; NULL for other lines. */
static inline const char *scan_value_of(
    const struct scan_line *line, const char *key, size_t key_length)
{
    if ((size_t)(line->end - line->start) < key_length || memcmp(line->start, key, key_length) != 0)
        return NULL;
    return scan_blanks(line->start + key_length);
}

/* The same for a literal key. */
#define SCAN_VALUE(line, key) scan_value_of((line), (key), sizeof(key) - 1)

/* Reads "Key: number" into `value`, which is unchanged when there is no number. */
static inline bool scan_number_of(
    const struct scan_line *line, const char *key, size_t key_length, uint64_t *value)
{
    const char *text = scan_value_of(line, key, key_length);
    return text && scan_uint64(text, value);
}

#define SCAN_NUMBER(line, key, value) scan_number_of((line), (key), sizeof(key) - 1, (value))

/* Reads "Key:\t  number kB", in bytes. */
static inline bool scan_bytes_of(
    const struct scan_line *line, const char *key, size_t key_length, uint64_t *bytes)
{
    uint64_t kib;
    if (!scan_number_of(line, key, key_length, &kib))
        return false;
    *bytes = kib * 1024;
    return true;
}

#define SCAN_BYTES(line, key, bytes) scan_bytes_of((line), (key), sizeof(key) - 1, (bytes))
