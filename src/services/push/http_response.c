#include "services/push/http_response.h"

#include "base/number.h"

#include <locale.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* A line, or a part of one. */
struct piece {
    const char *at;
    size_t length;
};

/* Removes blanks from both ends of a part. */
static struct piece trim(struct piece piece)
{
    while (piece.length > 0 && (piece.at[0] == ' ' || piece.at[0] == '\t')) {
        piece.at++;
        piece.length--;
    }
    while (piece.length > 0 && strchr(" \t\r", piece.at[piece.length - 1]))
        piece.length--;
    return piece;
}

/* Copies a text, with '?' for characters that are not printable: a server may send anything, and
 * the text is shown on a terminal. */
static void copy_text(struct piece piece, char *text, size_t size)
{
    size_t length = piece.length < size ? piece.length : size - 1;
    for (size_t i = 0; i < length; i++)
        text[i] = piece.at[i] >= ' ' && piece.at[i] <= '~' ? piece.at[i] : '?';
    text[length] = '\0';
}

/* Reads the status line. The status remains 0 if it is not HTTP. */
static void read_status(struct piece line, struct http_answer *answer)
{
    uint64_t status = 0;
    const char *end = line.at + line.length;
    if (line.length < 12 || memcmp(line.at, "HTTP/1.", 7) != 0 || line.at[8] != ' ')
        return;
    const char *rest = number_parse_uint64(line.at + 9, end, &status);
    if (!rest || status < 100 || status > 599)
        return;
    answer->status = (int)status;
    copy_text(
        trim((struct piece){rest, (size_t)(end - rest)}), answer->reason, sizeof answer->reason);
}

/* Reads how long to wait: a number of seconds, or a date such as "Wed, 21 Oct 2026 07:28:00 GMT".
 */
static double read_retry_after(struct piece value, int64_t now)
{
    uint64_t seconds;
    char text[40];
    struct tm date = {0};
    if (number_parse_uint64(value.at, value.at + value.length, &seconds))
        return (double)seconds;
    copy_text(value, text, sizeof text);
    locale_t plain = newlocale(LC_ALL_MASK, "C", NULL); /* English names of days and months */
    locale_t before = uselocale(plain);
    bool is_date = strptime(text, "%a, %d %b %Y %H:%M:%S", &date) != NULL;
    uselocale(before);
    freelocale(plain);
    if (!is_date)
        return -1;
    double until = (double)timegm(&date) - (double)now;
    return until > 0 ? until : 0;
}

/* Whether a field has that name, in any case of letters. */
static bool is_named(struct piece name, const char *text)
{
    return name.length == strlen(text) && strncasecmp(name.at, text, name.length) == 0;
}

/* Reads a header field, if it is one of those that are needed. */
static void read_field(struct piece line, int64_t now, struct http_answer *answer)
{
    const char *colon = memchr(line.at, ':', line.length);
    int64_t length;
    if (!colon)
        return;
    struct piece name = {line.at, (size_t)(colon - line.at)};
    struct piece value = trim((struct piece){colon + 1, line.length - name.length - 1});
    const char *end = value.at + value.length;
    if (is_named(name, "Retry-After"))
        answer->retry_after = read_retry_after(value, now);
    else if (is_named(name, "Location"))
        copy_text(value, answer->location, sizeof answer->location);
    else if (is_named(name, "Transfer-Encoding"))
        answer->is_chunked = is_named(value, "chunked");
    else if (is_named(name, "Content-Length") && number_parse_int64(value.at, end, &length) &&
             length >= 0)
        answer->content_length = length;
}

/* Parses one head. Returns false when it is not complete yet. */
static bool parse_head(const char *bytes, size_t length, int64_t now, struct http_answer *answer)
{
    *answer = (struct http_answer){.retry_after = -1, .content_length = -1};
    const char *at = bytes, *end = bytes + length, *newline;
    for (size_t n = 0; (newline = memchr(at, '\n', (size_t)(end - at))); n++, at = newline + 1) {
        struct piece line = trim((struct piece){at, (size_t)(newline - at)});
        if (n == 0)
            read_status(line, answer);
        else if (line.length > 0)
            read_field(line, now, answer);
        answer->head_length = (size_t)(newline + 1 - bytes);
        if (answer->status == 0 || (n > 0 && line.length == 0))
            return true;
    }
    return false;
}

bool http_answer_parse(const char *bytes, size_t length, int64_t now, struct http_answer *answer)
{
    size_t before = 0;
    while (parse_head(bytes + before, length - before, now, answer)) {
        before = answer->head_length += before;
        if (answer->status < 100 || answer->status > 199)
            return true;
    }
    return false;
}

/* Returns the size of the chunk at `*at`, and moves `*at` past its line. -1: the line is not
 * complete. */
static int64_t next_chunk(const char **at, const char *end)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    int64_t size = 0;
    int digits = 0;
    for (; newline && *at < newline; ++*at, digits++) {
        const char *hex = "0123456789abcdef", *digit = strchr(hex, **at | 0x20);
        if (!digit || digits == 15)
            break;
        size = size * 16 + (digit - hex);
    }
    *at = newline ? newline + 1 : end;
    return newline && digits > 0 ? size : -1;
}

bool http_answer_is_complete(const struct http_answer *answer, const char *bytes, size_t length)
{
    size_t body = length - answer->head_length;
    if (answer->status == 204 || answer->status == 304)
        return true;
    if (!answer->is_chunked)
        return answer->content_length >= 0 && (uint64_t)answer->content_length <= body;
    const char *at = bytes + answer->head_length, *end = bytes + length;
    for (int64_t size; (size = next_chunk(&at, end)) != 0;) {
        if (size < 0 || end - at < size + 2)
            return false;
        at += size + 2;
    }
    return true;
}

size_t http_answer_join_chunks(char *body, size_t length)
{
    const char *at = body, *end = body + length;
    char *to = body;
    for (int64_t size; (size = next_chunk(&at, end)) > 0;) {
        size_t there = end - at < size ? (size_t)(end - at) : (size_t)size;
        memmove(to, at, there);
        to += there;
        at += there;
        at += end - at < 2 ? end - at : 2;
    }
    return (size_t)(to - body);
}
