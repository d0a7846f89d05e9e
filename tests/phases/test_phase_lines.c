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

static void lines_are_found_in_whatever_parts_they_come(void **state)
{
    (void)state;
    CHECK("E[0-9]", "E1\nno\nx E2\n\nE3", "E1;E2;E3;");
    CHECK("[0-9]", "1\n\n2\n3", "1;2;3;");
    CHECK("E[0-9]", "E\n1\nE1E2\n", "E1;");
    CHECK("^E1$", "E1\r\nE1x\nE1", "E1~;E1;");
}

static void a_carriage_return_ends_a_line_that_may_be_drawn_again(void **state)
{
    (void)state;
    CHECK("E[0-9]", "\rE1 10%\rE1 20%\rE2\n", "E1~;E1~;E2;");
}

static void escape_sequences_and_zero_bytes_are_not_part_of_the_text(void **state)
{
    (void)state;
    CHECK("Ep [0-9]", "\033[1;32mE\033[0mp\0001\n\033[", "Ep 1;");
    CHECK("Ep [0-9]", "\033[31", "");
}

static void of_a_long_line_the_beginning_is_searched(void **state)
{
    struct phase_matcher matcher;
    static struct phase_lines lines;
    static char line[3 * PHASE_LINE_SIZE];
    char all[64] = "";
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_found_in_whatever_parts_they_come),
        cmocka_unit_test(a_carriage_return_ends_a_line_that_may_be_drawn_again),
        cmocka_unit_test(escape_sequences_and_zero_bytes_are_not_part_of_the_text),
        cmocka_unit_test(of_a_long_line_the_beginning_is_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
