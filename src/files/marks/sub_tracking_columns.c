#include "files/marks/sub_tracking_columns.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/str.h"
#include "files/marks/sub_tracking_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE(member) offsetof(struct sub_tracking_mark, member)

static const struct column {
    const char *name;
    unsigned bit;
    size_t figure; /* offset in the row, of optional columns */
} columns_table[SUB_TRACKING_COLUMN_COUNT] = {
    [SUB_TRACKING_PROCESS_ID] = {"process_id", 0, 0},
    [SUB_TRACKING_NAME] = {"code_block_name", 0, 0},
    [SUB_TRACKING_POSITION] = {"position", 0, 0},
    [SUB_TRACKING_TIMESTAMP] = {"timestamp", 0, 0},
    [SUB_TRACKING_THREAD_ID] = {"thread_id", SUB_TRACKING_COLUMN_THREAD_ID, FIGURE(thread_id)},
    [SUB_TRACKING_STARTED_NS] = {"started_ns", SUB_TRACKING_COLUMN_STARTED, FIGURE(started_ns)},
    [SUB_TRACKING_THREAD_CPU_NS] = {"thread_cpu_ns", SUB_TRACKING_COLUMNS_EXACT,
        FIGURE(exact.thread_cpu_ns)},
    [SUB_TRACKING_PROCESS_CPU_NS] = {"process_cpu_ns", SUB_TRACKING_COLUMNS_EXACT,
        FIGURE(exact.process_cpu_ns)},
    [SUB_TRACKING_MINOR_FAULTS] = {"minor_faults", SUB_TRACKING_COLUMNS_EXACT,
        FIGURE(exact.minor_faults)},
    [SUB_TRACKING_MAJOR_FAULTS] = {"major_faults", SUB_TRACKING_COLUMNS_EXACT,
        FIGURE(exact.major_faults)},
    [SUB_TRACKING_PEAK_RSS_BYTES] = {"peak_rss_bytes", SUB_TRACKING_COLUMNS_EXACT,
        FIGURE(exact.peak_rss_bytes)},
    [SUB_TRACKING_ENERGY_UJ] = {"energy_uj", SUB_TRACKING_COLUMNS_EXACT, FIGURE(exact.energy_uj)},
    [SUB_TRACKING_BLOCK_PEAK_RSS_BYTES] = {"block_peak_rss_bytes", SUB_TRACKING_COLUMN_BLOCK_PEAK,
        FIGURE(exact.block_peak_rss_bytes)},
    [SUB_TRACKING_INSTRUCTIONS] = {"instructions", SUB_TRACKING_COLUMNS_COUNTERS,
        FIGURE(exact.instructions)},
    [SUB_TRACKING_CYCLES] = {"cycles", SUB_TRACKING_COLUMNS_COUNTERS, FIGURE(exact.cycles)},
    [SUB_TRACKING_CACHE_MISSES] = {"cache_misses", SUB_TRACKING_COLUMNS_COUNTERS,
        FIGURE(exact.cache_misses)},
    [SUB_TRACKING_GPU_NS] = {"gpu_ns", SUB_TRACKING_COLUMN_GPU, FIGURE(exact.gpu_ns)},
};

const char *sub_tracking_column_name(enum sub_tracking_column column)
{
    return columns_table[column].name;
}

enum sub_tracking_column sub_tracking_column_find(const char *name, size_t length)
{
    for (unsigned i = 0; i < SUB_TRACKING_COLUMN_COUNT; i++)
        if (strlen(columns_table[i].name) == length &&
            memcmp(columns_table[i].name, name, length) == 0)
            return i;
    return SUB_TRACKING_OTHER_COLUMN;
}

unsigned sub_tracking_column_bit(enum sub_tracking_column column)
{
    return column < SUB_TRACKING_COLUMN_COUNT ? columns_table[column].bit : 0;
}

unsigned sub_tracking_columns_of(
    unsigned columns, enum sub_tracking_column list[SUB_TRACKING_COLUMN_COUNT])
{
    unsigned count = 0;
    for (unsigned i = 0; i < SUB_TRACKING_COLUMN_COUNT; i++)
        if (i < SUB_TRACKING_REQUIRED_COLUMNS || (columns_table[i].bit & columns))
            list[count++] = i;
    return count;
}

int64_t *sub_tracking_column_figure(struct sub_tracking_mark *row, enum sub_tracking_column column)
{
    return (int64_t *)((char *)row + columns_table[column].figure);
}

void sub_tracking_mark_clear_figures(struct sub_tracking_mark *row)
{
    row->thread_id = row->started_ns = SUB_TRACKING_UNKNOWN;
    memset(&row->exact, 0xff, sizeof row->exact); /* each SUB_TRACKING_UNKNOWN, which is -1 */
}

size_t sub_tracking_format_ns(int64_t ns, char *text)
{
    char *at = text;
    uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    if (ns < 0)
        *at++ = '-';
    at += number_format_uint64(magnitude / NS_PER_SECOND, at);
    *at++ = '.';
    uint32_t fraction = (uint32_t)(magnitude % NS_PER_SECOND);
    for (int i = 8; i >= 0; i--, fraction /= 10)
        at[i] = (char)('0' + fraction % 10);
    size_t decimals = 9;
    while (decimals > 1 && at[decimals - 1] == '0')
        decimals--;
    at[decimals] = '\0';
    return (size_t)(at + decimals - text);
}

/*
 * The double nearest to seconds + fraction / 10^9, for seconds from 2^18 to below 2^33 (year 2242):
 * doubles there lie 2^-shift apart, shift = 52 - exponent, so the fraction is rounded to a multiple
 * of that in whole numbers, half to even. (An integer is an even multiple: its parity does not
 * matter.)
 */
static double seconds_of_parts(uint64_t seconds, uint32_t fraction)
{
    int shift = 52 - (63 - __builtin_clzll(seconds));
    uint64_t scaled = (uint64_t)fraction << shift;
    uint64_t steps = scaled / NS_PER_SECOND;
    uint64_t twice_rest = scaled % NS_PER_SECOND * 2;
    steps += twice_rest > NS_PER_SECOND || (twice_rest == NS_PER_SECOND && (steps & 1));
    return (double)seconds + (double)steps / (double)(UINT64_C(1) << shift);
}

static bool quick_seconds(uint64_t seconds)
{
    return seconds >= UINT64_C(1) << 18 && seconds < UINT64_C(1) << 33;
}

double sub_tracking_seconds_of_ns(int64_t ns)
{
    if (ns > 0 && quick_seconds((uint64_t)(ns / NS_PER_SECOND)))
        return seconds_of_parts((uint64_t)(ns / NS_PER_SECOND), (uint32_t)(ns % NS_PER_SECOND));
    char text[SUB_TRACKING_TIME_TEXT_SIZE];
    size_t length = sub_tracking_format_ns(ns, text);
    double seconds = 0;
    number_parse_double(text, text + length, &seconds);
    return seconds;
}

size_t sub_tracking_format_timestamp(const struct sub_tracking_mark *row, char *text)
{
    if (sub_tracking_seconds_of_ns(row->timestamp_ns) != row->timestamp)
        return number_format_double(row->timestamp, text);
    return sub_tracking_format_ns(row->timestamp_ns, text);
}

/* The value of the last of so many decimals, in nanoseconds. */
static const uint32_t decimal_weights[] = {
    1000000000, 100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};

/* Parses up to `most` digits; `*digits` is their number. */
static uint64_t parse_digits(const char **text, const char *end, int max_digits, int *digits)
{
    const char *begin = *text;
    const char *stop = end - begin < max_digits ? end : begin + max_digits;
    const char *at = begin;
    uint64_t value = 0;
    for (unsigned digit; at < stop && (digit = (unsigned)(*at - '0')) < 10; at++)
        value = value * 10 + digit;
    *digits = (int)(at - begin);
    *text = at;
    return value;
}

/* Parses a plain decimal "-12.345" as nanoseconds, rounded to the nearest. False for other forms,
 * and for more than ten digits before the point. */
static bool decimal_ns(const char *text, const char *end, int64_t *ns)
{
    bool negative = text < end && *text == '-';
    text += negative;
    int digits;
    uint64_t seconds = parse_digits(&text, end, 10, &digits);
    if (digits == 0 || seconds > (uint64_t)(INT64_MAX / NS_PER_SECOND - 1))
        return false;
    uint64_t fraction = 0;
    if (text < end && *text == '.') {
        text++;
        fraction = parse_digits(&text, end, 9, &digits) * decimal_weights[digits];
        fraction += text < end && *text >= '5' && *text <= '9';
        while (text < end && *text >= '0' && *text <= '9')
            text++;
    }
    if (text != end)
        return false;
    int64_t magnitude = (int64_t)(seconds * NS_PER_SECOND + fraction);
    *ns = negative ? -magnitude : magnitude;
    return true;
}

/* The fast path for "1745449609.7528222" and the like; NULL for other forms. */
static const char *parse_plain_timestamp(
    const char *text, const char *end, double *seconds, int64_t *ns)
{
    int digits;
    uint64_t whole = parse_digits(&text, end, 10, &digits);
    if (!quick_seconds(whole) || text == end || *text != '.')
        return NULL;
    text++;
    uint64_t fraction = parse_digits(&text, end, 9, &digits);
    if (digits == 0 || (text < end && *text != ',' && *text != ' ' && *text != '"'))
        return NULL;
    fraction *= decimal_weights[digits];
    *seconds = seconds_of_parts(whole, (uint32_t)fraction);
    *ns = (int64_t)(whole * NS_PER_SECOND + fraction);
    return text;
}

const char *sub_tracking_parse_timestamp(
    const char *text, const char *end, double *seconds, int64_t *ns)
{
    const char *after = parse_plain_timestamp(text, end, seconds, ns);
    if (after)
        return after;
    after = number_parse_double(text, end, seconds);
    if (!after)
        return NULL;
    if (decimal_ns(text, after, ns))
        return after;
    if (!(fabs(*seconds) < (double)(INT64_MAX / NS_PER_SECOND - 1)))
        return NULL;
    *ns = (int64_t)llround(*seconds * NS_PER_SECOND);
    return after;
}

bool sub_tracking_ns_of_seconds(double seconds, int64_t *ns)
{
    char text[NUMBER_TEXT_SIZE];
    size_t length = number_format_double(seconds, text);
    double same;
    return sub_tracking_parse_timestamp(text, text + length, &same, ns) == text + length;
}

/* ---- Readers ---- */

int sub_tracking_invalid(
    const struct sub_tracking_reader *reader, struct gput_error *error, const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return error_set(
        error, GPUT_ERROR_FORMAT, "Sub-tracking file %s is invalid: %s", reader->path, what);
}

void sub_tracking_warn(struct sub_tracking_reader *reader, const char *format, ...)
{
    struct str text = {0};
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    str_printf(&text, "Sub-tracking file %s: %s", reader->path, what);
    free(reader->warning);
    reader->warning = str_steal(&text);
}

void sub_tracking_warn_of_no_marks(struct sub_tracking_reader *reader)
{
    sub_tracking_warn(reader, "it has no marks yet. The program that began it has not written any "
                              "so far, or was killed before that; or the file was truncated.");
}

int sub_tracking_require_columns(
    const struct sub_tracking_reader *reader, unsigned have, struct gput_error *error)
{
    for (unsigned i = 0; i < SUB_TRACKING_REQUIRED_COLUMNS; i++)
        if (!(have & 1u << i))
            return sub_tracking_invalid(reader, error,
                "it has no column %s. Its header must name process_id, code_block_name, position "
                "and timestamp.",
                sub_tracking_column_name(i));
    return GPUT_OK;
}

#define NAME "[gpu-tracker] lost calls: "
#define AT_LEAST "at least "

/* Makes one of the two rows, which has no figures. */
static struct sub_tracking_mark row_at(
    const struct sub_tracking_lost *lost, enum sub_tracking_position position, int64_t time_ns)
{
    struct sub_tracking_mark row = {
        .process_id = lost->process_id,
        .position = (uint8_t)position,
        .timestamp_ns = time_ns | 1, /* the text of an odd time has all nine decimals */
    };
    sub_tracking_mark_clear_figures(&row);
    row.thread_id = lost->process_id;
    row.timestamp = sub_tracking_seconds_of_ns(row.timestamp_ns);
    return row;
}

size_t sub_tracking_lost_rows(const struct sub_tracking_lost *lost,
    struct sub_tracking_mark rows[2], char name[SUB_TRACKING_LOST_NAME_SIZE])
{
    rows[0] = row_at(lost, SUB_TRACKING_START, lost->since_ns);
    rows[1] = row_at(lost, SUB_TRACKING_STOP, lost->until_ns);
    return (size_t)snprintf(name, SUB_TRACKING_LOST_NAME_SIZE, NAME "%s%010" PRIu64,
        lost->at_least ? AT_LEAST : "", lost->calls);
}

/* Whether the text begins so; moves on to what follows. */
static bool skip(const char **text, const char *end, const char *beginning)
{
    size_t length = strlen(beginning);
    if ((size_t)(end - *text) < length || memcmp(*text, beginning, length) != 0)
        return false;
    *text += length;
    return true;
}

bool sub_tracking_lost_parse(const char *name, size_t length, struct sub_tracking_lost *lost)
{
    const char *end = name + length;
    int64_t number = 0;
    if (!skip(&name, end, NAME))
        return false;
    bool at_least = skip(&name, end, AT_LEAST);
    if (number_parse_int64(name, end, &number) != end || number < 1)
        return false;
    lost->calls = (uint64_t)number;
    lost->at_least = at_least;
    return true;
}

void sub_tracking_lost_add(struct sub_tracking_lost *lost, const struct sub_tracking_lost *other)
{
    bool is_first = lost->calls == 0;
    lost->at_least |= other->at_least;
    if (other->calls == 0)
        return;
    if (is_first || other->since_ns < lost->since_ns)
        lost->since_ns = other->since_ns;
    if (is_first || other->until_ns > lost->until_ns)
        lost->until_ns = other->until_ns;
    lost->process_id = other->process_id;
    lost->calls += other->calls;
}
