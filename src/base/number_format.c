/*
 * Doubles to text by Raffaello Giulietti's Schubfach ("The Schubfach way to render doubles", 2020):
 * the shortest decimal inside the interval of numbers that read back to the same double, found with
 * three multiplications and without loops.
 */
#include "base/number.h"

#include "base/powers_of_ten.h"

#include <math.h>
#include <string.h>

#define MANTISSA_BITS 52
#define HIDDEN_BIT (UINT64_C(1) << MANTISSA_BITS)
#define EXPONENT_MASK 0x7ff
/* A double is c * 2^q with whole c and q = exponent bits - this. */
#define EXPONENT_OFFSET (1023 + MANTISSA_BITS)

/* digits * 10^exponent */
struct decimal {
    uint64_t digits;
    int exponent;
};

/* Returns the binary exponent of a power of ten, exact for every exponent that a double can have.
 */
static int floor_log2_of_pow10(int e)
{
    return (e * 1741647) >> 19;
}

static int floor_log10_of_pow2(int e)
{
    return (e * 1262611) >> 22;
}

static int floor_log10_of_three_quarters_pow2(int e)
{
    return (e * 1262611 - 524031) >> 22;
}

/* Returns factor * 10^e with its last bit set if anything below it was cut off. */
static uint64_t multiply_round_to_odd(struct power_of_ten power, uint64_t factor)
{
    unsigned __int128 low = (unsigned __int128)power.low * factor;
    unsigned __int128 sum = (unsigned __int128)power.high * factor + (uint64_t)(low >> 64);
    return (uint64_t)(sum >> 64) | ((uint64_t)sum > 1);
}

/* Returns the power rounded up, as the proof of Schubfach requires. */
static struct power_of_ten power_rounded_up(int exponent)
{
    struct power_of_ten power = powers_of_ten[exponent - POWER_OF_TEN_MIN];
    if (exponent < 0 || exponent > 55) {
        power.low++;
        power.high += power.low == 0;
    }
    return power;
}

/* Returns the shortest decimal of c * 2^q, and of several as short the closest. */
static struct decimal shortest_decimal(uint64_t c, int q, bool lower_is_closer)
{
    int k = lower_is_closer ? floor_log10_of_three_quarters_pow2(q) : floor_log10_of_pow2(q);
    int shift = q + floor_log2_of_pow10(-k) + 1;
    struct power_of_ten power = power_rounded_up(-k);

    /* The value and the ends of its interval, in quarters of 10^k. */
    uint64_t value = multiply_round_to_odd(power, (4 * c) << shift);
    uint64_t lower = multiply_round_to_odd(power, (4 * c - 2 + lower_is_closer) << shift);
    uint64_t upper = multiply_round_to_odd(power, (4 * c + 2) << shift);
    uint64_t odd = c & 1; /* the ends themselves read back only to an even c */
    lower += odd;
    upper -= odd;

    uint64_t s = value / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool below_fits = lower <= 40 * tens;
        bool above_fits = 40 * tens + 40 <= upper;
        if (below_fits != above_fits)
            return (struct decimal){tens + above_fits, k + 1};
    }
    bool below_fits = lower <= 4 * s;
    bool above_fits = 4 * s + 4 <= upper;
    if (below_fits != above_fits)
        return (struct decimal){s + above_fits, k};

    uint64_t middle = 4 * s + 2;
    bool round_up = value > middle || (value == middle && (s & 1));
    return (struct decimal){s + round_up, k};
}

/* Returns the decimal of a positive, finite double. */
static struct decimal decimal_of_double(uint64_t mantissa, int exponent)
{
    if (exponent == 0)
        return shortest_decimal(mantissa, 1 - EXPONENT_OFFSET, false);

    uint64_t c = HIDDEN_BIT | mantissa;
    int q = exponent - EXPONENT_OFFSET;
    if (q <= 0 && q > -MANTISSA_BITS - 1 && (c & ((UINT64_C(1) << -q) - 1)) == 0)
        return (struct decimal){c >> -q, 0}; /* a whole number */
    return shortest_decimal(c, q, mantissa == 0 && exponent > 1);
}

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324"
                                  "25262728293031323334353637383940414243444546474849"
                                  "50515253545556575859606162636465666768697071727374"
                                  "75767778798081828384858687888990919293949596979899";

/* Writes the digits so that they end before `end`; returns their start. */
static char *write_digits_before(char *end, uint64_t value)
{
    while (value >= 100) {
        end -= 2;
        memcpy(end, digit_pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, digit_pairs + value * 2, 2);
    } else
        *--end = (char)('0' + value);
    return end;
}

/* Returns the number of digits of a value. */
static size_t count_digits(uint64_t value)
{
    size_t count = 1;
    for (; value >= 10000; value /= 10000)
        count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Writes an exponent as "e-05", "e+16" or "e+300". */
static char *write_exponent(char *text, int exponent)
{
    *text++ = 'e';
    *text++ = exponent < 0 ? '-' : '+';
    unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
    if (size >= 100)
        *text++ = (char)('0' + size / 100);
    memcpy(text, digit_pairs + size % 100 * 2, 2);
    return text + 2;
}

/* Places `count` digits without trailing zeros as Python does: 0.0001 to 1e16 in full, else with an
 * exponent. The number is 0.DIGITS * 10^point. */
static char *write_decimal(char *text, const char *digits, int count, int point)
{
    if (point <= -4 || point > 16) {
        *text++ = digits[0];
        if (count > 1) {
            *text++ = '.';
            memcpy(text, digits + 1, (size_t)count - 1);
            text += count - 1;
        }
        return write_exponent(text, point - 1);
    }
    if (point <= 0) {
        memcpy(text, "0.000", 5);
        text += 2 - point;
        memcpy(text, digits, (size_t)count);
        return text + count;
    }
    if (count <= point) {
        memcpy(text, digits, (size_t)count);
        memset(text + count, '0', (size_t)(point - count));
        memcpy(text + point, ".0", 2);
        return text + point + 2;
    }
    memcpy(text, digits, (size_t)point);
    text[point] = '.';
    memcpy(text + point + 1, digits + point, (size_t)(count - point));
    return text + count + 1;
}

size_t number_format_double(double value, char *text)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t mantissa = bits & (HIDDEN_BIT - 1);
    int exponent = (int)(bits >> MANTISSA_BITS) & EXPONENT_MASK;
    char *out = text;

    if (exponent == EXPONENT_MASK && mantissa != 0) {
        memcpy(text, "nan", 4);
        return 3;
    }
    if (bits >> 63)
        *out++ = '-';
    if (exponent == EXPONENT_MASK) {
        memcpy(out, "inf", 3);
        out += 3;
    } else if (exponent == 0 && mantissa == 0) {
        memcpy(out, "0.0", 3);
        out += 3;
    } else {
        struct decimal decimal = decimal_of_double(mantissa, exponent);
        char buffer[24];
        char *end = buffer + sizeof buffer;
        char *digits = write_digits_before(end, decimal.digits);
        int point = (int)(end - digits) + decimal.exponent;
        while (end[-1] == '0')
            end--;
        out = write_decimal(out, digits, (int)(end - digits), point);
    }
    *out = '\0';
    return (size_t)(out - text);
}

double number_round(double value, int decimals)
{
    static const double scales[] = {
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const double exact_limit = 0x1p53;
    double scale = scales[decimals];
    double size = fabs(value);
    double product = size * scale;
    /* From here on a double is coarser than the decimals asked for. */
    if (!(product < exact_limit))
        return value;

    /* product + rest is size * scale to the last bit, so that ties are seen for what they are. */
    double rest = fma(size, scale, -product);
    double whole = floor(product);
    double fraction = product - whole;
    bool up = fraction > 0.5;
    if (fraction == 0.5)
        up = rest > 0.0 || (rest == 0.0 && fmod(whole, 2.0) != 0.0);
    return copysign((whole + up) / scale, value);
}

size_t number_format_rounded(double value, int decimals, char *text)
{
    return number_format_double(number_round(value, decimals), text);
}

size_t number_format_uint64(uint64_t value, char *text)
{
    size_t length = count_digits(value);
    write_digits_before(text + length, value);
    text[length] = '\0';
    return length;
}

size_t number_format_int64(int64_t value, char *text)
{
    if (value >= 0)
        return number_format_uint64((uint64_t)value, text);
    *text = '-';
    return 1 + number_format_uint64(-(uint64_t)value, text + 1);
}

void number_add_known(double *sum, double value)
{
    if (!isnan(value))
        *sum = isnan(*sum) ? value : *sum + value;
}
