#include "analysis/analyze/call_segments.h"

#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS 7
#define CALLS 60
#define SEGMENTS 400

/* What a walk passed: each segment's blocks, as bits. */
struct found {
    double starts[SEGMENTS];
    unsigned blocks[SEGMENTS];
    unsigned of_leaf[SEGMENTS];
    size_t count, leaves;
};

static int keep(void *user, double start, uint32_t leaf, const uint32_t *blocks, size_t n_blocks,
    struct gput_error *error)
{
    struct found *found = user;
    (void)error;
    assert_true(found->count < SEGMENTS && leaf <= found->leaves);
    assert_true((leaf == found->leaves) == (blocks != NULL));
    if (blocks) {
        found->of_leaf[leaf] = 0;
        for (size_t i = 0; i < n_blocks; i++)
            found->of_leaf[leaf] |= 1u << blocks[i];
        found->leaves++;
    }
    assert_true(found->count == 0 || start > found->starts[found->count - 1]);
    found->starts[found->count] = start;
    found->blocks[found->count++] = found->of_leaf[leaf];
    return GPUT_OK;
}

static unsigned blocks_at(const struct found *found, double time)
{
    size_t i = found->count;
    while (found->starts[i - 1] > time)
        i--;
    return found->blocks[i - 1];
}

/* By the definition of the analysis. */
static unsigned blocks_of_calls(const struct call_table *table, double time)
{
    unsigned blocks = 0;
    double at = time - table->origin;
    for (size_t i = 0; i < table->n_calls; i++)
        if (table->calls[i].start <= at && at <= table->calls[i].stop)
            blocks |= 1u << table->lanes[table->calls[i].lane].block;
    return blocks;
}

static int by_start(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

/* Calls of a grid, so that many start and stop at once, in steps that no double of the epoch has.
 */
static void check_random(unsigned seed, double origin, double step)
{
    struct call calls[CALLS];
    struct call_lane lanes[2 * BLOCKS] = {{0}};
    struct found found = {.count = 0};
    srand(seed);
    for (size_t i = 0; i < 2 * BLOCKS; i++)
        lanes[i].block = (uint32_t)(i % BLOCKS);
    for (size_t i = 0; i < CALLS; i++) {
        double start = rand() % 40, length = rand() % 3 ? rand() % 4 : rand() % 30;
        calls[i] =
            (struct call){start * step, (start + length) * step, (uint32_t)rand() % (2 * BLOCKS)};
    }
    qsort(calls, CALLS, sizeof *calls, by_start);
    struct call_table table = {.origin = origin,
        .calls = calls,
        .n_calls = CALLS,
        .lanes = lanes,
        .n_lanes = 2 * BLOCKS,
        .n_blocks = BLOCKS};
    assert_int_equal(call_segments_walk(&table, keep, &found, NULL), GPUT_OK);
    assert_true(isinf(found.starts[0]) && found.blocks[0] == 0);
    for (int i = -4; i < 80 * 4; i++) {
        double time = origin + i * step / 4;
        for (int side = -1; side <= 1; side++) {
            double near = side ? nextafter(time, side * INFINITY) : time;
            assert_int_equal(blocks_at(&found, near), blocks_of_calls(&table, near));
        }
    }
}

TEST(a_sample_is_in_the_blocks_of_its_segment)
{
    for (unsigned seed = 1; seed <= 30; seed++) {
        check_random(seed, 1.7e9, 1e-7 / 3);
        check_random(seed, 1.7e9, 0.25);
        check_random(seed, 0, 0.1);
    }
}

TEST(without_calls_there_is_one_segment)
{
    struct call_table table = {.n_calls = 0};
    struct found found = {.count = 0};
    assert_int_equal(call_segments_walk(&table, keep, &found, NULL), GPUT_OK);
    assert_int_equal(found.count, 1);
    assert_true(isinf(found.starts[0]));
}

static int refuse(void *user, double start, uint32_t leaf, const uint32_t *blocks, size_t n_blocks,
    struct gput_error *error)
{
    (void)start, (void)leaf, (void)blocks, (void)n_blocks, (void)error;
    return ++*(int *)user == 2 ? GPUT_ERROR_STATE : GPUT_OK;
}

TEST(the_caller_can_end_the_walk)
{
    struct call call = {1, 2, 0};
    struct call_lane lane = {.block = 0};
    struct call_table table = {
        .calls = &call, .n_calls = 1, .lanes = &lane, .n_lanes = 1, .n_blocks = 1};
    int passed = 0;
    assert_int_equal(call_segments_walk(&table, refuse, &passed, NULL), GPUT_ERROR_STATE);
    assert_int_equal(passed, 2);
}

RUN_TESTS(NULL, NULL)
