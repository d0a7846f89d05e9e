#include "base/random.h"

#include "testing.h"

TEST(fills_every_byte)
{
    unsigned char seen[32] = {0}, bytes[32];
    /* A byte that stays zero in 64 fillings would be chance once in 10^154. */
    for (int filling = 0; filling < 64; filling++) {
        random_fill(bytes, sizeof bytes);
        for (size_t i = 0; i < sizeof bytes; i++)
            seen[i] |= bytes[i];
    }
    for (size_t i = 0; i < sizeof seen; i++)
        assert_int_not_equal(seen[i], 0);
}

TEST(differs_each_time)
{
    unsigned char first[16], second[16];
    random_fill(first, sizeof first);
    random_fill(second, sizeof second);
    assert_memory_not_equal(first, second, sizeof first);
}

RUN_TESTS(NULL, NULL)
