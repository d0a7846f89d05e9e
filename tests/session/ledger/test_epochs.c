#include "session/ledger/epochs.h"

#include "base/clock.h"
#include "testing.h"

#define AWAKE (10 * NS_PER_SECOND)
#define ASLEEP (3600 * NS_PER_SECOND)

static void one_epoch_while_the_machine_is_awake(void **state)
{
    (void)state;
    struct epochs epochs = {0};
    epochs_add(&epochs, 100, 5100);
    epochs_add(&epochs, AWAKE, AWAKE + 5003); /* the clocks are read one after the other */
    assert_int_equal(epochs.count, 1);
    assert_int_equal(epochs_date_ns(&epochs, 50), 5050);
    assert_int_equal(epochs_date_ns(&epochs, 2 * AWAKE), 2 * AWAKE + 5000);
    epochs_finish(&epochs);
}

static void what_was_before_a_suspension_keeps_its_date(void **state)
{
    (void)state;
    struct epochs epochs = {0};
    epochs_add(&epochs, 100, 5100);
    for (int64_t times = 1; times <= 3; times++)
        epochs_add(&epochs, times * AWAKE, times * (AWAKE + ASLEEP) + 5000);
    assert_int_equal(epochs.count, 4);
    assert_int_equal(epochs_date_ns(&epochs, AWAKE - 1), AWAKE - 1 + 5000);
    assert_int_equal(epochs_date_ns(&epochs, AWAKE), AWAKE + ASLEEP + 5000);
    assert_int_equal(epochs_date_ns(&epochs, 3 * AWAKE - 1), 3 * AWAKE - 1 + 2 * ASLEEP + 5000);
    assert_int_equal(epochs_date_ns(&epochs, 4 * AWAKE), 4 * AWAKE + 3 * ASLEEP + 5000);
    epochs_finish(&epochs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_epoch_while_the_machine_is_awake),
        cmocka_unit_test(what_was_before_a_suspension_keeps_its_date),
    };
    return cmocka_run_group_tests_name("session/epochs", tests, NULL, NULL);
}
