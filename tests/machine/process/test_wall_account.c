#include "machine/process/wall_account.h"

#include "testing.h"

static int64_t sum_of(const struct wall_account *account)
{
    int64_t sum = 0;
    for (int i = 0; i < WALL_CAUSE_COUNT; i++)
        sum += account->ns[i];
    return sum;
}

TEST(the_rest_is_divided_as_samples_say)
{
    const struct wall_samples samples = {
        .ns = {[WALL_COMPUTING] = 500, [WALL_PIPE] = 30, [WALL_TIMER] = 10}, .count = 9};
    struct wall_account account = wall_account_of(1000, 200, 400, &samples);
    assert_int_equal(account.wall_ns, 1000);
    assert_int_equal(account.ns[WALL_COMPUTING], 200);
    assert_int_equal(account.ns[WALL_CPU], 400);
    assert_int_equal(account.ns[WALL_PIPE], 300);
    assert_int_equal(account.ns[WALL_TIMER], 100);
    assert_int_equal(account.ns[WALL_UNKNOWN], 0);
    assert_int_equal(account.samples, 9);
}

TEST(without_a_sample_the_rest_is_not_known)
{
    const struct wall_samples samples = {.ns = {[WALL_COMPUTING] = 500}, .count = 3};
    struct wall_account account = wall_account_of(1000, 200, 400, &samples);
    assert_int_equal(account.ns[WALL_UNKNOWN], 400);
    assert_int_equal(sum_of(&account), 1000);
}

/* Of some it is known whether they were read for a call or for a page fault. */
TEST(pages_are_divided_as_the_known_ones)
{
    const struct wall_samples samples = {
        .ns = {[WALL_PAGING] = 30, [WALL_STORAGE] = 10}, .pages_ns = 40, .count = 8};
    struct wall_account account = wall_account_of(1000, 200, 0, &samples);
    assert_int_equal(account.ns[WALL_PAGING], 600);
    assert_int_equal(account.ns[WALL_STORAGE], 200);
    const struct wall_samples none = {.pages_ns = 40, .count = 1};
    account = wall_account_of(1000, 200, 0, &none);
    assert_int_equal(account.ns[WALL_STORAGE], 800);
}

/* A thread that began before it was first seen has run and waited for longer. */
TEST(what_was_counted_is_never_more_than_the_whole)
{
    const struct wall_samples none = {0};
    struct wall_account account = wall_account_of(500, 400, 300, &none);
    assert_int_equal(account.wall_ns, 700);
    assert_int_equal(sum_of(&account), 700);
}

TEST(a_child_explains_waiting_for_it)
{
    struct wall_account account = {
        .wall_ns = 1000, .ns = {[WALL_COMPUTING] = 200, [WALL_CHILD] = 800}, .samples = 4};
    const struct wall_account children = {
        .wall_ns = 400, .ns = {[WALL_COMPUTING] = 100, [WALL_STORAGE] = 300}, .samples = 6};
    wall_account_explain_child(&account, &children);
    assert_int_equal(account.ns[WALL_CHILD], 0);
    assert_int_equal(account.ns[WALL_COMPUTING], 400);
    assert_int_equal(account.ns[WALL_STORAGE], 600);
    assert_int_equal(account.samples, 10);
    assert_int_equal(sum_of(&account), 1000);
}

TEST(without_children_waiting_for_them_stays)
{
    struct wall_account account = {.wall_ns = 1000, .ns = {[WALL_CHILD] = 1000}};
    const struct wall_account none = {0};
    wall_account_explain_child(&account, &none);
    assert_int_equal(account.ns[WALL_CHILD], 1000);
}

TEST(a_quota_is_within_waiting_for_a_cpu)
{
    struct wall_account account = {.wall_ns = 1000, .ns = {[WALL_CPU] = 1000}};
    wall_account_split_quota(&account, 0.75);
    assert_int_equal(account.ns[WALL_QUOTA], 750);
    assert_int_equal(account.ns[WALL_CPU], 250);
    wall_account_split_quota(&account, 2);
    assert_int_equal(account.ns[WALL_QUOTA], 1000);
}

TEST(accounts_add_up)
{
    struct wall_account sum = {0};
    const struct wall_account one = {
        .wall_ns = 10, .ns = {[WALL_LOCK] = 7, [WALL_POLL] = 3}, .samples = 2};
    wall_account_add(&sum, &one);
    wall_account_add(&sum, &one);
    assert_int_equal(sum.wall_ns, 20);
    assert_int_equal(sum.ns[WALL_LOCK], 14);
    wall_account_subtract(&sum, &one);
    assert_int_equal(sum.wall_ns, 10);
    assert_int_equal(sum.samples, 2);
    const struct wall_account more = {.wall_ns = 9, .ns = {[WALL_LOCK] = 9}, .samples = 5};
    wall_account_subtract(&sum, &more);
    assert_int_equal(sum.wall_ns, 3);
    assert_int_equal(sum.ns[WALL_LOCK], 0);
    assert_int_equal(sum.samples, 0);
}

RUN_TESTS(NULL, NULL)
