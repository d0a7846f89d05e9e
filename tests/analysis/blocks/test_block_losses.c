#include "analysis/blocks/block_losses.h"

#include "testing.h"

#include <string.h>

TEST(the_stop_of_a_lost_start_is_taken_and_others_are_not)
{
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

TEST(a_start_that_is_kept_within_a_lost_one_has_its_stop_first)
{
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

TEST(waiting_stops_keep_their_order)
{
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

TEST(lost_starts_and_stops_are_bounded)
{
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

RUN_TESTS(NULL, NULL)
