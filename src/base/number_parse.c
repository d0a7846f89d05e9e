/*
 * Text to doubles, correctly rounded. Numbers of up to 19 digits go by Daniel Lemire's method
 * ("Number Parsing at a Gigabyte per Second", 2021; that it never has to give up is proven by
 * Mushtak and Lemire, 2022); the rare longer ones that it cannot decide go to strtod.
 */
#include "base/number.h"

#include "base/powers_of_ten.h"

#include <endian.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MANTISSA_BITS 52
#define HIDDEN_BIT (UINT64_C(1) << MANTISSA_BITS)
#define INFINITE_EXPONENT 0x7ff
#define MAX_DIGITS 19 /* as many as always fit in 64 bits */

/* digits * 10^exponent, and something more when it was cut. */
struct decimal {
    uint64_t digits; /* the first MAX_DIGITS significant ones */
    int64_t exponent;
    bool cut; /* there were more, not all of them zero */
};

static unsigned digit_value(char byte)
{
    return (unsigned)(unsigned char)byte - '0';
}

/* Parses eight digits at once. False: not all of them are digits. */
static inline bool parse_eight_digits(const char *text, uint64_t *value)
{
    uint64_t bytes;
    memcpy(&bytes, text, sizeof bytes);
    bytes = le64toh(bytes);
    uint64_t digits = bytes - 0x3030303030303030;
    if (((bytes + 0x4646464646464646) | digits) & 0x8080808080808080)
        return false;
    digits = digits * 10 + (digits >> 8); /* pairs, in every second byte */
    uint64_t outer = (digits & 0x000000ff000000ff) * (100 + (UINT64_C(1000000) << 32));
    uint64_t inner = (digits >> 16 & 0x000000ff000000ff) * (1 + (UINT64_C(10000) << 32));
    *value = (outer + inner) >> 32;
    return true;
}

/* Makes a double of its mantissa and its exponent. */
static double double_of_bits(uint64_t mantissa, int exponent)
{
    uint64_t bits = (uint64_t)exponent << MANTISSA_BITS | mantissa;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Makes a subnormal double. The mantissa has two bits more than a double's. */
static double subnormal_double(uint64_t mantissa, int power)
{
    if (1 - power >= 64)
        return 0.0;
    mantissa >>= 1 - power;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    return double_of_bits(mantissa & (HIDDEN_BIT - 1), mantissa >= HIDDEN_BIT);
}

/* digits * 10^exponent, for digits that are not zero. */
static __attribute__((noinline)) double double_of_decimal(uint64_t digits, int64_t exponent)
{
    if (exponent < POWER_OF_TEN_MIN)
        return 0.0;
    if (exponent > 308)
        return INFINITY;
    int e = (int)exponent;
    struct power_of_ten factor = powers_of_ten[e - POWER_OF_TEN_MIN];
    if (e < 0 && e >= -27) { /* the method wants the short negative powers rounded up */
        factor.low++;
        factor.high += factor.low == 0;
    }

    int leading = __builtin_clzll(digits);
    digits <<= leading;
    unsigned __int128 product = (unsigned __int128)digits * factor.high;
    if (((uint64_t)(product >> 64) & 0x1ff) == 0x1ff) /* too close to decide: the other 64 bits */
        product += (uint64_t)((unsigned __int128)digits * factor.low >> 64);
    uint64_t high = (uint64_t)(product >> 64);
    uint64_t low = (uint64_t)product;

    int upper = (int)(high >> 63);
    int drop = upper + 64 - MANTISSA_BITS - 3;
    uint64_t mantissa = high >> drop;
    int power = ((217706 * e) >> 16) + 63 + upper - leading + 1023;
    if (power <= 0)
        return subnormal_double(mantissa, power);
    /* Exactly half-way: round to even. */
    if (low <= 1 && e >= -4 && e <= 23 && (mantissa & 3) == 1 && mantissa << drop == high)
        mantissa &= ~UINT64_C(1);
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= 2 * HIDDEN_BIT) {
        mantissa = HIDDEN_BIT;
        power++;
    }
    if (power >= INFINITE_EXPONENT)
        return INFINITY;
    return double_of_bits(mantissa & (HIDDEN_BIT - 1), power);
}

/* Parses any number of digits by strtod() in the C locale. No double, and no middle between two,
 * has more than 767 digits; later ones only matter if they are not 0. */
static double double_of_long_text(const char *text, const char *end)
{
    char copy[800];
    size_t length = 0;
    int64_t point = 0; /* how far the decimal point is right of the digits kept */
    bool fraction = false, started = false, rest = false;
    for (; text < end && (*text == '.' || digit_value(*text) <= 9); text++) {
        if (*text == '.') {
            fraction = true;
            continue;
        }
        started |= *text != '0';
        bool keep = started && length < 768;
        if (keep)
            copy[length++] = *text;
        rest |= !keep && *text != '0';
        point += (started && !keep) - fraction;
    }
    if (rest) {
        copy[length++] = '1';
        point--;
    }
    int64_t exponent = 0;
    if (text < end) { /* the exponent */
        text++;
        if (text < end && *text == '+')
            text++;
        if (!number_parse_int64(text, end, &exponent))
            exponent = *text == '-' ? -100000 : 100000;
    }
    if (exponent > 100000000 || exponent < -100000000)
        exponent = exponent > 0 ? 100000000 : -100000000;
    copy[length++] = 'e';
    number_format_int64(exponent + point, copy + length);

    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* static in libc: never fails */
    double value = strtod_l(copy, NULL, plain);
    freelocale(plain);
    return value;
}

/* Reads an exponent "e-12" after a number and adds it; without one `text` is unchanged. */
static const char *parse_exponent(const char *text, const char *end, int64_t *exponent)
{
    const char *at = text + 1;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at >= end || digit_value(*at) > 9)
        return text;
    int64_t value = 0;
    for (; at < end && digit_value(*at) <= 9; at++) {
        if (value < 100000000)
            value = value * 10 + digit_value(*at);
    }
    *exponent += negative ? -value : value;
    return at;
}

/* Returns whether a text begins with a word, in any case of letters. */
static bool has_word(const char *text, const char *end, const char *word)
{
    for (; *word; word++, text++) {
        if (text >= end || (*text | 0x20) != *word)
            return false;
    }
    return true;
}

/* Parses "nan", "inf" or "infinity". NULL: it is none of them. */
static const char *parse_word(const char *text, const char *end, bool negative, double *value)
{
    if (has_word(text, end, "nan")) {
        *value = copysign(NAN, negative ? -1.0 : 1.0);
        return text + 3;
    }
    if (!has_word(text, end, "inf"))
        return NULL;
    *value = negative ? -INFINITY : INFINITY;
    return text + (has_word(text, end, "infinity") ? 8 : 3);
}

/* Reads digits, one by one, and keeps the first of them. NULL when there are none. */
static const char *parse_leading_digits(struct decimal *decimal, const char *text, const char *end)
{
    int kept = 0;
    bool fraction = false, any = false;
    for (; text < end; text++) {
        unsigned digit = digit_value(*text);
        if (digit > 9) {
            if (*text != '.' || fraction)
                break;
            fraction = true;
            continue;
        }
        any = true;
        if (kept < MAX_DIGITS) {
            decimal->digits = decimal->digits * 10 + digit;
            kept += decimal->digits != 0;
            decimal->exponent -= fraction;
        } else {
            decimal->cut |= digit != 0;
            decimal->exponent += !fraction;
        }
    }
    return any ? text : NULL;
}

/* Returns digits * 10^-places, by Lemire's method where doubles are not exact. */
static inline double double_of_places(uint64_t digits, int64_t places)
{
    static const double exact[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    /* Both are exact, so that the one division is rounded once, correctly. */
    if (digits <= 2 * HIDDEN_BIT && places <= 22)
        return (double)digits / exact[places];
    return double_of_decimal(digits, -places);
}

/* Parses all other forms of numbers: words, exponents, more digits than fit. `negative`: a minus
 * preceded `text`. */
static __attribute__((noinline)) const char *parse_rare(
    const char *text, const char *end, bool negative, double *value)
{
    struct decimal decimal = {0};
    const char *at = parse_leading_digits(&decimal, text, end);
    if (!at)
        return parse_word(text, end, negative, value);
    if (at < end && (*at | 0x20) == 'e')
        at = parse_exponent(at, end, &decimal.exponent);
    double size = 0.0;
    if (decimal.digits)
        size = double_of_decimal(decimal.digits, decimal.exponent);
    if (decimal.cut && size != double_of_decimal(decimal.digits + 1, decimal.exponent))
        size = double_of_long_text(text, at);
    *value = negative ? -size : size;
    return at;
}

const char *number_parse_double(const char *text, const char *end, double *value)
{
    const char *at = text;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;

    const char *first = at;
    uint64_t digits = 0;
    int64_t places = 0;
    for (; at < end && digit_value(*at) <= 9; at++)
        digits = digits * 10 + digit_value(*at);
    int64_t count = at - first;
    if (at < end && *at == '.') {
        const char *point = ++at;
        for (uint64_t eight; end - at >= 8 && parse_eight_digits(at, &eight); at += 8)
            digits = digits * 100000000 + eight;
        for (; at < end && digit_value(*at) <= 9; at++)
            digits = digits * 10 + digit_value(*at);
        places = at - point;
        count += places;
    }
    if (count == 0 || count > MAX_DIGITS || (at < end && (*at | 0x20) == 'e'))
        return parse_rare(first, end, negative, value);
    double size = double_of_places(digits, places);
    *value = negative ? -size : size;
    return at;
}

const char *number_parse_uint64(const char *text, const char *end, uint64_t *value)
{
    const char *at = text;
    uint64_t digits = 0;
    for (; at < end && digit_value(*at) <= 9; at++) {
        if (__builtin_mul_overflow(digits, 10, &digits) ||
            __builtin_add_overflow(digits, digit_value(*at), &digits))
            return NULL;
    }
    if (at == text)
        return NULL;
    *value = digits;
    return at;
}

const char *number_parse_int64(const char *text, const char *end, int64_t *value)
{
    bool negative = text < end && *text == '-';
    uint64_t size;
    const char *at = number_parse_uint64(text + negative, end, &size);
    if (!at || size > (uint64_t)INT64_MAX + negative)
        return NULL;
    *value = negative ? (int64_t)-size : (int64_t)size;
    return at;
}

bool number_read_double(const char *text, double *value)
{
    const char *end = text + strlen(text);
    return number_parse_double(text, end, value) == end;
}

bool number_read_int64(const char *text, int64_t *value)
{
    const char *end = text + strlen(text);
    return number_parse_int64(text, end, value) == end;
}
