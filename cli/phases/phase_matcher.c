#include "phase_matcher.h"

#include "base/error.h"
#include "base/utf8.h"
#include "line_search.h"

#include <string.h>

/* From this length on, a literal is rare enough for memchr() and memmem(). */
#define LITERAL_IS_FASTER 3

/* ---- Literal text of all matches ---- */

/* The longest run of literal characters so far, and the current one. */
struct runs {
    char current[sizeof((struct phase_matcher *)0)->literal];
    size_t length;
    struct phase_matcher *matcher;
};

/* Ends a run of literal characters, and keeps it if it is the longest. */
static void end_run(struct runs *runs)
{
    struct phase_matcher *matcher = runs->matcher;
    if (runs->length > matcher->literal_length) {
        memcpy(matcher->literal, runs->current, runs->length);
        matcher->literal_length = runs->length;
    }
    runs->length = 0;
}

/* Returns the byte after a group that begins at `at`. `*has_choice`: it has alternatives. */
static const char *skip_group(const char *at, bool *has_choice)
{
    int depth = 0;
    *has_choice = false;
    while (*at) {
        if (*at == '[') {
            at = brackets_skip(at);
            continue;
        }
        *has_choice |= *at == '|';
        depth += (*at == '(') - (*at == ')');
        at += *at == '\\' && at[1] ? 2 : 1;
        if (depth == 0)
            break;
    }
    return at;
}

/* Whether the item before `at` may be absent, as in "x+?" or "x*". */
static bool may_be_absent(const char *at)
{
    at += strspn(at, "+");
    return *at == '*' || *at == '?' || *at == '{';
}

/* Adds an ordinary character, depending on the quantifier after it. */
static void add_character(struct runs *runs, char byte, const char *after)
{
    if (may_be_absent(after)) {
        end_run(runs);
        return;
    }
    if (runs->length == sizeof runs->current)
        end_run(runs);
    runs->current[runs->length++] = byte;

    if (*after == '+')
        end_run(runs);
}

/* Finds the longest literal text that every match of a pattern contains. */
static void find_literal(struct phase_matcher *matcher, const char *pattern)
{
    struct runs runs = {.matcher = matcher};
    for (const char *at = pattern; *at;) {
        if (*at == '(') {
            bool has_choice;
            const char *after = skip_group(at, &has_choice);
            end_run(&runs);
            at = has_choice || may_be_absent(after) ? after : at + 1;

        } else if (*at == '[') {
            end_run(&runs);
            at = brackets_skip(at);
        } else if (*at == '|') {
            matcher->literal_length = 0;
            return;
        } else if (*at == '\\' && at[1]) {
            if (strchr("^.[]()|*+?{}$\\/-", at[1]))
                add_character(&runs, at[1], at + 2);
            else
                end_run(&runs);
            at += 2;
        } else if (*at == '{') {
            end_run(&runs);
            at += strcspn(at, "}");
            at += *at == '}';
        } else if (strchr("^$.*+?)", *at)) {
            end_run(&runs);
            at++;
        } else {
            add_character(&runs, *at, at + 1);
            at++;
        }
    }
    end_run(&runs);
}

/* Returns how common a byte is in the output of programs, roughly. */
static int commonness(char byte)
{
    if (byte == ' ' || strchr("etaoinsrhldu", byte))
        return 3;
    if ((byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || strchr(".,:=-/_", byte))
        return 2;
    return byte >= 'A' && byte <= 'Z' ? 1 : 0;
}

/* ---- First bytes of all matches ---- */

/* Returns the length of the character or bracket expression at the start of a pattern; 0: it begins
 * otherwise, or that part may be absent. */
static size_t first_length(const char *at)
{
    size_t length = *at == '[' ? (size_t)(brackets_skip(at) - at) : *at ? 1 : 0;
    if (*at == '\\')
        length = at[1] && strchr("^.[]()|*+?{}$\\/-", at[1]) ? 2 : 0;
    else if (*at && strchr("^.()|*+?{$", *at))
        length = 0;
    return length > 0 && !may_be_absent(at + length) ? length : 0;
}

/* Finds the bytes that can begin a match: for "^[0-9]+" those that match "^[0-9]". Bytes beyond
 * ASCII are always included, as they are parts of characters. */
static void find_beginnings(struct phase_matcher *matcher, const char *pattern)
{
    char first[256];
    regex_t regex;
    size_t length = pattern[0] == '^' ? first_length(pattern + 1) : 0;
    bool has_choice;
    for (const char *at = pattern; *at;) {
        const char *after = *at == '('   ? skip_group(at, &has_choice)
                            : *at == '[' ? brackets_skip(at)
                                         : at + 1 + (*at == '\\' && at[1]);
        if (*at == '|')
            length = 0;
        at = after;
    }
    if (length == 0 || length + 2 > sizeof first)
        return;
    memcpy(first, pattern, length + 1);
    first[length + 1] = '\0';
    if (regcomp(&regex, first, REG_EXTENDED | REG_NOSUB) != 0)
        return;
    for (int byte = 1; byte < 256; byte++) {
        const char text[] = {(char)byte, '\0'};
        matcher->may_begin[byte] = byte >= 128 || regexec(&regex, text, 0, NULL, 0) == 0;
    }
    matcher->is_anchored = true;
    regfree(&regex);
}

/* Whether a pattern refers back to one of its groups. */
static bool find_back_reference(const char *pattern)
{
    for (const char *at = pattern; *at;) {
        if (at[0] == '\\' && at[1] >= '1' && at[1] <= '9')
            return true;
        at = *at == '[' ? brackets_skip(at) : at + 1 + (*at == '\\' && at[1]);
    }
    return false;
}

/* ---- Matching ---- */

/* Finds the literal. memchr() for its rarest byte is several times as fast as memmem(). */
const char *phase_matcher_find(const struct phase_matcher *matcher, const char *at, const char *end)
{
    enum { MAX_MISSES = 64 };
    size_t length = matcher->literal_length, before = matcher->rarest;
    for (int misses = 0; misses < MAX_MISSES && (size_t)(end - at) >= length; misses++) {
        size_t places = (size_t)(end - at) - length + 1;
        const char *rare = memchr(at + before, matcher->literal[before], places);
        if (!rare || memcmp(rare - before, matcher->literal, length) == 0)
            return rare ? rare - before : NULL;
        misses = rare - before - at > 256 ? 0 : misses;
        at = rare - before + 1;
    }
    return memmem(at, (size_t)(end - at), matcher->literal, length);
}

int phase_matcher_init(struct phase_matcher *matcher, const char *pattern, struct gput_error *error)
{
    char reason[160];
    *matcher = (struct phase_matcher){0};
    int failure = pattern[0] ? regcomp(&matcher->regex, pattern, REG_EXTENDED) : 0;
    if (!pattern[0])
        return error_set(error, GPUT_ERROR_INVALID,
            "--phase-token needs a regular expression, such as 'Epoch [0-9]+'.");
    if (failure) {
        regerror(failure, &matcher->regex, reason, sizeof reason);
        return error_set(error, GPUT_ERROR_INVALID,
            "--phase-token: \"%.200s\" is not a valid extended regular expression: %s.", pattern,
            reason);
    }
    find_literal(matcher, pattern);
    for (size_t i = 1; i < matcher->literal_length; i++)
        if (commonness(matcher->literal[i]) < commonness(matcher->literal[matcher->rarest]))
            matcher->rarest = i;

    find_beginnings(matcher, pattern);
    matcher->has_back_reference = find_back_reference(pattern);
    if (matcher->literal_length < LITERAL_IS_FASTER)
        line_search_open(&matcher->search, pattern);
    return GPUT_OK;
}

void phase_matcher_finish(struct phase_matcher *matcher)
{
    regfree(&matcher->regex);
    line_search_close(&matcher->search);
}

bool phase_matcher_name(
    const struct phase_matcher *matcher, const char *line, char name[PHASE_NAME_SIZE])
{
    regmatch_t found[2];
    if (regexec(&matcher->regex, line, 2, found, 0) != 0)
        return false;
    const regmatch_t *named =
        matcher->regex.re_nsub > 0 && found[1].rm_so >= 0 ? &found[1] : &found[0];

    /* Copy the name as UTF-8, without control characters and without blanks at its ends. */
    const char *at = line + named->rm_so;
    const char *end = line + named->rm_eo;
    size_t used = 0, last = 0;
    while (at < end) {
        char bytes[4];
        uint32_t code = utf8_next(&at, end);
        bool is_blank = code == ' ' || code == '\t';
        size_t length = utf8_bytes_of(is_blank ? ' ' : utf8_columns(code) < 0 ? '?' : code, bytes);
        if (used + length >= PHASE_NAME_SIZE)
            break;
        if (is_blank && used == 0)
            continue;
        memcpy(name + used, bytes, length);
        used += length;
        last = is_blank ? last : used;
    }
    name[last] = '\0';
    return last > 0;
}
