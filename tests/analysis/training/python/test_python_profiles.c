#include "analysis/training/python/python_profiles.h"
#include "testing.h"

#include <math.h>
#include <string.h>

static struct python_profile profile_named(const char *name)
{
    struct python_profile profile = {0};
    char node[64] = "";
    python_profile_moments(name, &profile.start, &profile.end, node, sizeof node);
    return profile;
}

TEST(reads_names_of_folders)
{
    struct python_profile profile =
        profile_named("train-3-stepstart-1600000000.5_eval-4-forwardpassend-1600000001");
    assert_string_equal(profile.start.mode, "train");
    assert_string_equal(profile.start.phase, "stepstart");
    assert_true(profile.start.step == 3);
    assert_true(profile.start.time_us == 1600000000.5);
    assert_string_equal(profile.end.mode, "eval");
    assert_string_equal(profile.end.phase, "forwardpassend");
    profile = profile_named("prestepzero-*-start-1_posthookclose-*-end-2");
    assert_true(profile.start.step == -1);
    assert_true(isinf(profile.end.step));
}

TEST(reads_older_names_and_no_others)
{
    struct profile_moment start, end;
    char node[64] = "";
    assert_true(python_profile_moments("10.5_20.5_151-algo-1_3", &start, &end, node, sizeof node));
    assert_true(start.time_us == 10.5 && end.time_us == 20.5 && start.step == 3);
    assert_string_equal(node, "151-algo-1");
    static const char *const others[] = {"", "_", "train-x-start-1_train-2-end-2", "1_2", "1_2_3",
        "a_b_c_d", "train-1-start-1", "train-1-start-_train-1-end-"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(python_profile_moments(others[i], &start, &end, node, sizeof node));
        assert_true(isnan(start.step));
    }
}

static bool in(const char *name, double first, double last, const char *from, const char *to)
{
    struct python_profile profile = profile_named(name);
    return python_profile_in_steps(&profile, first, last, from, to);
}

TEST(selects_by_steps_and_phases)
{
    static const char name[] = "train-3-stepstart-1_train-5-stepend-2";
    assert_true(in(name, 2, 6, "stepstart", "end"));
    assert_true(in(name, 3, 5, "stepstart", "stepend"));
    assert_false(in(name, 4, 6, "stepstart", "end"));
    assert_false(in(name, 2, 4, "stepstart", "end"));
    assert_false(in(name, 3, 6, "stepend", "end"));
    assert_false(in(name, 3, 6, "forwardpassend", "end"));
    assert_false(in(name, 2, 5, "stepstart", "stepstart"));
    assert_false(in("unknown", 0, 10, "stepstart", "end"));
}

TEST(selects_by_overlap_in_time)
{
    struct python_profile profile = profile_named("train-3-stepstart-100_train-5-stepend-200");
    assert_true(python_profile_in_time(&profile, 0, 100));
    assert_true(python_profile_in_time(&profile, 120, 130)); /* encloses the query */
    assert_false(python_profile_in_time(&profile, 0, 99));
    assert_false(python_profile_in_time(&profile, 201, 300));
}

RUN_TESTS(NULL, NULL)
