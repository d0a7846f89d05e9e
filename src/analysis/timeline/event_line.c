#include "analysis/timeline/event_line.h"

#include "base/number.h"
#include "base/utf8.h"
#include "files/trace/json_scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* What an event's line takes besides its texts, at most. */
#define LINE_OVERHEAD (4 * NUMBER_TEXT_SIZE + 160)

static char *put(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

static char *put_int(char *at, int64_t value)
{
    return at + number_format_int64(value, at);
}

/* Thousandths after a whole number. */
static char *put_decimals(char *at, unsigned thousandths)
{
    const char decimals[4] = {'.', (char)('0' + thousandths / 100),
        (char)('0' + thousandths / 10 % 10), (char)('0' + thousandths % 10)};
    memcpy(at, decimals, sizeof decimals);
    if (thousandths == 0)
        return at;
    return at + (decimals[3] != '0' ? 4 : decimals[2] != '0' ? 3 : 2);
}

/* Nanoseconds as microseconds, with decimals only where they are needed. */
static char *put_us(char *at, int64_t ns)
{
    int64_t us = ns / 1000, rest = ns % 1000;
    if (ns < 0) {
        *at++ = '-';
        us = -us;
        rest = -rest;
    }
    at = put_int(at, us);
    return put_decimals(at, (unsigned)rest);
}

/* For texts of events: both what is read and what is written may go 15 bytes beyond the end. */
static char *put_text(char *at, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i += 16)
        memcpy(at + i, text + i, 16);
    return at + length;
}

/* Copies up to a line break or `end`; returns how much. Goes beyond as put_text() does. */
static size_t put_line(char *at, const char *text, const char *end)
{
    size_t length = (size_t)(end - text);
#ifdef __SSE2__
    const __m128i line_break = _mm_set1_epi8('\n');
    for (size_t i = 0; i < length; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(text + i));
        unsigned breaks = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, line_break));
        _mm_storeu_si128((__m128i *)(at + i), bytes);
        if (length - i < 16)
            breaks &= (1U << (length - i)) - 1;
        if (breaks != 0)
            return i + (unsigned)__builtin_ctz(breaks);
    }
#else
    const char *line_break = memchr(text, '\n', length);
    length = line_break ? (size_t)(line_break - text) : length;
    memcpy(at, text, length);
#endif
    return length;
}

/* Line breaks stand only between the tokens of a value: they go, with the indentation. */
static char *put_on_one_line(char *at, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        size_t copied = put_line(at, text, end);
        at += copied;
        for (text += copied; text < end && (unsigned char)*text <= ' ';)
            text++;
    }
    return at;
}

/* Writes two digits at `at`, and returns the place after them. */
static char *put_two_digits(char *at, unsigned number)
{
    at[0] = (char)('0' + number / 10);
    at[1] = (char)('0' + number % 10);
    return at + 2;
}

/* A moment: nearly all lie in the second of the one before. */
static char *put_moment(char *at, int64_t ns, struct event_line_memory *last)
{
    int64_t second = ns / 1000000000;
    unsigned rest = (unsigned)(ns % 1000000000);
    if (ns < 1000000000)
        return put_us(at, ns);
    if (second != last->second) {
        last->second = second;
        last->length = number_format_int64(second, last->text);
    }
    memcpy(at, last->text, sizeof last->text);
    at += last->length;
    at = put_two_digits(at, rest / 10000000);
    at = put_two_digits(at, rest / 100000 % 100);
    at = put_two_digits(at, rest / 1000 % 100);
    return put_decimals(at, rest % 1000);
}

void event_line_append(struct str *out, struct timeline_event *event, const char *heading,
    size_t heading_length, struct event_line_memory *memory)
{
    if ((event->name.flags | event->category.flags | event->args.flags) & JSON_NOT_ASCII) {
        /* Check that every text is UTF-8 if one is not ASCII. `clean` then holds the texts. */
        size_t starts[TEXT_COUNT];
        str_clear(&memory->clean);
        for (int i = 0; i < TEXT_COUNT; i++) {
            starts[i] = memory->clean.length;
            utf8_append(event->texts[i].text, event->texts[i].length, &memory->clean);
            event->texts[i].length = memory->clean.length - starts[i];
        }
        str_reserve(&memory->clean, JSON_PADDING);
        for (int i = 0; i < TEXT_COUNT; i++)
            event->texts[i].text = str_text(&memory->clean) + starts[i];
    }

    out->failed |= memory->clean.failed;
    const struct json_text *name = &event->name, *category = &event->category;
    if (!str_reserve(out, name->length + category->length + event->args.length + LINE_OVERHEAD))
        return;
    char *at = out->data + out->length;
    at = PUT(at, ",\n{\"name\": \"");
    at = put_text(at, name->text, name->length);
    if (category->length > 0) {
        at = PUT(at, "\", \"cat\": \"");
        at = put_text(at, category->text, category->length);
    }
    at = put_text(at, heading, heading_length);
    *at++ = event->type;
    at = PUT(at, "\", \"ts\": ");
    at = put_moment(at, event->start_ns, memory);
    if (event->type == 'X') {
        at = PUT(at, ", \"dur\": ");
        at = put_us(at, event->duration_ns);
    }

    /* Write those members of an event that few have. */
    if (event->has_id) {
        /* Write the id as a number, or in hex where a reader with floating point would confuse it
         * with others. */
        at = event->id_is_local ? PUT(at, ", \"id2\": {\"local\": ") : PUT(at, ", \"id\": ");
        if (event->id_is_local || event->id >> 53 != 0)
            at += sprintf(at, "\"0x%" PRIx64 "\"", event->id);
        else
            at = put_int(at, (int64_t)event->id);
        if (event->id_is_local)
            *at++ = '}';
    }

    if (event->bind_point) {
        at = PUT(at, ", \"bp\": \"");
        *at++ = event->bind_point;
        *at++ = '"';
    }
    if (event->scope) {
        at = PUT(at, ", \"s\": \"");
        *at++ = event->scope;
        *at++ = '"';
    }

    if (event->args.length > 0) {
        at = PUT(at, ", \"args\": ");
        at = put_on_one_line(at, event->args.text, event->args.length);
    }
    *at++ = '}';
    *at = '\0';
    out->length = (size_t)(at - out->data);
}
