#include "analysis/training/end_index.h"

#include "testing.h"

#include <stdlib.h>

static int64_t end_at(const void *intervals, size_t place)
{
    return ((const int64_t *)intervals)[place];
}

/* A few numbers below `limit`, the same in every run. */
static uint32_t next_below(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % limit;
}

TEST(finds_what_a_scan_of_all_finds)
{
    uint32_t random = 1;
    static const size_t counts[] = {0, 1, 15, 16, 17, 255, 256, 257, 4096, 5000};
    static int64_t ends[5000];
    for (size_t round = 0; round < sizeof counts / sizeof *counts; round++) {
        size_t count = counts[round];
        struct end_index index;
        for (size_t i = 0; i < count; i++)
            ends[i] =
                next_below(&random, 10) ? next_below(&random, 100) : next_below(&random, 100000);
        assert_int_equal(end_index_make(&index, ends, count, end_at, NULL), GPUT_OK);
        for (int i = 0; i < 2000; i++) {
            size_t before = next_below(&random, (uint32_t)count + 1);
            size_t first = next_below(&random, (uint32_t)before + 1);
            int64_t end_us = next_below(&random, i % 2 ? 110 : 101000);
            size_t expected = before;
            while (expected > first && ends[expected - 1] < end_us)
                expected--;
            expected = expected > first ? expected - 1 : before;
            assert_int_equal(end_index_find(&index, first, before, end_us), expected);
        }
        end_index_finish(&index);
    }
}

RUN_TESTS(NULL, NULL)
