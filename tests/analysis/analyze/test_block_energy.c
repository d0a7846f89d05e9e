#include "analysis/analyze/block_energy.h"

#include "testing.h"

#include <math.h>

#define FIGURES GPUT_ENERGY_FIGURE_COUNT

/* A curve of the total, and of the GPUs, 0 J from some moment on. */
struct curve {
    const double (*points)[2];
    size_t count, next;
    double gpu_since;
};

static int next_point(
    void *user, double *time, double joules[FIGURES], bool *end, struct gput_error *error)
{
    struct curve *curve = user;
    (void)error;
    *end = curve->next == curve->count;
    if (*end)
        return GPUT_OK;
    for (int i = 0; i < FIGURES; i++)
        joules[i] = NAN;
    *time = curve->points[curve->next][0];
    joules[GPUT_ENERGY_GPU] = *time < curve->gpu_since ? NAN : 0;
    joules[GPUT_ENERGY_TOTAL] = curve->points[curve->next++][1];
    return GPUT_OK;
}

#define MAX_TARGETS 4

static struct session_energy session;
static double targets[MAX_TARGETS][FIGURES];
static double gpu_since = INFINITY;

static void compute(const double (*points)[2], size_t n_points, const struct call *calls,
    size_t n_calls, const struct sweep_lane *lanes)
{
    struct curve curve = {points, n_points, 0, gpu_since};
    const struct energy_points source = {next_point, &curve};
    const struct sweep_input input = {calls, n_calls, lanes, MAX_TARGETS};
    assert_int_equal(block_energy_compute(&input, &source, &session, targets, NULL), GPUT_OK);
}

static void assert_total(size_t target, double joules)
{
    double total = targets[target][GPUT_ENERGY_TOTAL];
    if (!(fabs(total - joules) <= 1e-9 * (1 + joules)))
        fail_msg("target %zu has %.12f J, not %.12f", target, total, joules);
}

/* 10 W, then 100 W, then 0 W. */
static const double steps[][2] = {{0, NAN}, {1, 10}, {2, 110}, {4, 110}};

static const struct sweep_lane plain[] = {
    {0, SWEEP_NO_PART}, {1, SWEEP_NO_PART}, {2, SWEEP_NO_PART}, {3, SWEEP_NO_PART}};

TEST(cuts_intervals_out_of_the_curve)
{
    const struct call calls[] = {{0, 1, 0}, {0.5, 1.5, 1}, {1.25, 1.75, 2}, {2.5, 3, 3}};
    compute(steps, 4, calls, 4, plain);
    assert_true(session.joules[GPUT_ENERGY_TOTAL] == 110);
    assert_true(isnan(session.joules[GPUT_ENERGY_PACKAGE]));
    assert_total(0, 10);
    assert_total(1, 5 + 50);
    assert_total(2, 50);
    assert_total(3, 0);
    assert_true(isnan(targets[0][GPUT_ENERGY_PACKAGE]));
}

/* The first answer may come after a row or two, and covers all since the start. */
TEST(what_is_not_known_yet_is_none_so_far)
{
    static const double start[][2] = {{0, NAN}, {0.1, NAN}, {0.25, 2.5}, {1.25, 12.5}};
    const struct call calls[] = {{0.02, 0.1, 0}, {0.05, 0.75, 1}, {0.15, 0.25, 2}};
    compute(start, 4, calls, 3, plain);
    assert_true(session.joules[GPUT_ENERGY_TOTAL] == 12.5);
    assert_true(session.unknown_seconds[GPUT_ENERGY_TOTAL] == 0);
    assert_true(isnan(targets[0][GPUT_ENERGY_TOTAL])); /* 0 J would be silent */
    assert_total(1, 2.5 + 5);
    assert_true(targets[2][GPUT_ENERGY_TOTAL] > 0);
    assert_true(isnan(targets[1][GPUT_ENERGY_PACKAGE]));
}

/* Rows after the first are as far apart as samples are. */
TEST(a_figure_of_the_second_row_is_no_late_one)
{
    static const double seconds[] = {0.005, 0.1, 1, 4};
    for (size_t i = 0; i < 4; i++) {
        double s = seconds[i];
        const double points[][2] = {{0, NAN}, {s, 10 * s}, {2 * s, 20 * s}};
        const struct call calls[] = {{0.25 * s, 0.75 * s, 0}, {0.5 * s, 2 * s, 1}};
        compute(points, 3, calls, 2, plain);
        assert_true(session.joules[GPUT_ENERGY_TOTAL] == 20 * s);
        assert_total(0, 5 * s);
        assert_total(1, 15 * s);
    }
}

TEST(a_moment_in_several_calls_counts_once)
{
    const struct sweep_lane lanes[] = {{0, 1}, {0, 2}};
    const struct call calls[] = {{1, 1.5, 0}, {1.25, 1.75, 1}, {1.75, 2, 0}};
    compute(steps, 4, calls, 3, lanes);
    assert_total(0, 100);
    assert_total(1, 50 + 25);
    assert_total(2, 50);
    assert_true(isnan(targets[3][GPUT_ENERGY_TOTAL])); /* never called */
}

TEST(what_lies_outside_of_the_curve_is_unknown)
{
    const struct call calls[] = {{-3, -2, 0}, {-1, 1, 1}, {1.5, 9, 2}, {7, 8, 3}};
    compute(steps, 4, calls, 4, plain);
    assert_true(isnan(targets[0][GPUT_ENERGY_TOTAL]));
    assert_total(1, 10);
    assert_total(2, 50);
    assert_true(isnan(targets[3][GPUT_ENERGY_TOTAL]));
}

TEST(what_a_figure_was_before_its_loss_stays)
{
    static const double lost[][2] = {{0, 0}, {1, 10}, {2, NAN}, {3, NAN}, {4, 30}, {5, 40}};
    const struct call calls[] = {{0, 0.5, 0}, {0.5, 2.5, 1}, {1.5, 2.5, 2}, {4.25, 4.75, 3}};
    compute(lost, 4, calls, 4, plain);
    assert_true(isnan(session.joules[GPUT_ENERGY_TOTAL]));
    assert_true(session.seconds == 3 && session.unknown_seconds[GPUT_ENERGY_TOTAL] == 2);
    assert_true(session.unknown_seconds[GPUT_ENERGY_PACKAGE] == 3);
    assert_total(0, 5);
    for (size_t target = 1; target < 4; target++)
        assert_true(isnan(targets[target][GPUT_ENERGY_TOTAL]));
    /* It may be back. */
    compute(lost, 6, calls, 4, plain);
    assert_true(isnan(session.joules[GPUT_ENERGY_TOTAL]));
    assert_total(0, 5);
    assert_true(isnan(targets[1][GPUT_ENERGY_TOTAL]));
    assert_total(3, 5);
}

/* What the figure moved by in the gap may come at its end, or never. */
TEST(a_call_across_a_gap_is_unknown)
{
    static const double gap[][2] = {{0, 0}, {1, 10}, {2, NAN}, {3, 20}, {4, 30}, {5, 40}};
    const struct call calls[] = {{0, 1, 0}, {0.5, 3.5, 1}, {3, 4, 2}, {4, 5, 1}};
    compute(gap, 6, calls, 4, plain);
    assert_true(session.unknown_seconds[GPUT_ENERGY_TOTAL] == 1);
    assert_total(0, 10);
    assert_true(isnan(targets[1][GPUT_ENERGY_TOTAL])); /* also with a call that is known */
    assert_total(2, 10);
}

TEST(a_short_gap_leaves_the_joules_of_the_session)
{
    static const double gap[][2] = {{0, 0}, {1, 10}, {2, NAN}, {3, 30}, {50, 500}};
    static const double end[][2] = {{0, 0}, {1, 10}, {49, 490}, {50, NAN}};
    compute(gap, 5, NULL, 0, plain);
    assert_true(session.joules[GPUT_ENERGY_TOTAL] == 500);
    compute(end, 4, NULL, 0, plain);
    assert_true(session.joules[GPUT_ENERGY_TOTAL] == 490);
}

/* The total does not show that the GPUs are missing from it at first. */
TEST(a_figure_that_comes_late_is_no_part_of_a_whole)
{
    static const double total[][2] = {{0, 0}, {0.5, 5}, {1, 10}, {2, 20}, {3, 30}, {4, 40}};
    const struct call calls[] = {{0, 0.5, 0}, {0.75, 4, 1}, {3, 4, 0}, {3, 4, 2}};
    gpu_since = 2;
    compute(total, 6, calls, 4, plain);
    gpu_since = INFINITY;
    assert_true(isnan(session.joules[GPUT_ENERGY_GPU]));
    assert_true(isnan(session.joules[GPUT_ENERGY_TOTAL]));
    assert_true(session.unknown_seconds[GPUT_ENERGY_TOTAL] == 1);
    for (size_t target = 0; target < 2; target++) {
        assert_true(isnan(targets[target][GPUT_ENERGY_GPU]));
        assert_true(isnan(targets[target][GPUT_ENERGY_TOTAL]));
    }
    assert_total(2, 10);
    assert_true(targets[2][GPUT_ENERGY_GPU] == 0);
}

/* Its total would be without the GPUs, though little later they are known. */
TEST(what_ended_before_a_part_was_known_is_unknown)
{
    static const double total[][2] = {{0, 0}, {0.1, 1}, {0.2, 2}, {1, 10}};
    const struct call calls[] = {{0.02, 0.08, 0}, {0.05, 1, 1}, {0.5, 1, 0}};
    gpu_since = 0.2;
    compute(total, 4, calls, 3, plain);
    gpu_since = INFINITY;
    assert_true(session.joules[GPUT_ENERGY_GPU] == 0);
    assert_true(session.joules[GPUT_ENERGY_TOTAL] == 10);
    assert_true(isnan(targets[0][GPUT_ENERGY_GPU]) && isnan(targets[0][GPUT_ENERGY_TOTAL]));
    assert_total(1, 9.5);
    assert_true(targets[1][GPUT_ENERGY_GPU] == 0);
}

TEST(what_was_used_before_the_first_point_counts_too)
{
    static const double late[][2] = {{1, 5}, {2, 15}};
    const struct call calls[] = {{0, 2, 0}};
    compute(late, 2, calls, 1, plain);
    assert_true(session.joules[GPUT_ENERGY_TOTAL] == 15);
    assert_total(0, 10); /* no time is known */
}

TEST(an_empty_curve_is_no_error)
{
    const struct call calls[] = {{0, 1, 0}};
    compute(steps, 0, calls, 1, plain);
    assert_true(isnan(targets[0][GPUT_ENERGY_TOTAL]));
}

TEST(points_that_go_back_in_time_are_skipped)
{
    static const double astray[][2] = {{0, 0}, {1, 10}, {0.5, 20}, {2, 30}};
    const struct call calls[] = {{0, 2, 0}, {1, 1.5, 1}};
    compute(astray, 4, calls, 2, plain);
    assert_total(0, 30);
    assert_total(1, 10);
}

RUN_TESTS(NULL, NULL)
