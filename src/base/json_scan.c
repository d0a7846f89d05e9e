#include "base/json_scan.h"

#include "base/json_fast.h"
#include "base/number.h"

#include <endian.h>
#include <math.h>

/* Moves over the plain bytes of a string: to its quote, a backslash or a control character. */
static const char *skip_plain(const char *at, uint8_t *flags)
{
#ifdef __SSE2__
    const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
    const __m128i control = _mm_set1_epi8(0x1f);
    for (;; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)at);
        __m128i stop = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
        stop = _mm_or_si128(stop, _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
        unsigned stops = (unsigned)_mm_movemask_epi8(stop);
        unsigned high = (unsigned)_mm_movemask_epi8(bytes);
        if (stops != 0) {
            unsigned before = (stops & -stops) - 1;
            if (high & before)
                *flags |= JSON_NOT_ASCII;
            return at + __builtin_ctz(stops);
        }
        if (high)
            *flags |= JSON_NOT_ASCII;
    }
#else
    for (;; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\' || byte < 0x20)
            return at;
        if (byte & 0x80)
            *flags |= JSON_NOT_ASCII;
    }
#endif
}

static bool is_hex(char byte)
{
    return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
}

size_t json_escape_length(const char *at)
{
    if (at[1] == 'u')
        return is_hex(at[2]) && is_hex(at[3]) && is_hex(at[4]) && is_hex(at[5]) ? 6 : 0;
    return at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) ? 2 : 0;
}

/* Says what a byte that does not belong there means: the end of the text, or damage. */
static enum json_status stopped_at(const char *at, const char *end)
{
    return at >= end ? JSON_TORN : JSON_BAD;
}

/* Says whether the escape at `at` is not valid, or is truncated. */
static enum json_status broken_escape(const char *at, const char *end)
{
    const char *here = at + 1;
    if (*here == 'u')
        for (here++; is_hex(*here) && here < at + 6;)
            here++;
    return stopped_at(here, end);
}

/* Scans a string from after its opening quote to after the closing one. */
static enum json_status scan_string(const char **at, const char *end, uint8_t *flags)
{
    const char *here = *at;
    for (;;) {
        here = skip_plain(here, flags);
        if (*here == '"' && here < end) {
            *at = here + 1;
            return JSON_OK;
        }
        if (*here != '\\' || here >= end)
            return stopped_at(here, end);
        *flags |= JSON_ESCAPED;
        size_t escape = json_escape_length(here);
        if (escape == 0)
            return broken_escape(here, end);
        here += escape;
    }
}

static bool is_digit(char byte)
{
    return (unsigned char)(byte - '0') < 10;
}

/* Scans a number, in the form that JSON allows. */
static enum json_status scan_number(const char **at, const char *end)
{
    const char *here = *at;
    here += *here == '-';
    if (!is_digit(*here))
        return stopped_at(here, end);
    if (*here == '0')
        here++;
    else
        while (is_digit(*here))
            here++;
    if (*here == '.') {
        here++;
        if (!is_digit(*here))
            return stopped_at(here, end);
        while (is_digit(*here))
            here++;
    }
    if ((*here | 0x20) == 'e') {
        here++;
        here += *here == '-' || *here == '+';
        if (!is_digit(*here))
            return stopped_at(here, end);
        while (is_digit(*here))
            here++;
    }
    if (here >= end)
        return JSON_TORN;
    *at = here;
    return JSON_OK;
}

/* Scans a word like "true". */
static enum json_status scan_word(const char **at, const char *end, const char *word)
{
    size_t length = strlen(word);
    size_t there = (size_t)(end - *at);
    if (there < length)
        return memcmp(*at, word, there) == 0 ? JSON_TORN : JSON_BAD;
    if (memcmp(*at, word, length) != 0)
        return JSON_BAD;
    *at += length;
    return JSON_OK;
}

/* The words that JSON has, those of Python's JSON, and what printf() and std::ostream make of
 * numbers that JSON has not. */
static const struct word {
    const char *text;
    enum json_kind kind;
} words[] = {{"true", JSON_TRUE}, {"false", JSON_FALSE}, {"null", JSON_NULL}, {"NaN", JSON_NAN},
    {"Infinity", JSON_NAN}, {"-Infinity", JSON_NAN}, {"nan", JSON_NAN}, {"-nan", JSON_NAN},
    {"inf", JSON_NAN}, {"-inf", JSON_NAN}};

/* Scans a word, or the beginning of one where the text ends. Returns NULL for what is none. */
static const struct word *scan_any_word(const char **at, const char *end, enum json_status *status)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        *status = scan_word(at, end, words[i].text);
        if (*status != JSON_BAD)
            return &words[i];
    }
    return NULL;
}

enum json_status json_scan_scalar(const char **at, const char *end, struct json_value *value)
{
    enum json_status status;
    value->text = *at;
    value->flags = 0;
    if (**at == '"') {
        value->kind = JSON_STRING;
        value->text = ++*at;
        status = scan_string(at, end, &value->flags);
        if (status == JSON_OK)
            value->length = (uint32_t)(*at - 1 - value->text);
        return status;
    }
    bool is_number = is_digit(**at) || (**at == '-' && is_digit((*at)[1]));
    const struct word *word = is_number ? NULL : scan_any_word(at, end, &status);
    value->kind = word ? word->kind : JSON_NUMBER;
    if (!word)
        status = scan_number(at, end);
    if (value->kind == JSON_NAN)
        value->flags = JSON_HAS_NAN;
    value->length = (uint32_t)(*at - value->text);
    return status;
}

/* Scans a key as scan_key() does, also one with escapes, or with space before its colon. */
static enum json_status scan_key_slowly(const char **at, const char *end, struct json_value *key)
{
    if (**at != '"' || *at >= end)
        return stopped_at(*at, end);
    enum json_status status = json_scan_scalar(at, end, key);
    if (status != JSON_OK)
        return status;
    *at = json_skip_space(*at);
    if (**at != ':')
        return stopped_at(*at, end);
    *at = json_skip_space(*at + 1);
    return *at < end ? JSON_OK : JSON_TORN;
}

/* Scans the key of a member, its colon and the space around, up to where the value starts. */
static inline enum json_status scan_key(const char **at, const char *end, struct json_value *key)
{
    const char *quote = **at == '"' ? json_fast_string(*at + 1) : NULL;
    if (!quote || quote[1] != ':')
        return scan_key_slowly(at, end, key);
    *key = (struct json_value){*at + 1, (uint32_t)(quote - *at - 1), JSON_STRING, 0};
    *at = json_skip_space(quote + 2);
    return *at < end ? JSON_OK : JSON_TORN;
}

/* The open arrays and objects of a value, one bit a level: 1 for an object. */
struct nesting {
    uint64_t objects;
    int depth;
};

/* Opens an array or object; false: it is too deep. */
static bool nesting_open(struct nesting *nesting, bool object)
{
    if (nesting->depth == JSON_MAX_DEPTH)
        return false;
    nesting->depth++;
    nesting->objects = nesting->objects << 1 | object;
    return true;
}

/* Moves from an opening bracket or a comma to the next value, past its key inside an object. An
 * empty container closes at once, which sets `*closed`. */
static inline enum json_status scan_to_value(const char **at, const char *end,
    const struct nesting *nesting, bool opened, uint8_t *flags, bool *closed)
{
    bool object = nesting->objects & 1;
    *closed = false;
    *at = json_skip_space(*at);
    if (*at >= end)
        return JSON_TORN;
    if (opened && **at == (object ? '}' : ']')) {
        *closed = true;
        return JSON_OK;
    }
    if (!object)
        return JSON_OK;
    struct json_value key;
    enum json_status status = scan_key(at, end, &key);
    *flags |= key.flags;
    return status;
}

/* Closes the containers that end after a value. True: the first one, too. */
static inline bool close_containers(const char **at, const char *end, struct nesting *nesting)
{
    while (**at == ((nesting->objects & 1) ? '}' : ']') && *at < end) {
        ++*at;
        nesting->objects >>= 1;
        if (--nesting->depth == 0)
            return true;
        *at = json_skip_space(*at);
    }
    return false;
}

/* Scans an array or object, however deep, without recursion. */
static enum json_status scan_container(const char **at, const char *end, struct json_value *value)
{
    struct nesting nesting = {0};
    const char *here = *at;
    uint8_t flags = 0;
    value->text = here;
    value->kind = *here == '{' ? JSON_OBJECT : JSON_ARRAY;
    while (true) {
        bool closed = false;
        if (*here == '{' || *here == '[') { /* at the start of a value */
            if (!nesting_open(&nesting, *here == '{'))
                return JSON_BAD;
            here++;
            enum json_status status = scan_to_value(&here, end, &nesting, true, &flags, &closed);
            if (status != JSON_OK)
                return status;
            if (!closed)
                continue;
        } else {
            struct json_value scalar;
            enum json_status status = json_fast_scalar(&here, end, &scalar);
            if (status != JSON_OK)
                return status;
            flags |= scalar.flags;
            here = json_skip_space(here);
        }
        if (close_containers(&here, end, &nesting)) {
            value->length = (uint32_t)(here - value->text);
            value->flags = flags;
            *at = here;
            return JSON_OK;
        }
        if (*here != ',')
            return stopped_at(here, end);
        here++;
        enum json_status status = scan_to_value(&here, end, &nesting, false, &flags, &closed);
        if (status != JSON_OK)
            return status;
    }
}

enum json_status json_scan_value(const char **at, const char *end, struct json_value *value)
{
    if (*at >= end)
        return JSON_TORN;
    if (**at == '{' || **at == '[')
        return scan_container(at, end, value);
    return json_fast_scalar(at, end, value);
}

enum json_status json_scan_member(
    const char **at, const char *end, struct json_value *key, struct json_value *value, bool *last)
{
    enum json_status status = scan_key(at, end, key);
    if (status == JSON_OK)
        status = json_scan_value(at, end, value);
    if (status != JSON_OK)
        return status;
    const char *here = json_skip_space(*at);
    if ((*here != ',' && *here != '}') || here >= end)
        return stopped_at(here, end);
    *last = *here == '}';
    *at = here + 1;
    return JSON_OK;
}

struct json_walk json_walk(const struct json_value *container)
{
    struct json_walk walk = {NULL, NULL};
    if (container->kind == JSON_OBJECT || container->kind == JSON_ARRAY) {
        walk.at = json_skip_space(container->text + 1);
        walk.end = container->text + container->length;
    }
    return walk;
}

bool json_walk_member(struct json_walk *walk, struct json_value *key, struct json_value *value)
{
    bool last;
    if (walk->at >= walk->end || *walk->at == '}')
        return false;
    if (json_scan_member(&walk->at, walk->end, key, value, &last) != JSON_OK) {
        walk->at = walk->end;
        return false;
    }
    walk->at = last ? walk->end : json_skip_space(walk->at);
    return true;
}

bool json_walk_item(struct json_walk *walk, struct json_value *value)
{
    if (walk->at >= walk->end || *walk->at == ']')
        return false;
    if (json_scan_value(&walk->at, walk->end, value) != JSON_OK) {
        walk->at = walk->end;
        return false;
    }
    walk->at = json_skip_space(walk->at);
    walk->at = *walk->at == ',' ? json_skip_space(walk->at + 1) : walk->end;
    return true;
}

struct json_value json_member(const struct json_value *object, const char *name)
{
    struct json_value key, value;
    struct json_walk walk = json_walk(object);
    if (object->kind == JSON_OBJECT)
        while (json_walk_member(&walk, &key, &value))
            if (json_is(&key, name))
                return value;
    return (struct json_value){.kind = JSON_NONE};
}

/* Parses up to eight digits at once. Returns how many there are. */
static inline unsigned parse_digits(const char *text, uint64_t *value)
{
    uint64_t bytes;
    memcpy(&bytes, text, sizeof bytes);
    uint64_t digits = le64toh(bytes) ^ 0x3030303030303030;
    uint64_t others = (digits + 0x7676767676767676) & 0x8080808080808080;
    others |= digits & 0x8080808080808080;
    unsigned count = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
    if (count == 0)
        return 0;
    digits <<= 64 - 8 * count;            /* as if zeroes stood before them */
    digits = digits * 10 + (digits >> 8); /* pairs, in every second byte */
    uint64_t outer = (digits & 0x000000ff000000ff) * (100 + (UINT64_C(1000000) << 32));
    uint64_t inner = (digits >> 16 & 0x000000ff000000ff) * (1 + (UINT64_C(10000) << 32));
    *value = (outer + inner) >> 32;
    return count;
}

bool json_int64(const struct json_value *value, int64_t *number)
{
    uint64_t digits = 0;
    if (value->kind != JSON_NUMBER && value->kind != JSON_STRING)
        return false;
    if (value->length - 1 < 8 && parse_digits(value->text, &digits) == value->length) {
        *number = (int64_t)digits;
        return true;
    }
    const char *end = value->text + value->length;
    if (number_parse_int64(value->text, end, number) == end)
        return true;
    double real;
    if (!json_double(value, &real) || real != floor(real) || fabs(real) >= 0x1p63)
        return false;
    *number = (int64_t)real;
    return true;
}

bool json_double(const struct json_value *value, double *number)
{
    if (value->kind != JSON_NUMBER && value->kind != JSON_STRING)
        return false;
    const char *end = value->text + value->length;
    return value->length > 0 && number_parse_double(value->text, end, number) == end &&
           isfinite(*number);
}

/* Adds a digit at the end of a number; false: it is too large. */
static bool add_digit(uint64_t *sum, unsigned digit)
{
    return !__builtin_mul_overflow(*sum, 10, sum) && !__builtin_add_overflow(*sum, digit, sum) &&
           *sum <= INT64_MAX;
}

/* Scales a number digit by digit, as some may not fit. */
static bool scaled_with_care(const struct json_value *value, int places, int64_t *number)
{
    const char *at = value->text, *end = at + value->length;
    bool negative = *at == '-';
    at += negative;
    uint64_t sum = 0;
    const char *first = at;
    for (; at < end && is_digit(*at); at++)
        if (!add_digit(&sum, (unsigned)(*at - '0')))
            return false;
    if (at == first)
        return false;
    bool fraction = at < end && *at == '.';
    at += fraction;
    for (int i = 0; i < places; i++) {
        bool there = fraction && at < end && is_digit(*at);
        if (!add_digit(&sum, there ? (unsigned)(*at - '0') : 0))
            return false;
        at += there;
    }
    while (fraction && at < end && is_digit(*at))
        at++;
    if (at < end) {
        /* It has an exponent: scale it as a double. */
        double real;
        if (!json_double(value, &real))
            return false;
        real *= pow(10, places);
        if (!(fabs(real) < 0x1p63))
            return false;
        *number = (int64_t)real;
        return true;
    }
    *number = negative ? -(int64_t)sum : (int64_t)sum;
    return true;
}

bool json_scaled_int64(const struct json_value *value, int places, int64_t *number)
{
    static const uint32_t powers[] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    if ((value->kind != JSON_NUMBER && value->kind != JSON_STRING) || value->length == 0)
        return false;
    const char *at = value->text, *end = at + value->length;
    uint64_t sum = 0, more = 0;
    unsigned count = parse_digits(at, &sum), decimals = 0;
    at += count;
    if (count == 8 && (count = parse_digits(at, &more)) > 0) {
        sum = sum * powers[count] + more;
        at += count;
    }
    if (at > value->text && at < end && *at == '.') {
        decimals = parse_digits(++at, &more);
        if (decimals > 0)
            sum = sum * powers[decimals] + more;
        at += decimals;
    }
    unsigned digits = (unsigned)value->length - (decimals > 0);
    if (at == value->text || at != end || digits + (unsigned)places > 19 + decimals || digits > 19)
        return scaled_with_care(value, places, number);
    for (; decimals < (unsigned)places; decimals++)
        sum *= 10;
    for (; decimals > (unsigned)places; decimals--)
        sum /= 10;
    *number = (int64_t)sum;
    return sum <= INT64_MAX;
}
