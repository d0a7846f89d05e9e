#include "model/request.h"

#include "testing.h"

#include <math.h>

#define MEBIBYTE 1048576.0
#define GIBIBYTE (1024 * MEBIBYTE)

TEST(what_is_asked_for_has_a_margin_and_is_rounded_up)
{
    assert_true(request_ram_bytes(8 * GIBIBYTE) == 10 * GIBIBYTE);
    assert_true(request_ram_bytes(GIBIBYTE) == 1280 * MEBIBYTE);
    assert_true(request_ram_bytes(1) == 256 * MEBIBYTE);
    assert_true(request_seconds(10) == 60);
    assert_true(request_seconds(1800) == 2400);
    assert_true(request_seconds(5400) == 7200);
    assert_true(request_cores(0.01) == 1);
    assert_true(request_cores(3.5) == 4);
    assert_true(request_cores(4) == 5); /* all were busy: more would have been used, perhaps */
    for (double used = 1; used < 1e12; used *= 1.37)
        assert_true(request_ram_bytes(used) >= 1.2 * used);
}

TEST(what_is_not_known_is_not_asked_for)
{
    struct str text = {0};
    assert_true(
        isnan(request_ram_bytes(NAN)) && isnan(request_seconds(NAN)) && isnan(request_cores(NAN)));
    request_add_slurm(NAN, NAN, NAN, &text);
    assert_string_equal(str_text(&text), "");
    request_add_slurm(NAN, 4, NAN, &text);
    assert_string_equal(str_text(&text), "--cpus-per-task=4");
    str_finish(&text);
}

TEST(slurm_has_its_own_units)
{
    struct str text = {0};
    request_add_slurm(10 * GIBIBYTE, 4, 7200, &text);
    assert_string_equal(str_text(&text), "--mem=10G --cpus-per-task=4 --time=02:00:00");
    str_clear(&text);
    request_add_slurm(1280 * MEBIBYTE, NAN, 26 * 3600 + 5 * 60, &text);
    assert_string_equal(str_text(&text), "--mem=1280M --time=1-02:05:00");
    str_finish(&text);
}

RUN_TESTS(NULL, NULL)
