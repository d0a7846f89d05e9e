#include "testing.h"

#include "live/keys.h"

#include <string.h>

static struct keys keys;

static int set_up(void **state)
{
    (void)state;
    keys = (struct keys){0};
    return 0;
}

static void add(const char *text)
{
    assert_int_equal(keys_add(&keys, text, strlen(text)), strlen(text));
}

TEST_WITH(sequences_are_keys, set_up, NULL)
{
    add("q\033[A\033[B\033OA\033[5~\033[6~\033[H\033[4~\033[1;5C\r\x7f\t\xc3\xa9");
    static const uint32_t wanted[] = {'q', KEY_UP, KEY_DOWN, KEY_UP, KEY_PAGE_UP, KEY_PAGE_DOWN,
        KEY_HOME, KEY_END, KEY_RIGHT, KEY_ENTER, KEY_BACKSPACE, KEY_TAB, 0xE9, KEY_NONE};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_int_equal(keys_next(&keys, false), wanted[i]);
}

TEST_WITH(a_sequence_may_come_in_parts, set_up, NULL)
{
    static const char text[] = "\033[1;2A\xe4\xb8\xad";
    for (size_t i = 0; text[i]; i++) {
        keys_add(&keys, &text[i], 1);
        uint32_t key = keys_next(&keys, false);
        assert_int_equal(key, i == 5 ? KEY_UP : i == 8 ? 0x4E2D : KEY_NONE);
    }
}

TEST_WITH(an_escape_alone_is_one_when_nothing_follows, set_up, NULL)
{
    add("\033");
    assert_int_equal(keys_next(&keys, false), KEY_NONE);
    assert_int_equal(keys_next(&keys, true), KEY_ESCAPE);
    add("\033[");
    assert_int_equal(keys_next(&keys, true), KEY_OTHER);
    add("\033q");
    assert_int_equal(keys_next(&keys, false), KEY_ESCAPE);
    assert_int_equal(keys_next(&keys, false), 'q');
}

TEST_WITH(answers_of_the_terminal_are_understood, set_up, NULL)
{
    add("\033[?2026;2$y\033[?62;22c\033[?2026;0$y");
    assert_int_equal(keys_next(&keys, false), KEY_HAS_SYNCHRONIZED);
    assert_int_equal(keys_next(&keys, false), KEY_OTHER);
    assert_int_equal(keys_next(&keys, false), KEY_OTHER);
    assert_int_equal(keys_next(&keys, false), KEY_NONE);
}

TEST_WITH(the_mouse_is_a_key_with_a_place, set_up, NULL)
{
    add("\033[<0;12;3M\033[<0;12;3m\033[<64;1;200M\033[<65;1;1M\033[<2;1;1M\033[<0;;M");
    assert_int_equal(keys_next(&keys, false), KEY_CLICK);
    assert_int_equal(keys.column, 11);
    assert_int_equal(keys.row, 2);
    assert_int_equal(keys_next(&keys, false), KEY_OTHER);
    assert_int_equal(keys_next(&keys, false), KEY_WHEEL_UP);
    assert_int_equal(keys.row, 199);
    assert_int_equal(keys_next(&keys, false), KEY_WHEEL_DOWN);
    assert_int_equal(keys_next(&keys, false), KEY_OTHER);
    assert_int_equal(keys_next(&keys, false), KEY_OTHER);
    assert_int_equal(keys_next(&keys, false), KEY_NONE);
    add("\033[<0;-2147483648;-2147483648M");
    assert_int_equal(keys_next(&keys, false), KEY_OTHER);
    assert_int_equal(keys_next(&keys, false), KEY_NONE);
}

TEST_WITH(rubbish_ends, set_up, NULL)
{
    for (int first = 0; first < 256; first++) {
        char bytes[64];
        memset(bytes, first, sizeof bytes);
        keys.length = 0;
        keys_add(&keys, "\033[", 2);
        keys_add(&keys, bytes, sizeof bytes);
        for (int i = 0; keys.length > 0; i++) {
            assert_true(i < 200);
            keys_next(&keys, true);
        }
    }
}

RUN_TESTS(NULL, NULL)
