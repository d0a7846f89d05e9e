#include "analysis/analyze/sweep.h"
#include "testing.h"

#include <math.h>
#include <string.h>

#define MAX_CALLS 64
#define MAX_ROWS 200
#define N_BLOCKS 3

/* A small machine for numbers that look random and are the same everywhere. */
static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

struct scene {
    struct call calls[MAX_CALLS];
    size_t n_calls;
    struct sweep_lane lanes[N_BLOCKS];
    double times[MAX_ROWS];
    size_t n_rows;
};

static int by_start(const void *left, const void *right)
{
    double a = ((const struct call *)left)->start, b = ((const struct call *)right)->start;
    return (a > b) - (a < b);
}

/* Whole times, so that rows often fall on starts and stops. */
static void make_scene(struct scene *scene, uint32_t seed)
{
    scene->n_calls = next_random(&seed) % MAX_CALLS;
    scene->n_rows = next_random(&seed) % MAX_ROWS;
    for (size_t i = 0; i < scene->n_calls; i++) {
        double start = next_random(&seed) % 100;
        scene->calls[i] =
            (struct call){start, start + next_random(&seed) % 12, next_random(&seed) % N_BLOCKS};
    }
    qsort(scene->calls, scene->n_calls, sizeof scene->calls[0], by_start);
    for (uint32_t b = 0; b < N_BLOCKS; b++) /* the last block has parts too */
        scene->lanes[b] = (struct sweep_lane){b, b == 2 ? 3 : SWEEP_NO_PART};
    uint32_t disorder = next_random(&seed) % 4; /* none, some, half, all */
    for (size_t i = 0; i < scene->n_rows; i++) {
        bool astray = disorder == 3 || next_random(&seed) % 20 < disorder * 5;
        scene->times[i] =
            astray ? next_random(&seed) % 110 : floor(110.0 * (double)i / (double)scene->n_rows);
    }
}

static void value_row(double time, double *values)
{
    for (int c = 0; c < ROW_COLUMNS; c++)
        values[c] = time * time + c;
}

static struct sweep *run(const struct scene *scene, bool quantiles)
{
    struct sweep *sweep;
    const struct sweep_input input = {scene->calls, scene->n_calls, scene->lanes, N_BLOCKS + 1};
    assert_int_equal(sweep_create(&input, quantiles, &sweep, NULL), GPUT_OK);
    for (size_t i = 0; i < scene->n_rows; i++) {
        double values[ROW_COLUMNS];
        value_row(scene->times[i], values);
        assert_int_equal(sweep_add_row(sweep, scene->times[i], values, NULL), GPUT_OK);
    }
    assert_int_equal(sweep_end(sweep, NULL), GPUT_OK);
    return sweep;
}

static bool in_call(const struct call *call, double time)
{
    return call->start <= time && time <= call->stop;
}

/* What a block should have, found the slow way. */
static void assert_block(const struct scene *scene, const struct sweep *sweep, uint32_t block)
{
    uint64_t rows = 0, non_empty = 0;
    double sum = 0;
    for (size_t i = 0; i < scene->n_rows; i++) {
        bool inside = false;
        for (size_t k = 0; k < scene->n_calls; k++)
            inside = inside ||
                     (scene->calls[k].lane == block && in_call(&scene->calls[k], scene->times[i]));
        rows += inside;
        sum += inside ? scene->times[i] * scene->times[i] : 0;
    }
    for (size_t k = 0; k < scene->n_calls; k++) {
        bool seen = false;
        for (size_t i = 0; i < scene->n_rows; i++)
            seen = seen || in_call(&scene->calls[k], scene->times[i]);
        non_empty += seen && scene->calls[k].lane == block;
    }
    const struct sweep_target *target = sweep_target(sweep, block);
    assert_int_equal(target->total ? target->total->rows : 0, rows);
    assert_int_equal(target->n_non_empty_calls, non_empty);
    if (rows > 0) {
        double mean = row_total_statistics(target->total, 0, target->total->rows).mean;
        assert_true(fabs(mean - sum / (double)rows) <= 1e-9 * (1 + mean));
    }
}

TEST(figures_equal_those_of_a_simple_computation)
{
    for (uint32_t seed = 1; seed <= 2000; seed++) {
        struct scene scene;
        make_scene(&scene, seed);
        struct sweep *sweep = run(&scene, seed % 10 == 0);
        for (uint32_t block = 0; block < N_BLOCKS; block++)
            assert_block(&scene, sweep, block);
        const struct sweep_target *whole = sweep_target(sweep, 2), *part = sweep_target(sweep, 3);
        assert_int_equal(whole->n_non_empty_calls, part->n_non_empty_calls);
        assert_int_equal(
            whole->total ? whole->total->rows : 0, part->total ? part->total->rows : 0);
        const struct sweep_target *session = sweep_session(sweep);
        assert_int_equal(session->total ? session->total->rows : 0, scene.n_rows);
        sweep_destroy(sweep);
    }
}

TEST(a_row_without_a_time_counts_for_the_session_alone)
{
    const struct call calls[] = {{0, 10, 0}};
    const struct sweep_lane lanes[] = {{0, SWEEP_NO_PART}};
    const double times[] = {1, NAN, 2, NAN};
    struct sweep *sweep;
    double values[ROW_COLUMNS] = {0};
    const struct sweep_input input = {calls, 1, lanes, 1};
    assert_int_equal(sweep_create(&input, false, &sweep, NULL), GPUT_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sweep_add_row(sweep, times[i], values, NULL), GPUT_OK);
    assert_int_equal(sweep_end(sweep, NULL), GPUT_OK);
    assert_int_equal(sweep_session(sweep)->total->rows, 4);
    assert_int_equal(sweep_target(sweep, 0)->total->rows, 2);
    sweep_destroy(sweep);
}

TEST(quantiles_are_those_of_the_rows_in_the_block)
{
    const struct call calls[] = {{100, 200, 0}};
    const struct sweep_lane lanes[] = {{0, SWEEP_NO_PART}};
    struct sweep *sweep;
    const struct sweep_input input = {calls, 1, lanes, 1};
    assert_int_equal(sweep_create(&input, true, &sweep, NULL), GPUT_OK);
    for (int i = 0; i <= 3000; i++) {
        double values[ROW_COLUMNS];
        for (int c = 0; c < ROW_COLUMNS; c++)
            values[c] = i;
        assert_int_equal(sweep_add_row(sweep, i, values, NULL), GPUT_OK);
    }
    assert_int_equal(sweep_end(sweep, NULL), GPUT_OK);
    assert_true(quantile_sketch_get(&sweep_target(sweep, 0)->sketches[20], 0.5) == 150);
    double all = quantile_sketch_get(&sweep_session(sweep)->sketches[20], 0.5);
    assert_true(fabs(all - 1500) <= 0.005 * 1500);
    sweep_destroy(sweep);
}

RUN_TESTS(NULL, NULL)
