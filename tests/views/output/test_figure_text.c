/* Figures of measurements in units that fit, and names cut to the terminal. */
#include "testing.h"

#include "views/output/figure_text.h"

#include <math.h>

static char cell[HUMAN_SIZE];

TEST(a_measurement_has_the_unit_of_its_quantity)
{
    struct doc *units = doc_create_object();
    doc_add_string(units, "ram_unit", "gigabytes");
    doc_add_string(units, "gpu_ram_unit", "megabytes");
    assert_string_equal(figure_text(units, "main_ram", 1.5, cell), "1.5 GB");
    assert_string_equal(figure_text(units, "main_gpu_ram", 512, cell), "512 MB");
    assert_string_equal(figure_text(units, "gpu_sum_utilization_percent", 150, cell), "150 %");
    assert_string_equal(figure_text(units, "main_n_threads", 2.5, cell), "2.5");
    assert_string_equal(figure_text(units, "main_n_threads", 12500, cell), "12500");
    assert_string_equal(figure_text(units, "compute_time", 192, cell), "3 min 12 s");
    assert_string_equal(figure_text(units, "energy_total", 4000, cell), "4 kJ");
    assert_string_equal(figure_text(units, "main_ram", NAN, cell), "n/a");
    doc_destroy(units);
}

TEST(without_a_known_unit_a_figure_is_plain)
{
    struct doc *units = doc_create_object();
    doc_add_string(units, "ram_unit", "furlongs");
    assert_string_equal(figure_text(units, "main_ram", 1.5, cell), "1.5");
    assert_string_equal(figure_text(NULL, "main_ram", 1.5, cell), "1.5");
    assert_string_equal(figure_text(NULL, "of_mine", 1e9, cell), "1e+09");
    doc_destroy(units);
}

TEST(cells_have_one_width)
{
    struct str text = {0};
    figure_put(&text, "1 GB");
    figure_put(&text, "a name that is longer");
    figure_put(&text, "\303\274ber");
    assert_string_equal(str_text(&text), "       1 GB \342\200\246is longer       \303\274ber");
    str_finish(&text);
}

TEST(a_duration_is_whole_however_long_it_is)
{
    static const struct {
        double seconds;
        const char *shown;
    } cases[] = {{599, "9 min 59 s"}, {599.6, "9.99 min"}, {1213.2, "20.2 min"}, {3599, "60 min"},
        {3600, "1 h 00 min"}, {35999, "10 h"}, {44000, "12.2 h"}, {86369, "24 h"},
        {86370, "1 d 00 h"}, {1e6, "11 d 14 h"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct str text = {0};
        char expected[HUMAN_SIZE];
        snprintf(expected, sizeof expected, "%*s", FIGURE_WIDTH, cases[i].shown);
        figure_put(&text, figure_text(NULL, "compute_time", cases[i].seconds, cell));
        assert_string_equal(str_text(&text), expected);
        str_finish(&text);
    }
}

TEST(a_block_keeps_its_end)
{
    struct str text = {0};
    figure_put_name(&text, 1, "/a/long/path.py:12", NULL, 0);
    figure_put_name(&text, 1, "/a/long/path.py:12", NULL, FIGURE_WIDTH + 2 + 14);
    figure_put_name(&text, 9, "/a/long/path.py:12", NULL, 20);
    figure_put_name(&text, 1, "a\033b\nc", NULL, 0);
    assert_string_equal(str_text(&text), "  /a/long/path.py:12\n"
                                         "  \342\200\246ng/path.py:12\n"
                                         "  \342\200\246/path.py:12\n"
                                         "  a?b c\n");
    str_finish(&text);
}

TEST(a_figure_keeps_its_beginning)
{
    struct str text = {0};
    figure_put_name(&text, 1, NULL, "main_ram_total", FIGURE_WIDTH + 2 + 12);
    figure_put_name(&text, 1, "/a/path.py:12", "main_ram", 0);
    figure_put_name(&text, 1, "/a/path.py:12", "main_ram", FIGURE_WIDTH + 2 + 20);
    figure_put_name(&text, 1, "/a/path.py:12", "main_ram_total", FIGURE_WIDTH + 2 + 20);
    assert_string_equal(str_text(&text), "  main_ram_to\342\200\246\n"
                                         "  /a/path.py:12: main_ram\n"
                                         "  \342\200\246ath.py:12: main_ram\n"
                                         "  \342\200\246py:12: main_ram_to\342\200\246\n");
    str_finish(&text);
}

RUN_TESTS(NULL, NULL)
