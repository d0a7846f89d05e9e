#include "analysis/blocks/block_losses.h"

#include "testing.h"

#include <string.h>

static void the_stop_of_a_lost_start_is_taken_and_others_are_not(void **state)
{
    (void)state;
    struct block_losses losses = {0};
    assert_false(block_losses_any(&losses));
    assert_false(block_losses_remove_start(&losses, 1, false));
    block_losses_add_start(&losses, 1);
    assert_true(block_losses_any(&losses));
    assert_false(block_losses_remove_start(&losses, 2, false));
    assert_true(block_losses_remove_start(&losses, 1, false));
    assert_false(block_losses_remove_start(&losses, 1, false));
    assert_false(block_losses_any(&losses));
    block_losses_finish(&losses);
}

static void a_start_that_is_kept_within_a_lost_one_has_its_stop_first(void **state)
{
    (void)state;
    struct block_losses losses = {0};
    block_losses_add_start(&losses, 1);
    block_losses_count_start(&losses, 1);
    block_losses_count_start(&losses, 2); /* another name */
    assert_false(block_losses_remove_start(&losses, 1, false));
    assert_true(block_losses_remove_start(&losses, 1, false));
    /* One that knows its call does not count those that came later. */
    block_losses_add_start(&losses, 1);
    block_losses_count_start(&losses, 1);
    assert_true(block_losses_remove_start(&losses, 1, true));
    block_losses_finish(&losses);
}

static void waiting_stops_keep_their_order(void **state)
{
    (void)state;
    struct block_losses losses = {0};
    for (uint32_t i = 0; i < 20; i++) {
        struct block_name name = {.number = i, .text = "x", .length = 1};
        struct sub_tracking_mark row = {.timestamp_ns = 100 + i};
        assert_true(block_losses_add_stop(&losses, &name, &row));
    }
    block_losses_drop_stops(&losses, 0);
    block_losses_drop_stops(&losses, 7);
    assert_int_equal(losses.n_waiting, 13);
    assert_int_equal(losses.waiting[0].name.number, 7);
    assert_int_equal(losses.waiting[12].row.timestamp_ns, 119);
    block_losses_finish(&losses);
}

static void lost_starts_and_stops_are_bounded(void **state)
{
    (void)state;
    struct block_losses losses = {0};
    struct block_name name = {.number = 1};
    struct sub_tracking_mark row = {0};
    for (size_t i = 0; i < BLOCK_LOSSES_MAX; i++) {
        assert_true(block_losses_add_stop(&losses, &name, &row));
        block_losses_add_start(&losses, 1);
    }
    assert_false(block_losses_add_stop(&losses, &name, &row));
    block_losses_add_start(&losses, 1);
    assert_int_equal(losses.n_lost, BLOCK_LOSSES_MAX);
    block_losses_finish(&losses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_stop_of_a_lost_start_is_taken_and_others_are_not),
        cmocka_unit_test(a_start_that_is_kept_within_a_lost_one_has_its_stop_first),
        cmocka_unit_test(waiting_stops_keep_their_order),
        cmocka_unit_test(lost_starts_and_stops_are_bounded),
    };
    return cmocka_run_group_tests_name("analysis/blocks/block_losses", tests, NULL, NULL);
}
