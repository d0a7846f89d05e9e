#include "machine/process/memory.h"
#include "testing.h"

#define MB UINT64_C(1000000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

TEST(without_ranges_there_are_no_bytes)
{
    struct shared_totals totals = shared_ranges_total(NULL, 0);
    assert_int_equal(totals.combined_bytes, 0);
    assert_int_equal(totals.descendants_bytes, 0);
}

TEST(one_segment_mapped_by_all_counts_once)
{
    struct shared_range ranges[4];
    for (uint32_t i = 0; i < 4; i++)
        ranges[i] = (struct shared_range){.device = 1,
            .inode = 7,
            .end = 200 * MB,
            .shared_bytes = 200 * MB,
            .pss_bytes = 50 * MB,
            .owner = i};
    struct shared_totals totals = shared_ranges_total(ranges, 4);
    assert_int_equal(totals.combined_bytes, 200 * MB);
    assert_int_equal(totals.descendants_bytes, 200 * MB);
}

TEST(parts_that_do_not_overlap_add_up)
{
    struct shared_range ranges[] = {
        {.inode = 7, .start = 0, .end = 100 * MB, .private_bytes = 100 * MB, .pss_bytes = 100 * MB},
        {.inode = 7,
            .start = 100 * MB,
            .end = 160 * MB,
            .private_bytes = 60 * MB,
            .pss_bytes = 60 * MB,
            .owner = 1},
    };
    struct shared_totals totals = shared_ranges_total(ranges, COUNT(ranges));
    assert_int_equal(totals.combined_bytes, 160 * MB);
    assert_int_equal(totals.descendants_bytes, 60 * MB);
}

TEST(the_same_offsets_of_other_objects_are_other_memory)
{
    struct shared_range ranges[] = {
        {.device = 1, .inode = 7, .end = MB, .shared_bytes = MB, .pss_bytes = MB / 2, .owner = 1},
        {.device = 2, .inode = 7, .end = MB, .shared_bytes = MB, .pss_bytes = MB / 2, .owner = 2},
        {.device = 1, .inode = 8, .end = MB, .shared_bytes = MB, .pss_bytes = MB / 2, .owner = 2},
    };
    struct shared_totals totals = shared_ranges_total(ranges, COUNT(ranges));
    assert_int_equal(totals.combined_bytes, 3 * MB);
}

/* Each had a third of the file alone when it was read, and has mapped the rest since. */
TEST(what_came_since_the_readings_counts_up_to_the_length_of_the_object)
{
    struct shared_range ranges[3];
    for (uint32_t i = 0; i < 3; i++)
        ranges[i] = (struct shared_range){.inode = 7,
            .end = 60 * MB,
            .private_bytes = 20 * MB,
            .pss_bytes = 20 * MB,
            .grown_bytes = 40 * MB,
            .owner = i};
    struct shared_totals totals = shared_ranges_total(ranges, 3);
    assert_int_equal(totals.combined_bytes, 60 * MB);
    assert_int_equal(totals.descendants_bytes, 60 * MB);
    assert_int_equal(totals.at_least_bytes, 60 * MB);
    totals = shared_ranges_total(ranges, 1);
    assert_int_equal(totals.combined_bytes, 60 * MB);
    assert_int_equal(totals.at_least_bytes, 20 * MB);
}

/* A library that untracked processes map, too: what the tracked ones have of it counts in full. */
TEST(untracked_sharers_do_not_reduce_the_total)
{
    struct shared_range ranges[] = {
        {.inode = 7, .end = 2 * MB, .shared_bytes = 2 * MB, .pss_bytes = MB / 50},
        {.inode = 7, .end = 2 * MB, .shared_bytes = 2 * MB, .pss_bytes = MB / 50, .owner = 1},
    };
    struct shared_totals totals = shared_ranges_total(ranges, COUNT(ranges));
    assert_int_equal(totals.combined_bytes, 2 * MB);
    assert_int_equal(totals.descendants_bytes, 2 * MB);
}

TEST(what_main_alone_has_is_not_the_descendants)
{
    struct shared_range ranges[] = {
        /* 30 MB that only main touched, 70 MB that both did. */
        {.inode = 7,
            .end = 100 * MB,
            .private_bytes = 30 * MB,
            .shared_bytes = 70 * MB,
            .pss_bytes = 65 * MB},
        {.inode = 7, .end = 100 * MB, .shared_bytes = 70 * MB, .pss_bytes = 35 * MB, .owner = 1},
    };
    struct shared_totals totals = shared_ranges_total(ranges, COUNT(ranges));
    assert_int_equal(totals.combined_bytes, 100 * MB);
    assert_int_equal(totals.descendants_bytes, 70 * MB);
}

/* Three processes, each pair sharing a different third: the proportional shares add up to all of
 * it, the most of one does not. */
TEST(pairs_that_share_different_pages_add_up_by_pss)
{
    struct shared_range ranges[3];
    for (uint32_t i = 0; i < 3; i++)
        ranges[i] = (struct shared_range){
            .inode = 7, .end = 90 * MB, .shared_bytes = 60 * MB, .pss_bytes = 30 * MB, .owner = i};
    struct shared_totals totals = shared_ranges_total(ranges, 3);
    assert_int_equal(totals.combined_bytes, 90 * MB);
    assert_int_equal(totals.descendants_bytes, 90 * MB);
}

/* A program maps its file in parts: text, data, … of one owner, in any order. */
TEST(parts_of_one_owner_add_up)
{
    struct shared_range ranges[] = {
        {.inode = 7,
            .start = 5 * MB,
            .end = 9 * MB,
            .shared_bytes = 4 * MB,
            .pss_bytes = 2 * MB,
            .owner = 1},
        {.inode = 7,
            .start = 0,
            .end = 5 * MB,
            .shared_bytes = 5 * MB,
            .pss_bytes = 5 * MB / 2,
            .owner = 1},
        {.inode = 7,
            .start = 0,
            .end = 9 * MB,
            .shared_bytes = 9 * MB,
            .pss_bytes = 9 * MB / 2,
            .owner = 2},
    };
    struct shared_totals totals = shared_ranges_total(ranges, COUNT(ranges));
    assert_int_equal(totals.combined_bytes, 9 * MB);
    assert_int_equal(totals.descendants_bytes, 9 * MB);
}

TEST(main_alone_leaves_the_descendants_nothing)
{
    struct shared_range ranges[] = {
        {.inode = 7, .end = MB, .shared_bytes = MB, .pss_bytes = MB / 3},
        {.inode = 9, .end = MB, .private_bytes = MB, .pss_bytes = MB},
    };
    struct shared_totals totals = shared_ranges_total(ranges, COUNT(ranges));
    assert_int_equal(totals.combined_bytes, 2 * MB);
    assert_int_equal(totals.descendants_bytes, 0);
}

/* Read while it was alone; others were read after they started: its "private" is outdated. */
TEST(readings_of_different_moments_are_bounded_by_the_object)
{
    struct shared_range ranges[] = {
        {.inode = 7, .end = 10 * MB, .private_bytes = 10 * MB, .pss_bytes = 10 * MB},
        {.inode = 7, .end = 10 * MB, .shared_bytes = 10 * MB, .pss_bytes = 5 * MB, .owner = 1},
        {.inode = 7, .end = 10 * MB, .private_bytes = 9 * MB, .pss_bytes = 9 * MB, .owner = 2},
    };
    struct shared_totals totals = shared_ranges_total(ranges, COUNT(ranges));
    assert_int_equal(totals.combined_bytes, 10 * MB);
    assert_int_equal(totals.descendants_bytes, 10 * MB);
}

/* Too little for a new reading: the old one stays. */
TEST(earlier_private_bytes_are_subtracted_from_the_lower_bound)
{
    struct shared_range ranges[] = {
        {.inode = 7, .end = 40 * MB, .shared_bytes = 10 * MB, .pss_bytes = 5 * MB, .read_ns = 2},
        {.inode = 7,
            .end = 40 * MB,
            .private_bytes = 10 * MB,
            .pss_bytes = 10 * MB,
            .owner = 1,
            .read_ns = 1},
    };
    assert_int_equal(shared_ranges_total(ranges, COUNT(ranges)).at_least_bytes, 10 * MB);
}

TEST(shares_of_different_moments_do_not_add_up_in_the_lower_bound)
{
    struct shared_range ranges[3];
    for (uint32_t i = 0; i < 3; i++)
        ranges[i] = (struct shared_range){.inode = 7,
            .end = 40 * MB,
            .shared_bytes = 6 * MB,
            .pss_bytes = i < 2 ? 3 * MB : 2 * MB,
            .owner = i,
            .read_ns = i / 2};
    assert_int_equal(shared_ranges_total(ranges, 3).at_least_bytes, 6 * MB);
}

TEST(readings_of_one_moment_are_a_lower_bound)
{
    struct shared_range ranges[5];
    for (uint32_t i = 0; i < 3; i++)
        ranges[i] = (struct shared_range){.inode = 7,
            .end = 200 * MB,
            .private_bytes = 10 * MB,
            .shared_bytes = 60 * MB,
            .pss_bytes = 40 * MB,
            .owner = i,
            .read_ns = 5};
    /* Two that were read before have 20 MB private: as much of the shared bytes may be the same. */
    for (uint32_t i = 3; i < 5; i++)
        ranges[i] = (struct shared_range){.inode = 7,
            .end = 200 * MB,
            .private_bytes = 10 * MB,
            .pss_bytes = 10 * MB,
            .owner = i,
            .read_ns = 4};
    assert_int_equal(shared_ranges_total(ranges, 3).at_least_bytes, 120 * MB);
    assert_int_equal(shared_ranges_total(ranges, 5).at_least_bytes, 120 * MB);
    assert_int_equal(shared_ranges_total(ranges, 5).combined_bytes, 140 * MB);
}

/* The first one had 90 MB alone. Then another came, which shares 60 MB with somebody. */
TEST(what_a_stale_reading_calls_private_does_not_count_next_to_what_others_share)
{
    struct shared_range ranges[] = {
        {.inode = 7, .end = 200 * MB, .private_bytes = 90 * MB, .pss_bytes = 90 * MB, .read_ns = 4},
        {.inode = 7,
            .end = 200 * MB,
            .shared_bytes = 60 * MB,
            .pss_bytes = 30 * MB,
            .owner = 1,
            .read_ns = 5},
    };
    assert_int_equal(shared_ranges_total(ranges, 2).combined_bytes, 150 * MB);
    ranges[0].is_stale = true;
    assert_int_equal(shared_ranges_total(ranges, 2).combined_bytes, 90 * MB);
}

RUN_TESTS(NULL, NULL)
