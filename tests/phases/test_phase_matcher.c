#include "testing.h"

#include "phases/phase_matcher.h"

#include <dlfcn.h>
#include <string.h>

static const char *name_of(const char *pattern, const char *line)
{
    static char name[PHASE_NAME_SIZE];
    struct phase_matcher matcher;
    assert_int_equal(phase_matcher_init(&matcher, pattern, NULL), GPUT_OK);
    bool begins = phase_matcher_name(&matcher, line, name);
    phase_matcher_finish(&matcher);
    return begins ? name : NULL;
}

TEST(the_first_group_names_it_else_all_that_matches)
{
    assert_string_equal(name_of("Epoch [0-9]+", "# Epoch 12/90"), "Epoch 12");
    assert_string_equal(name_of("== (.*) ==", "== load data =="), "load data");
    assert_string_equal(name_of("a(b)?c", "ac"), "ac");
    assert_null(name_of("Epoch [0-9]+", "Epoch"));
}

TEST(a_name_is_text_without_blanks_around_it)
{
    char line[400] = "";
    assert_string_equal(name_of("^(.*)$", "\t a\tb\x01 "), "a b?");
    assert_string_equal(name_of("^(.*)$", "\xff."), "\xef\xbf\xbd.");
    assert_null(name_of("^(.*)$", " \t "));
    assert_null(name_of("x*", "y"));
    memset(line, 'n', sizeof line - 1);
    assert_int_equal(strlen(name_of(".*", line)), PHASE_NAME_SIZE - 1);
}

TEST(an_invalid_expression_is_named_with_the_reason)
{
    struct phase_matcher matcher;
    struct gput_error error;
    assert_int_equal(phase_matcher_init(&matcher, "a(b", &error), GPUT_ERROR_INVALID);
    assert_non_null(strstr(error.message, "--phase-token: \"a(b\" is not a valid extended"));
    assert_int_equal(phase_matcher_init(&matcher, "", &error), GPUT_ERROR_INVALID);
}

TEST(what_each_match_contains_is_found)
{
    static const struct {
        const char *pattern, *literal;
    } rows[] = {{"Epoch [0-9]+", "Epoch "}, {"(step|epoch) n", " n"}, {"a|b", ""},
        {"ab*cd?e+f", "a"}, {"x(yz)w", "yz"}, {"x(yz)?wv", "wv"}, {"[]a)b]+\\.\\[c", ".[c"},
        {"^[[:digit:]]*: $", ": "}, {"ab{2}cd", "cd"}, {"(a(b|c)d)e", "e"}, {"\\w\\<go\\>", "go"},
        {"", NULL}};
    for (size_t i = 0; rows[i].literal; i++) {
        struct phase_matcher matcher;
        assert_int_equal(phase_matcher_init(&matcher, rows[i].pattern, NULL), GPUT_OK);
        assert_int_equal(matcher.literal_length, strlen(rows[i].literal));
        assert_memory_equal(matcher.literal, rows[i].literal, matcher.literal_length);
        phase_matcher_finish(&matcher);
    }
}

TEST(the_literal_is_found_wherever_it_is)
{
    static const char *const patterns[] = {"Epoch [0-9]+", "aaab", "zab", "e e", "a"};
    static const char alphabet[] = "aabE poche1\nz";
    struct phase_matcher matcher;
    char text[700];
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        assert_int_equal(phase_matcher_init(&matcher, patterns[i], NULL), GPUT_OK);
        for (int round = 0; round < 2000; round++) {
            for (size_t j = 0; j < sizeof text; j++) {
                random = random * 1664525 + 1013904223;
                text[j] = alphabet[(random >> 16) % (sizeof alphabet - 1)];
            }
            size_t place = random % (sizeof text - 8);
            memcpy(text + place, matcher.literal, round % 2 * matcher.literal_length);
            const char *at = text + random % 9, *end = text + sizeof text - random % 5;
            assert_ptr_equal(phase_matcher_find(&matcher, at, end),
                memmem(at, (size_t)(end - at), matcher.literal, matcher.literal_length));
        }
        phase_matcher_finish(&matcher);
    }
}

TEST(how_lines_begin_is_known_of_anchored_expressions)
{
    static const struct {
        const char *pattern, *begins; /* the ASCII bytes that may begin a line; NULL: any */
    } rows[] = {{"^[0-9]+$", "0123456789"}, {"^E", "E"},
        {"^[[:upper:]]x", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}, {"^\\[x", "["}, {"^ab|c", NULL},
        {"^a?b", NULL}, {"^a{0}b", NULL}, {"^(a|b)", NULL}, {"a", NULL}, {"^.", NULL}, {"^", NULL},
        {"^a(b|c)", "a"}, {"^[a|b]c", "a|b"}, {"^\\w", NULL}, {"", ""}};
    for (size_t i = 0; rows[i].pattern[0]; i++) {
        struct phase_matcher matcher;
        assert_int_equal(phase_matcher_init(&matcher, rows[i].pattern, NULL), GPUT_OK);
        assert_int_equal(matcher.is_anchored, rows[i].begins != NULL);
        for (int byte = 1; matcher.is_anchored && byte < 128; byte++)
            assert_int_equal(matcher.may_begin[byte], strchr(rows[i].begins, byte) != NULL);
        assert_int_equal(matcher.may_begin[200], matcher.is_anchored);
        phase_matcher_finish(&matcher);
    }
}

TEST(expressions_without_a_text_are_searched_for_by_pcre2)
{
    static const struct {
        const char *pattern;
        bool is_searched;
    } rows[] = {{"[0-9]{12}|nan", true}, {"a|b", true}, {"^[0-9]+$", true}, {"\\<(a|b)\\>", true},
        {"[[:upper:]][^]x]", true}, {"Epoch [0-9]+", false}, {"([ab])\\1", false}, {"a*", false},
        {"[0-9]+?", false}, {"(a|)", false}, {NULL, false}};
    void *library = dlopen("libpcre2-8.so.0", RTLD_LAZY);
    if (!library)
        SKIP("there is no PCRE2");
    dlclose(library);
    for (size_t i = 0; rows[i].pattern; i++) {
        struct phase_matcher matcher;
        assert_int_equal(phase_matcher_init(&matcher, rows[i].pattern, NULL), GPUT_OK);
        assert_int_equal(matcher.search.code != NULL, rows[i].is_searched);
        phase_matcher_finish(&matcher);
    }
}

TEST(what_the_search_finds_is_where_a_match_may_begin)
{
    static const char text[] = "12\na1\r\n1a\nnan\n";
    const char *at = text, *end = text + sizeof text - 1, *found;
    struct line_search search;
    line_search_open(&search, "^[a-z]+$|1$");
    if (!search.code)
        SKIP("there is no PCRE2");
    assert_true(line_search_find(&search, at, end, &found));
    assert_ptr_equal(found, text + 4);
    assert_true(line_search_find(&search, text + 7, end, &found));
    assert_ptr_equal(found, text + 10);
    assert_true(line_search_find(&search, end, end, &found));
    assert_null(found);
    line_search_close(&search);
    /* Too many ways to try: nothing is known, and nothing waits. */
    char many[4000];
    memset(many, 'a', sizeof many);
    line_search_open(&search, "(a*)*(a*)*[bc]");
    bool is_known = search.code && line_search_find(&search, many, many + sizeof many, &found);
    assert_false(is_known && found);
    line_search_close(&search);
}

RUN_TESTS(NULL, NULL)
