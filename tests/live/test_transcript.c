#include "testing.h"

#include "live/transcript.h"

#include <string.h>

static struct transcript transcript;

static int set_up(void **state)
{
    (void)state;
    return transcript_init(&transcript) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    transcript_finish(&transcript);
    return 0;
}

static void add(const char *text)
{
    transcript_add(&transcript, text, strlen(text));
}

/* The last lines in ASCII, with "/" between. */
static void assert_lines(const char *wanted)
{
    struct grid grid = {0};
    char text[512] = "";
    size_t length = 0;
    int rows = 1;
    for (const char *at = wanted; *at; at++)
        rows += *at == '/';
    assert_true(grid_resize(&grid, 40, rows));
    transcript_draw(&transcript, &grid, 0, rows, 0);
    for (int row = 0; row < rows; row++) {
        int end = 40;
        while (end > 0 && grid.cells[row * 40 + end - 1].code == ' ')
            end--;
        for (int i = 0; i < end; i++)
            if (grid.cells[row * 40 + i].columns > 0)
                text[length++] =
                    grid.cells[row * 40 + i].code > 126 ? '#' : (char)grid.cells[row * 40 + i].code;
        text[length++] = '/';
    }
    text[length - 1] = '\0';
    assert_string_equal(text, wanted);
    grid_finish(&grid);
}

#define WITH_TRANSCRIPT(name) TEST_WITH(name, set_up, tear_down)

WITH_TRANSCRIPT(lines_are_kept_with_the_last_at_the_bottom)
{
    assert_lines("/");
    add("one\r\ntwo\r\nthr");
    assert_lines("one/two/thr");
    add("ee\r\n");
    assert_lines("two/three");
    assert_lines("one/two/three//");
}

WITH_TRANSCRIPT(a_progress_bar_stays_one_line)
{
    add("start\r\n 10%\r 20%\r100%\r");
    assert_lines("start/100%");
    add("\033[Kdone\b\b\b\bD\r\n");
    assert_lines("start/Done");
}

WITH_TRANSCRIPT(several_bars_are_drawn_over)
{
    add("a 1\r\nb 1\r\n\033[2Aa 2\r\nb 2\r\n\033[2A\033[2Ka 3\033[1Bx\r\n");
    assert_lines("a 3/b 2x");
}

WITH_TRANSCRIPT(styles_titles_and_others_are_skipped)
{
    add("\033[1;31mred\033[0m \033]0;title\atext\033P1$r\033\\ \033(B.\033[?25l\033[6n\033[2Jx");
    assert_lines("red text .x");
}

WITH_TRANSCRIPT(what_is_on_the_alternate_screen_is_skipped)
{
    add("one\r\n\033[?1049h\033[2Jfull\r\nscreen\033[1A\033[31m");
    assert_true(transcript.is_alternate);
    assert_lines("one");
    add("\033[?25l\033[?1049ltwo");
    assert_false(transcript.is_alternate);
    assert_lines("one/two");
    add("\033[?47h.\033[?47l\033[?1047h.\033[?1047l\033[?2004h");
    assert_false(transcript.is_alternate);
    assert_lines("one/two");
}

static void assert_style(const char *text, unsigned style)
{
    struct grid grid = {0};
    add("\r\n\033[m");
    add(text);
    assert_true(grid_resize(&grid, 8, 1));
    transcript_draw(&transcript, &grid, 0, 1, 0);
    assert_int_equal(grid.cells[0].code, 'x');
    assert_int_equal(grid.cells[0].style, style);
    grid_finish(&grid);
}

WITH_TRANSCRIPT(colours_of_letters_are_kept)
{
    assert_style("x", STYLE_PLAIN);
    assert_style("\033[31mx", STYLE_RED);
    assert_style("\033[1;32mx", STYLE_BOLD | STYLE_GREEN);
    assert_style("\033[01;92;44mx", STYLE_BOLD | 10);
    assert_style("\033[38;5;196mx", STYLE_RED);
    assert_style("\033[38;5;208;7mx", STYLE_RED | STYLE_GREEN | STYLE_REVERSE); /* orange */
    assert_style("\033[1;38;2;20;90;250;48;2;255;255;255mx", STYLE_BOLD | STYLE_BLUE);
    assert_style("\033[38:2:250:20:20mx", STYLE_RED);
    assert_style("\033[2mx", STYLE_GRAY);
    assert_style("\033[33m\033[39mx", STYLE_PLAIN);
    assert_style("\033[35m\033[22;27mx", STYLE_MAGENTA);
    assert_style("\033[36m\033[>4;2mx", STYLE_CYAN);
    /* Black and white are invisible on one background or the other. */
    assert_style("\033[30mx\033[97mx", STYLE_PLAIN);
}

WITH_TRANSCRIPT(characters_may_come_in_parts)
{
    const char text[] = "a\xe4\xb8\xad"
                        "b\xf0\x9f\x98\x80\xc3\xa9\xff"
                        "c";
    for (size_t i = 0; i + 1 < sizeof text; i++)
        transcript_add(&transcript, &text[i], 1);
    assert_lines("a#b##?c");
}

WITH_TRANSCRIPT(much_output_leaves_the_last_lines)
{
    char line[64];
    for (int i = 0; i < 1000; i++) {
        snprintf(line, sizeof line, "line %d\r\n", i);
        add(line);
    }
    assert_lines("line 997/line 998/line 999");
    add("\033[999A\033[999D*");
    assert_lines("line 997/line 998/line 999");
}

WITH_TRANSCRIPT(earlier_lines_and_long_ones_are_drawn)
{
    struct grid grid = {0};
    assert_true(grid_resize(&grid, 4, 2));
    add("one\r\nabcd\r\nabcde\r\nabc\xe4\xb8\xad\r\nlast\r\n");
    assert_int_equal(transcript_lines(&transcript), 5);
    static const char *const wanted[] = {
        "abc~last", "abc~abc~", "abcdabc~", "one abcd", "    one ", "        ", "        "};
    for (size_t up = 0; up < sizeof wanted / sizeof wanted[0]; up++) {
        grid_clear(&grid);
        transcript_draw(&transcript, &grid, 0, 2, up);
        for (int i = 0; i < 8; i++)
            assert_int_equal(grid.cells[up == 4 ? (i + 4) % 8 : i].code, wanted[up][i]);
    }
    for (int i = 0; i < TRANSCRIPT_LINES; i++)
        add("x\r\n");
    assert_int_equal(transcript_lines(&transcript), 5 + TRANSCRIPT_LINES);
    assert_int_equal(transcript_kept(&transcript), TRANSCRIPT_LINES - 1);
    grid_finish(&grid);
}

WITH_TRANSCRIPT(what_shows_nothing_is_empty)
{
    assert_true(transcript_is_empty(&transcript));
    add("\033[2K\r");
    assert_true(transcript_is_empty(&transcript));
    add("x");
    assert_false(transcript_is_empty(&transcript));
    add("\r\n");
    assert_false(transcript_is_empty(&transcript));
}

WITH_TRANSCRIPT(any_bytes_are_harmless)
{
    srand(2);
    for (int i = 0; i < 200000; i++) {
        static const char often[] = "\033[\r\n;AKG1\t\b";
        char byte = rand() % 3 ? often[rand() % (int)(sizeof often - 1)] : (char)rand();
        transcript_add(&transcript, &byte, 1);
        assert_in_range(transcript.count, 1, TRANSCRIPT_LINES);
        assert_true(transcript.line < transcript.count);
    }
    struct grid grid = {0};
    assert_true(grid_resize(&grid, 30, 10));
    transcript_draw(&transcript, &grid, 0, 10, 0);
    for (int i = 0; i < 300; i++)
        assert_true(grid.cells[i].columns == 0 || grid.cells[i].code >= ' ');
    grid_finish(&grid);
}

RUN_TESTS(NULL, NULL)
