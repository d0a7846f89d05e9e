#include "analysis/analyze/student.h"
#include "testing.h"

#include <math.h>

/* Of published tables (R: qt(0.975, n)), in all their digits. */
TEST(quantiles_are_those_of_the_tables)
{
    static const struct {
        double freedom, expected;
    } table[] = {{1, 12.7062047361747}, {2, 4.30265272974946}, {3, 3.18244630528371},
        {4, 2.77644510519779}, {5, 2.57058183563631}, {9, 2.26215716279820}, {10, 2.22813885198627},
        {19, 2.09302405440831}, {20, 2.08596344726586}, {30, 2.04227245630124},
        {100, 1.98397151852355}, {1000, 1.96233908082641}, {1e9, 1.95996398691403}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        double value = student_quantile_975(table[i].freedom);
        assert_true(fabs(value / table[i].expected - 1) < 1e-11);
    }
}

/* Welch's test gives such degrees of freedom. */
TEST(fractions_are_as_exact)
{
    assert_true(fabs(student_quantile_975(4.5) / 2.65891234720 - 1) < 1e-10);
    assert_true(fabs(student_quantile_975(19.5) / 2.08939762097 - 1) < 1e-10);
}

/* Where one way of computing it takes over from the other. */
TEST(many_degrees_of_freedom_go_on_without_a_jump)
{
    double below = student_quantile_975(1000), above = student_quantile_975(1000.0001);
    assert_true(above < below && below - above < 1e-9);
}

/* Of R: 2 * pt(-t, n). */
TEST(probabilities_are_those_of_the_tables)
{
    static const struct {
        double t, freedom, expected;
    } table[] = {{0, 5, 1}, {1, 1, 0.5}, {2.776445105198, 4, 0.05}, {-2.262157162798, 9, 0.05},
        {12.7062047361747, 1, 0.05}, {1.983971518523, 100, 0.05}, {2, 1e9, 0.0455002638963584}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        double value = student_p_value(table[i].t, table[i].freedom);
        assert_true(fabs(value - table[i].expected) < 1e-9);
    }
    /* Where one fraction takes over from the other. */
    for (double t = 0.001; t < 4; t *= 1.01) {
        double step = student_p_value(t, 7) - student_p_value(t * 1.01, 7);
        assert_true(step > 0 && step < 0.0101 * t * 0.8);
    }
}

TEST(less_than_one_degree_of_freedom_is_none)
{
    assert_true(isnan(student_quantile_975(0)));
    assert_true(isnan(student_quantile_975(NAN)));
}

RUN_TESTS(NULL, NULL)
