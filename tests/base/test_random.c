#include "base/random.h"

#include "testing.h"

static void fills_every_byte(void **state)
{
    (void)state;
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

static void differs_each_time(void **state)
{
    (void)state;
    unsigned char first[16], second[16];
    random_fill(first, sizeof first);
    random_fill(second, sizeof second);
    assert_memory_not_equal(first, second, sizeof first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_every_byte),
        cmocka_unit_test(differs_each_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
