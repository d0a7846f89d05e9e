#include "testing.h"

#include "live/line_ends.h"

#include <string.h>

TEST(returns_before_line_ends_are_taken_off)
{
    struct termios settings = {.c_oflag = OPOST | ONLCR};
    const char text[] = "a\r\nb\r\r\n 10%\r 20%\r\n\r";
    char out[sizeof text + 1];
    for (size_t part = 1; part < sizeof text; part++) {
        struct line_ends ends = line_ends_of(&settings);
        char all[64] = "";
        for (size_t at = 0; at + 1 < sizeof text; at += part) {
            size_t left = sizeof text - 1 - at, length = part < left ? part : left;
            strncat(all, out, line_ends_strip(&ends, text + at, length, out));
        }
        assert_string_equal(all, "a\nb\r\n 10%\r 20%\n");
        assert_true(ends.has_return);
    }
}

TEST(a_terminal_that_adds_none_gets_all)
{
    struct termios settings = {.c_oflag = 0};
    struct line_ends ends = line_ends_of(&settings);
    char out[16];
    assert_int_equal(line_ends_strip(&ends, "a\r\n\r", 4, out), 4);
    assert_memory_equal(out, "a\r\n\r", 4);
}

RUN_TESTS(NULL, NULL)
