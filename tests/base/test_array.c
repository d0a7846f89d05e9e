#include "base/array.h"
#include "testing.h"

#include <stdint.h>
#include <stdlib.h>

TEST(keeps_what_it_has_when_it_grows)
{
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

TEST(can_become_shorter_and_grow_again)
{
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

TEST(reserves_more_than_double)
{
    char *bytes = NULL;
    size_t capacity = 0;
    assert_true(ARRAY_RESERVE(bytes, (size_t)1000, capacity));
    assert_true(capacity > 1000);
    free(bytes);
}

TEST(is_unchanged_without_memory)
{
    struct item {
        char bytes[SIZE_MAX / 16];
    } *items = NULL;
    size_t capacity = 0;
    assert_false(ARRAY_RESERVE(items, (size_t)0, capacity));
    assert_false(ARRAY_EXTEND(items, (size_t)0));
    assert_null(items);
    assert_int_equal(capacity, 0);
}

TEST(refuses_more_bytes_than_there_can_be)
{
    uint32_t *numbers = NULL;
    assert_true(ARRAY_RESIZE(numbers, 4));
    numbers[3] = 7;
    assert_false(ARRAY_RESIZE(numbers, SIZE_MAX / 2));
    assert_int_equal(numbers[3], 7);
    free(numbers);
}

RUN_TESTS(NULL, NULL)
