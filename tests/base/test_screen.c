#include "base/screen.h"

#include "testing.h"

#include <string.h>

static void assert_shown(const char *text, size_t length, const char *shown)
{
    char place[64];
    assert_true(length < sizeof place);
    memcpy(place, text, length);
    size_t left = screen_clean(place, length);
    assert_true(left <= length);
    place[left] = '\0';
    assert_string_equal(place, shown);
}
#define SHOWN(text, shown) assert_shown(text, sizeof text - 1, shown)

TEST(text_of_every_script_is_kept)
{
    SHOWN("", "");
    SHOWN("plain ~ text\n\tand more\n", "plain ~ text\n\tand more\n");
    SHOWN("Gr\u00f6\u00dfe \u00a0 \u6c34 \U0001f600", "Gr\u00f6\u00dfe \u00a0 \u6c34 \U0001f600");
}

TEST(control_characters_become_question_marks)
{
    SHOWN("\033[31mred\033[0m", "?[31mred?[0m");
    SHOWN("a\rb\bc\ad\x7f", "a?b?c?d?");
    SHOWN("a\0b", "a?b");
}

TEST(c1_controls_become_question_marks)
{
    SHOWN("\xc2\x9b"
          "31m \xc2\x80 \xc2\x9f",
        "?31m ? ?");
}

TEST(controls_of_direction_become_question_marks)
{
    SHOWN("a\u202eb\u202a\u202b\u202c\u202d", "a?b????");
    SHOWN("a\u2066b\u2067\u2068\u2069", "a?b???");
    SHOWN("\u2029\u202f\u2065\u206a \u05d0\u05d1", "\u2029\u202f\u2065\u206a \u05d0\u05d1");
}

TEST(invalid_utf8_becomes_question_marks)
{
    SHOWN("\x9b"
          "31m",
        "?31m");
    SHOWN("\xff\xc3(\xe2\x82 ", "?\?(?? ");
    SHOWN("end\xc2", "end?");
    SHOWN("\xc0\x9b", "??");
}

RUN_TESTS(NULL, NULL)
