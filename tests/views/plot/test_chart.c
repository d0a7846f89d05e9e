#include "views/plot/chart.h"

#include "testing.h"

#include <math.h>
#include <string.h>

static struct chart_panel *add_panel(struct chart *chart, const char *name, const char *unit)
{
    struct chart_panel *panel = chart_add_panel(chart, name, unit);
    assert_non_null(panel);
    return panel;
}

static struct chart_line *add_line(
    struct chart *chart, size_t panel, const char *label, unsigned look, double height)
{
    struct chart_line *line = chart_add_line(chart, &chart->panels[panel], label, look);
    assert_non_null(line);
    for (int i = 0; i <= 10; i++)
        curve_add(&line->curve, i, i == 5 ? height : 1);
    curve_end(&line->curve);
    return line;
}

/* To be freed. */
static char *draw(const struct chart *chart)
{
    struct gput_error error;
    char *svg;
    if (chart_render(chart, GPUT_FORMAT_SVG, &svg, NULL, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return svg;
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

TEST(one_line_needs_no_legend)
{
    struct chart chart = {.end = 10};
    add_panel(&chart, "RAM", "bytes");
    add_line(&chart, 0, "RAM", 0, 3e9);
    char *svg = draw(&chart);
    assert_int_equal(count_of(svg, ">RAM (GB)</text>"), 1);
    assert_int_equal(count_of(svg, ">RAM</text>"), 0);
    assert_int_equal(count_of(svg, ">Time (s)</text>"), 1);
    free(svg);
    chart_finish(&chart);
}

TEST(equal_legends_are_drawn_once)
{
    struct chart chart = {.end = 10};
    add_panel(&chart, "RAM", "bytes");
    add_panel(&chart, "CPU", "percent");
    add_panel(&chart, "Power", "watts");
    for (size_t i = 0; i < 3; i++) {
        add_line(&chart, i, "before", 0, 3);
        add_line(&chart, i, i < 2 ? "after" : "other", 1, 4);
    }
    char *svg = draw(&chart);
    assert_int_equal(count_of(svg, ">before</text>"), 2);
    assert_int_equal(count_of(svg, ">after</text>"), 1);
    assert_int_equal(count_of(svg, ">other</text>"), 1);
    free(svg);
    chart_finish(&chart);
}

TEST(a_limit_in_sight_is_a_line_and_a_far_one_a_text)
{
    struct chart chart = {.end = 10};
    add_panel(&chart, "RAM", "bytes");
    add_line(&chart, 0, "RAM", 0, 3e9)->limit = 4e9;
    char *svg = draw(&chart);
    assert_int_equal(count_of(svg, ">limit 4 GB</text>"), 1);
    free(svg);
    chart.panels[0].lines[0].limit = 64e9;
    svg = draw(&chart);
    assert_int_equal(count_of(svg, ">limit 64 GB</text>"), 0);
    assert_int_equal(count_of(svg, ">RAM (GB), limit 64 GB</text>"), 1);
    free(svg);
    add_line(&chart, 0, "more RAM", 0, 2e9)->limit = 64e9;
    svg = draw(&chart);
    assert_int_equal(count_of(svg, ">RAM (GB), limit 64 GB</text>"), 1);
    assert_int_equal(count_of(svg, ">more RAM</text>"), 1);
    free(svg);
    chart_finish(&chart);
}

TEST(its_title_says_what_is_seen)
{
    struct chart chart = {.end = 90};
    add_panel(&chart, "RAM", "bytes");
    add_panel(&chart, "CPU", "percent");
    add_line(&chart, 0, "RAM", 0, 3.25e9);
    add_line(&chart, 1, "CPU", 0, 400);
    char *svg = draw(&chart);
    assert_int_equal(count_of(svg, "<title>RAM, CPU over 90 s, at most 3.25 GB, 400 %</title>"), 1);
    free(svg);
    chart_finish(&chart);
}

TEST(calls_that_follow_closely_are_one_span)
{
    struct chart chart = {.end = 10};
    struct chart_row *row = chart_add_row(&chart, "block", 1);
    assert_non_null(row);
    for (int i = 0; i < 100000; i++)
        assert_true(chart_add_span(&chart, row, i * 1e-5, i * 1e-5 + 5e-6));
    assert_true(chart_add_span(&chart, row, 5, 6));
    assert_true(chart_add_span(&chart, row, 5.5, 5.7)); /* another thread */
    assert_true(chart_add_span(&chart, row, 50, 60));   /* outside */
    assert_int_equal(row->count, 2);
    assert_true(fabs(row->spans[0].stop - 1) < 1e-4);
    assert_true(row->spans[1].stop == 6);
    char *svg = draw(&chart);
    assert_int_equal(count_of(svg, ">block</text>"), 1);
    free(svg);
    chart_finish(&chart);
}

TEST(a_size_that_is_too_small_is_refused_with_one_that_is_not)
{
    struct chart chart = {.end = 10, .width = 100, .height = 40};
    struct gput_error error;
    char *svg;
    int width, height;
    add_panel(&chart, "RAM", "bytes");
    add_line(&chart, 0, "RAM", 0, 3e9);
    assert_int_equal(chart_render(&chart, GPUT_FORMAT_SVG, &svg, NULL, &error), GPUT_ERROR_INVALID);
    assert_null(svg);
    const char *said = strstr(error.message, "at least ");
    assert_non_null(said);
    assert_int_equal(sscanf(said, "at least %d x %d mm", &width, &height), 2);
    chart.width = width * 72 / 25.4;
    chart.height = height * 72 / 25.4;
    free(draw(&chart));
    chart_finish(&chart);
}

TEST(names_are_only_text)
{
    struct chart chart = {.end = 10, .title = "</title><script>alert(1)</script>\x01\xff"};
    add_panel(&chart, "a\"b<c>&", "\x1b[31m");
    add_line(&chart, 0, "\xe2\x80\xae]]>", 0, 1);
    add_line(&chart, 0,
        "\xf0\x9f\x98\x80 a name that is far too long for a legend of this width, and "
        "goes on, and on, and on, and on, and on, and on, and on, and on",
        1, 1);
    char *svg = draw(&chart);
    assert_int_equal(count_of(svg, "<script"), 0);
    assert_int_equal(count_of(svg, "\x01"), 0);
    assert_int_equal(count_of(svg, "\xff"), 0);
    assert_int_equal(count_of(svg, "\x1b"), 0);
    assert_int_equal(count_of(svg, "…</text>"), 1);
    free(svg);
    chart_finish(&chart);
}

TEST(other_formats_are_refused)
{
    struct chart chart = {.end = 10};
    struct gput_error error;
    char *bytes;
    assert_int_equal(
        chart_render(&chart, GPUT_FORMAT_CSV, &bytes, NULL, &error), GPUT_ERROR_INVALID);
    assert_null(bytes);
}

RUN_TESTS(NULL, NULL)
