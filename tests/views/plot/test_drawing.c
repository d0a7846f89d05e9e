#include "views/plot/drawing.h"

#include "testing.h"

#include <math.h>
#include <string.h>

static const struct drawing_style line = {.colour = 0x123456, .opacity = 1, .width = 1};

static char *render(struct drawing *drawing)
{
    struct gput_error error;
    char *svg;
    assert_int_equal(drawing_render(drawing, GPUT_FORMAT_SVG, &svg, NULL, &error), GPUT_OK);
    drawing_finish(drawing);
    return svg;
}

TEST(a_line_is_a_path_and_a_point_a_dot)
{
    struct drawing drawing;
    drawing_init(&drawing, 100, 50.5, "picture");
    drawing_begin_line(&drawing, &line, "RAM & more");
    drawing_add_point(&drawing, 1, 2);
    drawing_add_point(&drawing, 3.125, 4);
    drawing_add_point(&drawing, NAN, NAN);
    drawing_add_point(&drawing, 7, 8);
    char *svg = render(&drawing);
    assert_non_null(strstr(svg, "viewBox=\"0 0 100 50.5\""));
    assert_non_null(strstr(svg, "d=\"M1 2L3.12 4M7 8h0\"><title>RAM &#38; more</title></path>"));
    free(svg);
}

TEST(strokes_are_those_of_its_dash)
{
    struct drawing drawing;
    struct drawing_style style = line;
    style.dash = DRAWING_DASHED;
    drawing_init(&drawing, 10, 10, "");
    drawing_add_line(&drawing, (struct drawing_point){0, 0}, (struct drawing_point){9, 9}, &style);
    char *svg = render(&drawing);
    assert_non_null(strstr(svg, "stroke-dasharray=\"4 2\""));
    free(svg);
}

TEST(a_wider_text_is_wider)
{
    assert_true(drawing_text_width("WWW", 10) > drawing_text_width("iii", 10));
    assert_true(fabs(drawing_text_width("abc", 20) - 2 * drawing_text_width("abc", 10)) < 1e-9);
    assert_true(drawing_text_width("\xe6\xbc\xa2", 10) > 10); /* a Chinese character */
    assert_true(drawing_text_width("", 10) == 0);
    assert_true(drawing_text_width("x</x>", 10) > 30); /* of DejaVu Sans, where all are wide */
}

RUN_TESTS(NULL, NULL)
