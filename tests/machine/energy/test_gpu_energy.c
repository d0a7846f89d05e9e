#include "machine/energy/gpu_energy.h"

#include "base/clock.h"
#include "testing.h"

#include <math.h>
#include <stdlib.h>

#define WATTS 100.0

static const int64_t start_ns = 7 * NS_PER_SECOND;

static int64_t ns_of(double seconds)
{
    return start_ns + (int64_t)(seconds * (double)NS_PER_SECOND);
}

static void assert_near(double actual, double expected)
{
    if (!(fabs(actual - expected) <= 1e-6 * fabs(expected) + 1e-9))
        fail_msg("%.9f is not %.9f", actual, expected);
}

/* A driver's reading at a moment. */
static struct gpu_energy_reading say(double seconds, double watts, double joules)
{
    return (struct gpu_energy_reading){
        .read_ns = ns_of(seconds), .power_watts = watts, .energy_joules = joules};
}

/* ---- a GPU that always draws the same ---- */

enum witness { POWER, COUNTER, BOTH };

static struct gpu_energy_reading constant(double seconds, enum witness witness)
{
    return say(
        seconds, witness == COUNTER ? NAN : WATTS, witness == POWER ? NAN : 5000 + WATTS * seconds);
}

static double random_up_to(double max)
{
    return max * rand() / RAND_MAX;
}

/* Ticks come late, drivers answer late, and their answers are those of this tick or of the one
 * before. */
static void run_session(double seconds, double interval, enum witness witness, bool waits)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    struct gpu_energy_reading answer = constant(-random_up_to(0.3), witness);
    double joules = 0;
    for (double due = 0; due < seconds; due += interval) {
        double at = due + random_up_to(0.2 * interval);
        if (at > seconds)
            break;
        struct gpu_energy_reading next = constant(at + random_up_to(0.04), witness);
        if (waits && due > 0)
            answer = next;
        double added = gpu_energy_advance(&gpu, &answer, ns_of(at));
        assert_false(added < 0);
        joules += isnan(added) ? 0 : added;
        if (!isnan(added) && at > 0.1 && fabs(joules - WATTS * at) > 0.02 * WATTS * at)
            fail_msg("%.3f J after %.3f s", joules, at);
        answer = next;
    }
    answer = constant(seconds + random_up_to(0.04), witness);
    joules += gpu_energy_advance(&gpu, &answer, ns_of(seconds));
    assert_true(fabs(joules - WATTS * seconds) <= 0.02 * WATTS * seconds);
    assert_near(gpu.joules, joules);
    char text[160];
    assert_false(gpu_energy_explain(&gpu, 0, text, sizeof text));
}

TEST(constant_power_gives_power_times_time)
{
    srand(1);
    for (int i = 0; i < 3000; i++) {
        double seconds = 0.3 + random_up_to(5.7);
        double interval = 0.1 + random_up_to(1);
        run_session(seconds, interval, (enum witness)(i % 3), i % 2);
    }
}

/* ---- */

TEST(what_was_used_before_the_start_does_not_count)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    struct gpu_energy_reading reading = say(-1, NAN, 1000);
    assert_true(isnan(gpu_energy_advance(&gpu, &reading, ns_of(0))));
    reading = say(1, NAN, 1200);
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(1)), 100);
}

TEST(power_shortly_before_the_first_reading_counts)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    struct gpu_energy_reading reading = say(0.1, 100, NAN);
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(0.05)), 5);
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(0.1)), 5);
    reading = say(1.1, 200, NAN);
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(1.1)), 150);
    assert_near(gpu_energy_unknown_seconds(&gpu), 0);
}

TEST(power_is_extrapolated_until_the_next_reading)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    struct gpu_energy_reading reading = say(0, 100, 1000);
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(0)), 0);
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(1)), 100);
    reading = say(1.5, 100, 1110);
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(1.75)), 35);
    reading = say(2, 0, 1120); /* less than it was already said to have used */
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(2)), 0);
    reading = say(3, 0, 1140);
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(3)), 5);
    assert_near(gpu.joules, 140);

    char text[160];
    assert_false(gpu_energy_explain(&gpu, 0, text, sizeof text));
    gpu_energy_advance(&gpu, &reading, ns_of(6));
    assert_true(gpu_energy_explain(&gpu, 3, text, sizeof text));
    assert_string_equal(
        text, "GPU 3 did not answer in the last 3.0 s: its last power reading is assumed");
}

TEST(what_was_extrapolated_in_excess_is_taken_back_at_the_end)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    struct gpu_energy_reading reading = say(0, 300, 1000);
    gpu_energy_advance(&gpu, &reading, ns_of(0));
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(1)), 300);
    assert_near(gpu_energy_take_back(&gpu), 0); /* no later reading says that it is too much */
    reading = say(2, 60, 1120);
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(2)), 0);
    assert_near(gpu.joules, 300);
    assert_near(gpu_energy_take_back(&gpu), 180);
    assert_near(gpu.joules, 120);
    assert_near(gpu_energy_take_back(&gpu), 0);
}

static void explained(const struct gpu_energy *gpu, const char *expected)
{
    char text[160];
    assert_true(gpu_energy_explain(gpu, 0, text, sizeof text));
    assert_string_equal(text, expected);
}

/* Ten seconds of 100 W; from `lost` on the driver gives something else. */
static void lose(
    struct gpu_energy *gpu, double power_before, double counter_before, double lost, double power)
{
    gpu_energy_init(gpu, start_ns);
    for (int second = 0; second <= 10; second++) {
        bool is_lost = second > lost;
        struct gpu_energy_reading reading = say(second, is_lost ? power : power_before,
            is_lost ? NAN : counter_before + WATTS * second);
        double added = gpu_energy_advance(gpu, &reading, ns_of(second));
        assert_true(second == 0 || isnan(added) == (is_lost && isnan(power)));
    }
}

TEST(joules_that_stopped_are_missing_from_then_on)
{
    struct gpu_energy gpu;
    lose(&gpu, NAN, 1000, 3, NAN);
    assert_true(gpu.is_lost);
    assert_near(gpu.joules, 300);
    explained(
        &gpu, "the counter of GPU 0 could no longer be read; the energy it missed is not known");

    lose(&gpu, 100, 1000, 3, 100);
    assert_false(gpu.is_lost);
    assert_near(gpu.joules, 1000);
    explained(
        &gpu, "the counter of GPU 0 could no longer be read; its power was integrated instead");

    lose(&gpu, 100, NAN, 3, NAN);
    assert_true(gpu.is_lost);
    explained(&gpu, "GPU 0 reported nothing for 7.0 s, which are missing");
}

/* Neither is given from 2 to 3.5 s, while power replaces the counter. */
TEST(missing_power_is_reported)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    for (int tenth = 0; tenth <= 50; tenth++) {
        double seconds = 0.1 * tenth;
        bool is_reported = tenth < 20 || tenth >= 35;
        struct gpu_energy_reading reading =
            say(seconds, is_reported ? WATTS : NAN, is_reported ? 1000 + WATTS * seconds : NAN);
        gpu_energy_advance(&gpu, &reading, ns_of(seconds));
    }
    assert_near(gpu.joules, 350);
    explained(&gpu,
        "the counter of GPU 0 could no longer be read; its power was integrated instead, and "
        "nothing was reported for 1.5 s, which are missing");
}

TEST(a_driver_that_hangs_is_lost_until_it_answers)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    struct gpu_energy_reading reading = say(0, NAN, 0), nothing = {0, NAN, NAN, 0};
    gpu_energy_advance(&gpu, &reading, ns_of(0));
    reading = say(1, NAN, 100);
    gpu_energy_advance(&gpu, &reading, ns_of(1));
    assert_true(isnan(gpu_energy_advance(&gpu, &nothing, ns_of(15))));
    assert_true(gpu.is_lost);
    explained(&gpu, "GPU 0 did not answer in the last 14.0 s, which are missing");
    reading = say(20, NAN, 2000); /* the counter continued */
    assert_near(gpu_energy_advance(&gpu, &reading, ns_of(20)), 1900);
    assert_false(gpu.is_lost);
}

TEST(a_driver_that_never_answers_is_missing_all_the_time)
{
    struct gpu_energy gpu;
    struct gpu_energy_reading nothing = {0, NAN, NAN, 0};
    char text[160];
    gpu_energy_init(&gpu, start_ns);
    assert_true(gpu_energy_unknown_seconds(&gpu) == 0); /* there may be no such GPU */
    assert_false(gpu_energy_explain(&gpu, 0, text, sizeof text));
    assert_true(isnan(gpu_energy_advance(&gpu, &nothing, ns_of(0))));
    assert_true(isnan(gpu_energy_advance(&gpu, &nothing, ns_of(3))));
    assert_near(gpu_energy_unknown_seconds(&gpu), 3);
    assert_false(gpu.is_lost);
    explained(&gpu, "no counter gives the joules of GPU 0, which is skipped");
}

TEST(a_counter_that_has_not_changed_yet_is_no_figure)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    for (int i = 0; i <= 10; i++) {
        struct gpu_energy_reading reading = say(0.1 * i, NAN, 1000);
        assert_true(isnan(gpu_energy_advance(&gpu, &reading, ns_of(0.1 * i))));
    }
    assert_false(gpu.is_lost);
    explained(&gpu, "the counter of GPU 0 has not advanced yet");
}

/* The power stands in for it, and the figure is not the counter's. */
TEST(joules_before_a_counters_first_change_are_integrated_power)
{
    struct gpu_energy gpu;
    char text[160];
    gpu_energy_init(&gpu, start_ns);
    for (int tenth = 0; tenth <= 10; tenth++) {
        struct gpu_energy_reading reading = say(0.1 * tenth, WATTS, 1000);
        gpu_energy_advance(&gpu, &reading, ns_of(0.1 * tenth));
    }
    assert_near(gpu.joules, WATTS);
    explained(&gpu, "the counter of GPU 0 has not advanced yet; its power was integrated instead");
    struct gpu_energy_reading reading = say(1.1, WATTS, 1000 + 1.1 * WATTS);
    gpu_energy_advance(&gpu, &reading, ns_of(1.1));
    assert_near(gpu.joules, 1.1 * WATTS);
    assert_false(gpu_energy_explain(&gpu, 0, text, sizeof text));
    reading.read_ns = ns_of(1.2);
    gpu_energy_advance(&gpu, &reading, ns_of(1.2));
    explained(
        &gpu, "the counter of GPU 0 had not advanced at the end: 10.0 J are its power, integrated");
}

TEST(a_gpu_that_appears_late_is_reported)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    struct gpu_energy_reading reading = say(4, 100, NAN);
    gpu_energy_advance(&gpu, &reading, ns_of(4));
    reading = say(5, 100, NAN);
    gpu_energy_advance(&gpu, &reading, ns_of(5));
    assert_near(gpu.joules, 100);
    explained(&gpu, "GPU 0 reported nothing for 4.0 s, which are missing");
}

/* It answers, but gives neither energy nor power for the first two of five seconds. */
static void run_reported_late(struct gpu_energy *gpu, double watts)
{
    gpu_energy_init(gpu, start_ns);
    for (int tenth = 0; tenth <= 50; tenth++) {
        double seconds = 0.1 * tenth;
        struct gpu_energy_reading reading =
            tenth < 20 ? say(seconds, NAN, NAN) : say(seconds, watts, 1000 + WATTS * seconds);
        gpu_energy_advance(gpu, &reading, ns_of(seconds));
    }
}

TEST(a_gpu_that_gives_joules_late_is_reported)
{
    struct gpu_energy gpu;
    run_reported_late(&gpu, NAN);
    assert_near(gpu.joules, 300);
    assert_near(gpu_energy_unknown_seconds(&gpu), 2);
    explained(&gpu, "GPU 0 reported nothing for 2.0 s, which are missing");
    run_reported_late(&gpu, WATTS);
    assert_near(gpu.joules, 310); /* its first power is that of the tenth before, too */
    assert_near(gpu_energy_unknown_seconds(&gpu), 1.9);
}

/* Its whole increase comes with its first change: nothing is missing. */
TEST(a_counter_that_changes_late_misses_nothing)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    for (int tenth = 0; tenth <= 20; tenth++) {
        struct gpu_energy_reading reading = say(0.1 * tenth, NAN, tenth < 15 ? 1000 : 1150);
        gpu_energy_advance(&gpu, &reading, ns_of(0.1 * tenth));
    }
    assert_near(gpu.joules, 150);
    assert_near(gpu_energy_unknown_seconds(&gpu), 0);
}

/* A counter that costs much is read now and then: power stands in, and the counter corrects it. */
TEST(a_counter_that_is_read_at_times_corrects_the_power)
{
    struct gpu_energy gpu;
    gpu_energy_init(&gpu, start_ns);
    for (int tenth = 0; tenth <= 20; tenth++) {
        int read_at = tenth / 5 * 5; /* every half second */
        struct gpu_energy_reading reading = say(0.1 * tenth, 80, 1000 + 100 * 0.1 * read_at);
        reading.energy_ns = ns_of(0.1 * read_at);
        gpu_energy_advance(&gpu, &reading, ns_of(0.1 * tenth));
        assert_near(gpu.joules, 100 * 0.1 * read_at + 80 * 0.1 * (tenth - read_at));
    }
    char text[256];
    assert_false(gpu_energy_explain(&gpu, 0, text, sizeof text));
}

RUN_TESTS(NULL, NULL)
