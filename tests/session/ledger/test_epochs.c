#include "session/ledger/ledger.h"

#include "base/clock.h"
#include "testing.h"

#define AWAKE (10 * NS_PER_SECOND)
#define ASLEEP (3600 * NS_PER_SECOND)

TEST(one_epoch_while_the_machine_is_awake)
{
    struct epochs epochs = {0};
    epochs_add(&epochs, 100, 5100);
    epochs_add(&epochs, AWAKE, AWAKE + 5003); /* the clocks are read one after the other */
    assert_int_equal(epochs.count, 1);
    assert_int_equal(epochs_date_ns(&epochs, 50), 5050);
    assert_int_equal(epochs_date_ns(&epochs, 2 * AWAKE), 2 * AWAKE + 5000);
    epochs_finish(&epochs);
}

TEST(what_was_before_a_suspension_keeps_its_date)
{
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

RUN_TESTS(NULL, NULL)
