/*
 * The fast path over JSON's scalars, for nearly all that trace files hold: strings of plain ASCII
 * shorter than 32 bytes, and numbers without sign and exponent, with at most 15 digits before the
 * point. What is anything else takes the slow path of json_scan.h, with the same result.
 */
#pragma once

#include "base/json_scan.h"

#ifdef __SSE2__
#include <emmintrin.h>

/* The bits of the bytes that end a plain string, or are not plain: quotes, backslashes, control
 * characters and what is not ASCII. */
static inline unsigned json_fast_stops(const char *at)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)at);
    __m128i stop = _mm_or_si128(
        _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    /* signed: control characters and bytes above 0x7f both are less than a blank */
    stop = _mm_or_si128(stop, _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')));
    return (unsigned)_mm_movemask_epi8(stop);
}

/* The closing quote of the string whose text starts at `at`; NULL: take the slow path. */
static inline const char *json_fast_string(const char *at)
{
    unsigned stops = json_fast_stops(at);
    if (stops == 0) {
        at += 16;
        stops = json_fast_stops(at);
    }
    const char *after = at + __builtin_ctz(stops | 0x10000);
    return stops != 0 && *after == '"' ? after : NULL;
}

/* The end of the digits and decimals at `at`; NULL: take the slow path. The caller checks what
 * follows: it may be an exponent. */
static inline const char *json_fast_digits(const char *at)
{
    __m128i digits = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)at), _mm_set1_epi8('0'));
    digits = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    unsigned others = ~(unsigned)_mm_movemask_epi8(digits); /* the upper half is all ones */
    unsigned length = (unsigned)__builtin_ctz(others);
    if (length == 0 || length == 16 || (*at == '0' && length > 1))
        return NULL;
    if (at[length] == '.') {
        unsigned decimals = (unsigned)__builtin_ctz(others >> (length + 1));
        if (decimals == 0)
            return NULL;
        length += 1 + decimals;
        while (length >= 16 && (unsigned char)(at[length] - '0') < 10)
            length++;
    }
    return at + length;
}

/* The end of the number at `at`; NULL: take the slow path. */
static inline const char *json_fast_number(const char *at)
{
    const char *after = json_fast_digits(at);
    return after && (*after | 0x20) != 'e' ? after : NULL;
}
#else
static inline const char *json_fast_string(const char *at)
{
    (void)at;
    return NULL;
}

static inline const char *json_fast_digits(const char *at)
{
    (void)at;
    return NULL;
}

static inline const char *json_fast_number(const char *at)
{
    (void)at;
    return NULL;
}
#endif

/* json_scan_value() for what is neither an array nor an object. */
static inline enum json_status json_fast_scalar(
    const char **at, const char *end, struct json_value *value)
{
    const char *start = *at, *after;
    if (*start == '"' && (after = json_fast_string(start + 1)) != NULL) {
        *value = (struct json_value){start + 1, (uint32_t)(after - start - 1), JSON_STRING, 0};
        *at = after + 1;
        return JSON_OK;
    }
    if ((unsigned char)(*start - '0') < 10 && (after = json_fast_number(start)) != NULL &&
        after < end) {
        *value = (struct json_value){start, (uint32_t)(after - start), JSON_NUMBER, 0};
        *at = after;
        return JSON_OK;
    }
    return json_scan_scalar(at, end, value);
}
