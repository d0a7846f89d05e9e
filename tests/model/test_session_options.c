#include "testing.h"

#include "model/session_options.h"

#include <math.h>
#include <string.h>

static struct gput_session_options options;

static int set(const char *name, const char *text)
{
    return gput_session_option_set(&options, name, text, NULL);
}

TEST(each_kind_is_set_from_text)
{
    options = gput_session_options_default();
    assert_int_equal(set("sleep_time", "0.25"), GPUT_OK);
    assert_true(options.sleep_time_seconds == 0.25);
    assert_int_equal(set("n_expected_cores", "12"), GPUT_OK);
    assert_int_equal(options.n_expected_cores, 12);
    assert_int_equal(set("overwrite", "true"), GPUT_OK);
    assert_true(options.overwrite);
    assert_int_equal(set("energy_driver", "sqlite"), GPUT_OK);
    assert_int_equal(options.energy_driver, GPUT_ENERGY_DRIVER_SQLITE);
    assert_int_equal(set("otlp", ""), GPUT_OK);
    assert_string_equal(options.otlp, "");
    assert_int_equal(set("otlp", NULL), GPUT_OK);
    assert_null(options.otlp);
}

TEST(of_a_number_and_a_country_the_last_counts)
{
    options = gput_session_options_default();
    assert_int_equal(set("carbon_intensity", "50.5"), GPUT_OK);
    assert_true(options.carbon_intensity == 50.5 && !options.carbon_country);
    assert_int_equal(set("carbon_intensity", "FR"), GPUT_OK);
    assert_true(isnan(options.carbon_intensity));
    assert_string_equal(options.carbon_country, "FR");
}

TEST(what_an_option_does_not_take_leaves_it_alone)
{
    static const struct {
        const char *name, *text;
    } wrong[] = {{"sleep_time", "0"}, {"sleep_time", "soon"}, {"sleep_time", "nan"},
        {"sleep_time", ""}, {"n_expected_cores", "0"}, {"n_expected_cores", "2.5"},
        {"n_expected_cores", "4294967297"}, {"overwrite", "yes"}, {"ram_mode", "much"},
        {"energy_driver", "xml"}, {"carbon_intensity", "-1"}, {"push_timeout", "3601"},
        {"sleep_time_seconds", "1"}, {"ram_mode", NULL}, {"overwrite", NULL}};
    options = gput_session_options_default();
    struct gput_session_options before = options;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(set(wrong[i].name, wrong[i].text), GPUT_ERROR_INVALID);
    assert_memory_equal(&options, &before, sizeof options);
    struct gput_error error;
    gput_session_option_set(&options, "push_timeout", "0", &error);
    assert_string_equal(error.message, "push_timeout must be a number of seconds, 0.1 to 3600.");
}

TEST(a_name_is_that_of_one_option)
{
    size_t count;
    const struct session_option *list = session_options_list(&count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(session_options_find(list[i].what.name), &list[i]);
        assert_ptr_equal(gput_session_option_find(list[i].what.name), &list[i].what);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(list[i].offset, list[j].offset);
    }
    assert_null(gput_session_option_find("no_such_option"));
}

TEST(numbers_of_a_program_are_checked_unless_they_are_not_given)
{
    options = gput_session_options_default();
    assert_int_equal(session_options_check(&options, NULL), GPUT_OK);
    options.push_interval_seconds = 0.1;
    assert_int_equal(session_options_check(&options, NULL), GPUT_ERROR_INVALID);
    options.push_interval_seconds = 0;
    options.sleep_time_seconds = NAN;
    assert_int_equal(session_options_check(&options, NULL), GPUT_ERROR_INVALID);
}

RUN_TESTS(NULL, NULL)
