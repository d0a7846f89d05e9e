#include "analyze/student.h"
#include "testing.h"

#include <math.h>

static void quantiles_are_those_of_the_tables(void **state)
{
    (void)state;
    static const struct {
        double freedom, expected;
    } table[] = {{1, 12.706}, {2, 4.303}, {10, 2.228}, {19, 2.093}, {20, 2.086}, {21, 2.080},
        {30, 2.042}, {100, 1.984}, {1e9, 1.960}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        assert_true(fabs(student_quantile_975(table[i].freedom) - table[i].expected) < 0.001);
}

static void fractions_lie_between_their_neighbours(void **state)
{
    (void)state;
    double value = student_quantile_975(4.5);
    assert_true(value < 2.776 && value > 2.571);
}

static void less_than_one_degree_of_freedom_is_none(void **state)
{
    (void)state;
    assert_true(isnan(student_quantile_975(0)));
    assert_true(isnan(student_quantile_975(NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_are_those_of_the_tables),
        cmocka_unit_test(fractions_lie_between_their_neighbours),
        cmocka_unit_test(less_than_one_degree_of_freedom_is_none),
    };
    return cmocka_run_group_tests_name("analyze/student", tests, NULL, NULL);
}
