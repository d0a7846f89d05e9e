#include "analysis/analyze/change_points.h"
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Normal enough, and the same everywhere. */
static double noise(uint64_t *state)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return sum - 6;
}

struct curve {
    double values[2][CHANGE_POINTS_VALUES];
    size_t n;
};

/* The changes as text. */
static const char *changes_of(struct curve *curve, size_t n_series)
{
    static char text[512];
    size_t changes[CHANGE_POINTS_MAX], count;
    struct change_series series[] = {{curve->values[0], 0}, {curve->values[1], 0}};
    text[0] = '\0';
    assert_int_equal(
        change_points_find(series, n_series, curve->n, changes, &count, NULL), GPUT_OK);
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%zu ", changes[i]);
    return text;
}

/* Asserts a number of changes, each within some values of where it is. */
static void assert_changes(struct curve *curve, size_t n_series, const long *expected, size_t count)
{
    const char *text = changes_of(curve, n_series);
    char *at = (char *)text;
    for (size_t i = 0; i < count; i++) {
        long found = strtol(at, &at, 10);
        if (labs(found - expected[i]) > 3)
            fail_msg("%ld is not near %ld: %s", found, expected[i], text);
    }
    assert_string_equal(at + (*at == ' '), "");
}

TEST(noise_alone_has_no_change)
{
    static struct curve curve;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        uint64_t random = seed;
        double correlated = 0;
        curve.n = seed % 2 ? 300 : 1500;
        for (size_t i = 0; i < curve.n; i++) {
            correlated = 0.5 * correlated + noise(&random);
            curve.values[0][i] = 100 + 10 * noise(&random);
            curve.values[1][i] = 50 + 5 * correlated;
        }
        assert_string_equal(changes_of(&curve, 2), "");
    }
}

TEST(steps_are_found_where_they_are_in_any_series)
{
    static struct curve curve = {.n = 1000};
    uint64_t random = 7;
    for (size_t i = 0; i < curve.n; i++) {
        curve.values[0][i] = (i < 200 ? 20 : i < 230 ? 90 : 40) + 5 * noise(&random);
        curve.values[1][i] = (i < 700 ? 1 : 2) + 0.05 * noise(&random);
    }
    assert_changes(&curve, 2, (const long[]){200, 230, 700}, 3);
}

TEST(steady_growth_is_no_change_and_its_beginning_is)
{
    static struct curve curve = {.n = 1500};
    uint64_t random = 3;
    for (size_t i = 0; i < curve.n; i++)
        curve.values[0][i] = 5 * (double)i + noise(&random);
    assert_string_equal(changes_of(&curve, 1), "");
    for (size_t i = 0; i < curve.n; i++)
        curve.values[0][i] = i < 1000 ? 10 : 5000 - 5 * (double)(i - 1000);
    assert_changes(&curve, 1, (const long[]){1000}, 1);
}

TEST(single_peaks_are_left_out)
{
    static struct curve curve = {.n = 500};
    for (size_t i = 0; i < curve.n; i++)
        curve.values[0][i] = i % 100 == 50 ? 1000 : (double)(i % 3);
    assert_string_equal(changes_of(&curve, 1), "");
}

TEST(short_and_constant_series_have_none)
{
    static struct curve curve = {.n = 15};
    for (size_t i = 0; i < CHANGE_POINTS_VALUES; i++)
        curve.values[0][i] = i < 7 ? 0 : 100;
    assert_string_equal(changes_of(&curve, 1), "");
    curve.n = CHANGE_POINTS_VALUES;
    assert_string_equal(changes_of(&curve, 0), "");
    for (size_t i = 0; i < CHANGE_POINTS_VALUES; i++)
        curve.values[0][i] = 5;
    assert_string_equal(changes_of(&curve, 1), "");
}

TEST(there_are_only_so_many)
{
    static struct curve curve = {.n = CHANGE_POINTS_VALUES};
    size_t changes[CHANGE_POINTS_MAX], count;
    struct change_series series = {curve.values[0], 0};
    for (size_t i = 0; i < curve.n; i++)
        curve.values[0][i] = i / 16 % 2 ? 100 : 0;
    assert_int_equal(change_points_find(&series, 1, curve.n, changes, &count, NULL), GPUT_OK);
    assert_true(count <= CHANGE_POINTS_MAX);
}

RUN_TESTS(NULL, NULL)
