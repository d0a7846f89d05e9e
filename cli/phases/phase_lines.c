#include "phase_lines.h"

#include <string.h>

void phase_lines_init(
    struct phase_lines *lines, const struct phase_matcher *matcher, phase_found *found, void *user)
{
    lines->matcher = matcher;
    lines->found = found;
    lines->user = user;
    lines->length = 0;
}

/* Returns the byte after an escape sequence of a terminal, which begins at `at`. */
static const char *skip_escape(const char *at, const char *end)
{
    at++;
    if (at == end || *at != '[')
        return at;
    at++;
    while (at < end && !(*at >= '@' && *at <= '~'))
        at++;
    return at < end ? at + 1 : at;
}

/* Whether bytes have neither escape sequences nor zero bytes. */
static bool is_text(const char *bytes, size_t length)
{
    return !memchr(bytes, '\033', length) && !memchr(bytes, '\0', length);
}

/* Matches a line as a text, without escape sequences and with blanks for zero bytes. */
static void match(struct phase_lines *lines, const char *line, size_t length, bool is_redrawn)
{
    char text[PHASE_LINE_SIZE], name[PHASE_NAME_SIZE];
    /* regexec() takes minutes for a back reference in 2,000 bytes, but a tenth of a second in
     * 200. */
    size_t most = lines->matcher->has_back_reference ? sizeof name : sizeof text;
    const char *end = line + (length < most ? length : most - 1);
    size_t used = 0;
    if (length == 0)
        return;
    if (is_text(line, (size_t)(end - line))) {
        used = (size_t)(end - line);
        memcpy(text, line, used);
    } else {
        for (const char *at = line; at < end;) {
            if (*at == '\033') {
                at = skip_escape(at, end);
                continue;
            }
            text[used++] = *at ? *at : ' ';
            at++;
        }
    }
    text[used] = '\0';
    if (phase_matcher_name(lines->matcher, text, name))
        lines->found(lines->user, name, is_redrawn);
}

/* Returns the first end of a line; NULL: there is none. */
static const char *find_end(const char *at, const char *end)
{
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    const char *one = memchr(at, '\r', (size_t)((feed ? feed : end) - at));
    return !one || (feed && feed < one) ? feed : one;
}

/* Returns the last end of a line; NULL: there is none. */
static const char *find_last_end(const char *at, const char *end)
{
    const char *feed = memrchr(at, '\n', (size_t)(end - at));
    const char *from = feed ? feed : at;
    const char *back = memrchr(from, '\r', (size_t)(end - from));
    return back ? back : feed;
}

/* Keeps the beginning of a line whose end was not read yet. */
static void keep(struct phase_lines *lines, const char *bytes, size_t length)
{
    size_t space = sizeof lines->partial - lines->length;
    size_t kept = length < space ? length : space;
    memcpy(lines->partial + lines->length, bytes, kept);
    lines->length += kept;
}

/* Matches complete lines. `is_plain`: they have neither escape sequences nor zero bytes. */
static void match_all(struct phase_lines *lines, const char *at, const char *end, bool is_plain)
{
    const struct phase_matcher *matcher = lines->matcher;
    while (at < end) {
        const char *line_end = find_end(at, end);
        if (!is_plain || !matcher->is_anchored || matcher->may_begin[(unsigned char)*at])
            match(lines, at, (size_t)(line_end - at), *line_end == '\r');
        at = line_end + 1;
    }
}

/* Whether a line is longer than the part that is searched. */
static bool has_long_line(const char *at, const char *end)
{
    while (end - at >= PHASE_LINE_SIZE) {
        const char *last = find_last_end(at, at + PHASE_LINE_SIZE);
        if (!last)
            return true;
        at = last + 1;
    }
    return false;
}

/* Finds the first place where a line may match; NULL: there is none. Returns false if that is not
 * known. */
static bool find_place(
    const struct phase_matcher *matcher, const char *at, const char *end, const char **found)
{
    if (matcher->search.code)
        return line_search_find(&matcher->search, at, end, found);
    *found = phase_matcher_find(matcher, at, end);
    return true;
}

/* Matches only the lines that the search proposes. */
static void match_some(struct phase_lines *lines, const char *at, const char *end)
{
    const char *found = NULL;
    while (at < end) {
        if (!find_place(lines->matcher, at, end, &found)) {
            match_all(lines, at, end, true);
            return;
        }
        if (!found)
            return;
        const char *before = find_last_end(at, found);
        const char *line = before ? before + 1 : at;
        const char *line_end = find_end(found, end);
        match(lines, line, (size_t)(line_end - line), *line_end == '\r');
        at = line_end + 1;
    }
}

void phase_lines_add(struct phase_lines *lines, const char *bytes, size_t length)
{
    const char *at = bytes, *end = bytes + length;
    const char *last = find_last_end(at, end);
    if (lines->length > 0 && last) {
        const char *line_end = find_end(at, end);
        keep(lines, at, (size_t)(line_end - at));
        match(lines, lines->partial, lines->length, *line_end == '\r');
        lines->length = 0;
        at = line_end + 1;
    }
    if (last && at <= last) {
        /* Search only plain text: match() may remove or replace bytes inside the literal. */
        bool is_plain = is_text(at, (size_t)(last - at));
        const struct phase_matcher *matcher = lines->matcher;
        bool is_searched =
            matcher->search.code ? !has_long_line(at, last + 1) : matcher->literal_length > 0;
        if (is_plain && is_searched)
            match_some(lines, at, last + 1);
        else
            match_all(lines, at, last + 1, is_plain);
        at = last + 1;
    }
    keep(lines, at, (size_t)(end - at));
}

void phase_lines_end(struct phase_lines *lines)
{
    match(lines, lines->partial, lines->length, false);
    lines->length = 0;
}
