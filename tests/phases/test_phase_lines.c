#include "testing.h"

#include "phases/phase_lines.h"

#include <string.h>

/* Names one after the other; "~" after one that may be drawn again. */
static void found(void *user, const char *name, bool is_redrawn)
{
    char *all = user;
    strcat(all, name);
    strcat(all, is_redrawn ? "~;" : ";");
}

static void check(const char *pattern, const char *text, size_t length, const char *expected)
{
    struct phase_matcher matcher;
    static struct phase_lines lines;
    assert_int_equal(phase_matcher_init(&matcher, pattern, NULL), GPUT_OK);
    for (size_t part = 1; part <= length; part++) {
        char all[4096] = "";
        phase_lines_init(&lines, &matcher, found, all);
        for (size_t at = 0; at < length; at += part)
            phase_lines_add(&lines, text + at, length - at < part ? length - at : part);
        phase_lines_end(&lines);
        assert_string_equal(all, expected);
    }
    phase_matcher_finish(&matcher);
}

#define CHECK(pattern, text, expected) check(pattern, text, sizeof(text) - 1, expected)

TEST(lines_are_found_in_whatever_parts_they_come)
{
    CHECK("E[0-9]", "E1\nno\nx E2\n\nE3", "E1;E2;E3;");
    CHECK("[0-9]", "1\n\n2\n3", "1;2;3;");
    CHECK("E[0-9]", "E\n1\nE1E2\n", "E1;");
    CHECK("^E1$", "E1\r\nE1x\nE1", "E1~;E1;");
}

TEST(a_carriage_return_ends_a_line_that_may_be_drawn_again)
{
    CHECK("E[0-9]", "\rE1 10%\rE1 20%\rE2\n", "E1~;E1~;E2;");
}

TEST(escape_sequences_and_zero_bytes_are_not_part_of_the_text)
{
    CHECK("Ep [0-9]", "\033[1;32mE\033[0mp\0001\n\033[", "Ep 1;");
    CHECK("Ep [0-9]", "\033[31", "");
}

TEST(of_a_long_line_the_beginning_is_searched)
{
    struct phase_matcher matcher;
    static struct phase_lines lines;
    static char line[3 * PHASE_LINE_SIZE];
    char all[64] = "";
    assert_int_equal(phase_matcher_init(&matcher, "E[0-9]", NULL), GPUT_OK);
    phase_lines_init(&lines, &matcher, found, all);
    memset(line, 'x', sizeof line);
    memcpy(line, "E1", 2);
    for (int i = 0; i < 3; i++)
        phase_lines_add(&lines, line, sizeof line);
    phase_lines_add(&lines, "E2\nE3\n", 6);
    memcpy(line + sizeof line - 3, "E4\n", 3);
    memcpy(line, "xx", 2);
    phase_lines_add(&lines, line, sizeof line);
    phase_lines_end(&lines);
    assert_string_equal(all, "E1;E3;");
    phase_matcher_finish(&matcher);
}

/* Where more were searched this would take minutes. */
TEST(with_a_back_reference_few_bytes_of_a_line_are_searched)
{
    static const char *const without[] = {"[\\1]", "a\\\\1", "(a)\\w"};
    struct phase_matcher matcher;
    static struct phase_lines lines;
    char line[4096], all[64] = "";
    memset(line, 'a', sizeof line);
    memcpy(line + 3000, "c b\naab\n", 8);
    assert_int_equal(phase_matcher_init(&matcher, "(a+)\\1b", NULL), GPUT_OK);
    phase_lines_init(&lines, &matcher, found, all);
    phase_lines_add(&lines, line, 3008);
    phase_lines_end(&lines);
    assert_string_equal(all, "a;");
    phase_matcher_finish(&matcher);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        assert_int_equal(phase_matcher_init(&matcher, without[i], NULL), GPUT_OK);
        assert_false(matcher.has_back_reference);
        phase_matcher_finish(&matcher);
    }
}

/* ---- The fast ways find what matching line by line finds ---- */

static unsigned next(uint32_t *random, unsigned below)
{
    *random = *random * 1664525 + 1013904223;
    return (*random >> 16) % below;
}

/* An expression of up to `depth` nested groups; many are invalid. regexec() of glibc does not
 * return from some where a group that may be empty is repeated without an end: there are none. */
static void add_expression(uint32_t *random, char *pattern, size_t size, int depth)
{
    static const char *const atoms[] = {"a", "b", "1", "ab", "b1a", "[ab]", "[^a]", "[[:digit:]]",
        "[]a-]", "[^]b[:space:]]", ".", "^", "$", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B", "\\<",
        "\\>", "\\.", "\\d", "|", "|", " ", "\x80", "[\x80-\xff]", "[[.a.]1]", "^a", "1$",
        "(ab|1)+", "([ab]|b1)*"};
    static const char *const of_groups[] = {"", "", "?", "{2}", "{1,2}", "{0}"};
    static const char *const quantifiers[] = {
        "", "", "", "*", "+", "?", "{2}", "{1,3}", "{0}", "{2,}", "{,2}", "+?"};
    for (unsigned n = 1 + next(random, 4); n > 0 && strlen(pattern) + 24 < size; n--) {
        if (depth > 0 && next(random, 4) == 0) {
            strcat(pattern, "(");
            add_expression(random, pattern, size, depth - 1);
            strcat(pattern, ")");
            strcat(pattern, of_groups[next(random, sizeof of_groups / sizeof *of_groups)]);
        } else {
            strcat(pattern, atoms[next(random, sizeof atoms / sizeof *atoms)]);
            strcat(pattern, quantifiers[next(random, sizeof quantifiers / sizeof *quantifiers)]);
        }
    }
}

static void search(
    const struct phase_matcher *matcher, const char *text, size_t length, size_t part, char *all)
{
    static struct phase_lines lines;
    *all = '\0';
    phase_lines_init(&lines, matcher, found, all);
    for (size_t at = 0; at < length; at += part)
        phase_lines_add(&lines, text + at, length - at < part ? length - at : part);
    phase_lines_end(&lines);
}

static void compare(const char *pattern, const char *text, size_t length)
{
    static char fast[8192], in_parts[8192], no_library[8192], slow[8192];
    struct phase_matcher matcher;
    struct gput_error error;
    if (phase_matcher_init(&matcher, pattern, &error) != GPUT_OK)
        return;
    search(&matcher, text, length, length, fast);
    search(&matcher, text, length, 11, in_parts);
    line_search_close(&matcher.search);
    search(&matcher, text, length, length, no_library);
    matcher.literal_length = 0;
    matcher.is_anchored = false;
    search(&matcher, text, length, length, slow);
    if (strcmp(fast, slow) != 0 || strcmp(in_parts, slow) != 0 || strcmp(no_library, slow) != 0)
        fail_msg("%s: \"%s\", in parts \"%s\", without the library \"%s\", line by line \"%s\"",
            pattern, fast, in_parts, no_library, slow);
    phase_matcher_finish(&matcher);
}

TEST(every_expression_finds_what_it_finds_line_by_line)
{
    static const char alphabet[] = "aaaabbb111  ..__\n\n\n\r\t\x80-]";
    uint32_t random = 7;
    static char text[300]; /* compiled code reads aligned parts, beyond the end, too */
    for (int round = 0; round < 4000; round++) {
        char pattern[128] = "";
        add_expression(&random, pattern, sizeof pattern, 2);
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = alphabet[next(&random, sizeof alphabet - 1)];
        compare(pattern, text, sizeof text);
    }
}

TEST(a_line_that_is_searched_in_part_ends_there)
{
    static char text[PHASE_LINE_SIZE + 100];
    for (size_t length = PHASE_LINE_SIZE - 3; length < PHASE_LINE_SIZE + 3; length++) {
        for (size_t place = length - 6; place < length; place++) {
            memset(text, 'x', sizeof text);
            text[place] = '1';
            memcpy(text + length, "\nb2\n", 4);
            compare("[0-9]$", text, length + 4);
            compare("([0-9]|b)x*$", text, length + 4);
        }
    }
}

RUN_TESTS(NULL, NULL)
