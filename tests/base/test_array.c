#include "base/array.h"
#include "testing.h"

#include <stdint.h>
#include <stdlib.h>

static void keeps_what_it_has_when_it_grows(void **state)
{
    (void)state;
    uint32_t *numbers = NULL;
    size_t count = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(ARRAY_EXTEND(numbers, count));
        numbers[count++] = i;
    }
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i);
    free(numbers);
}

static void can_become_shorter_and_grow_again(void **state)
{
    (void)state;
    double *numbers = NULL;
    size_t count = 0, capacity = 0;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 100; i++) {
            assert_true(ARRAY_RESERVE(numbers, count, capacity));
            numbers[count++] = (double)i;
        }
        assert_int_equal(capacity, 128);
        for (size_t i = 0; i < 100; i++)
            assert_true(numbers[i] == (double)i);
        count = 0;
    }
    free(numbers);
}

static void reserves_more_than_double(void **state)
{
    (void)state;
    char *bytes = NULL;
    size_t capacity = 0;
    assert_true(ARRAY_RESERVE(bytes, (size_t)1000, capacity));
    assert_true(capacity > 1000);
    free(bytes);
}

static void is_unchanged_without_memory(void **state)
{
    (void)state;
    struct item {
        char bytes[SIZE_MAX / 16];
    } *items = NULL;
    size_t capacity = 0;
    assert_false(ARRAY_RESERVE(items, (size_t)0, capacity));
    assert_false(ARRAY_EXTEND(items, (size_t)0));
    assert_null(items);
    assert_int_equal(capacity, 0);
}

static void refuses_more_bytes_than_there_can_be(void **state)
{
    (void)state;
    uint32_t *numbers = NULL;
    assert_true(ARRAY_RESIZE(numbers, 4));
    numbers[3] = 7;
    assert_false(ARRAY_RESIZE(numbers, SIZE_MAX / 2));
    assert_int_equal(numbers[3], 7);
    free(numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_what_it_has_when_it_grows),
        cmocka_unit_test(refuses_more_bytes_than_there_can_be),
        cmocka_unit_test(can_become_shorter_and_grow_again),
        cmocka_unit_test(reserves_more_than_double),
        cmocka_unit_test(is_unchanged_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
