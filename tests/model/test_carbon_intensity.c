#include "testing.h"

#include <gputracker/energy.h>

#include <string.h>

TEST(a_country_is_found_by_either_code)
{
    static const char *const codes[] = {"FR", "FRA", "fr", "Fra"};
    for (size_t i = 0; i < 4; i++) {
        const struct gput_carbon_intensity *intensity;
        assert_int_equal(gput_carbon_intensity_find(codes[i], &intensity, NULL), GPUT_OK);
        assert_string_equal(intensity->country, "France");
        assert_true(intensity->grams == 56.039);
        assert_int_equal(intensity->year, 2023);
    }
    assert_non_null(strstr(gput_carbon_intensity_source(), "codecarbon "));
}

TEST(every_figure_is_plausible)
{
    size_t count = 0;
    for (char a = 'A'; a <= 'Z'; a++) {
        for (char b = 'A'; b <= 'Z'; b++) {
            const char code[] = {a, b, '\0'};
            const struct gput_carbon_intensity *intensity, *same;
            if (gput_carbon_intensity_find(code, &intensity, NULL) != GPUT_OK)
                continue;
            count++;
            assert_true(intensity->grams > 0 && intensity->grams < 2000);
            assert_true(intensity->year >= 2022 && intensity->year < 2100);
            assert_true(intensity->country[0] != '\0');
            assert_int_equal(strlen(intensity->long_code), 3);
            assert_int_equal(
                gput_carbon_intensity_find(intensity->long_code, &same, NULL), GPUT_OK);
            assert_ptr_equal(same, intensity);
        }
    }
    assert_true(count > 200);
}

TEST(an_unknown_country_is_named)
{
    const struct gput_carbon_intensity *intensity;
    struct gput_error error;
    static const char *const unknown[] = {"", "F", "XX", "France", "-5"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        int code = gput_carbon_intensity_find(unknown[i], &intensity, &error);
        assert_int_equal(code, GPUT_ERROR_NOT_FOUND);
        assert_null(intensity);
    }
    assert_string_equal(error.message, "The carbon intensity of \"-5\" is not known. Give the code "
                                       "of a country (FR, FRA), or grams of "
                                       "CO2 for a kWh.");
}

RUN_TESTS(NULL, NULL)
