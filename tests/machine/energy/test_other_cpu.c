#include "machine/energy/energy_meter.h"

#include "base/clock.h"
#include "testing.h"

#include <math.h>
#include <stdbool.h>

#define TICK_NS (NS_PER_SECOND / 100)
#define TICK_SECONDS 0.01

/*
 * A machine whose clock ticks sample running processes at random, like the kernel's: its busy time
 * is only right in the long run. What we use is known exactly.
 */
struct machine {
    uint64_t chance;                       /* the state of a generator of its own */
    double ours_per_tick, others_per_tick; /* CPU time used of a tick's, 0 to 1 */
    int64_t now_ns;
    double busy_seconds, tracked_seconds, true_seconds; /* the last: of others */
    struct other_cpu others;
};

static bool happens(struct machine *machine, double probability)
{
    machine->chance = machine->chance * 6364136223846793005U + 1442695040888963407U;
    return (double)(machine->chance >> 11) < probability * 9007199254740992.0;
}

static void begin(struct machine *machine, uint64_t seed, double ours_per_tick, double others)
{
    *machine = (struct machine){.chance = seed * 7919 + 1,
        .ours_per_tick = ours_per_tick,
        .others_per_tick = others,
        .now_ns = 77 * NS_PER_SECOND};
    other_cpu_begin(&machine->others, machine->now_ns);
}

/* Lets it run for so many ticks. */
static void run(struct machine *machine, int ticks)
{
    for (int i = 0; i < ticks; i++) {
        machine->busy_seconds += TICK_SECONDS * (happens(machine, machine->ours_per_tick) +
                                                    happens(machine, machine->others_per_tick));
        machine->tracked_seconds += TICK_SECONDS * machine->ours_per_tick;
        machine->true_seconds += TICK_SECONDS * machine->others_per_tick;
        machine->now_ns += TICK_NS;
    }
}

/* The same, with a reading at the end. What the others used in it, as found. */
static double run_interval(struct machine *machine, int ticks)
{
    double before = machine->others.seconds;
    run(machine, ticks);
    other_cpu_read(
        &machine->others, machine->now_ns, machine->busy_seconds, machine->tracked_seconds);
    return machine->others.seconds - before;
}

/* Our share of the joules of a machine of constant power, over sessions of so many intervals. */
static double mean_share(double ours, double others, int ticks, int intervals, uint64_t sessions)
{
    double sum = 0;
    for (uint64_t seed = 0; seed < sessions; seed++) {
        struct machine machine;
        begin(&machine, seed, ours, others);
        for (int i = 0; i < intervals; i++) {
            double used = TICK_SECONDS * ours * ticks;
            sum += used / (used + run_interval(&machine, ticks));
        }
    }
    return sum / (double)intervals / (double)sessions;
}

static void assert_within(double part, double actual, double expected)
{
    if (!(fabs(actual - expected) <= part * expected))
        fail_msg("%.4f is not within %.0f %% of %.4f", actual, 100 * part, expected);
}

/* 2 ms of CPU time a second, next to 40 ms of the others: four ticks a second. */
TEST(shares_do_not_depend_on_the_interval)
{
    const double ours = 0.002, others = 0.04, share = ours / (ours + others);
    assert_within(0.05, mean_share(ours, others, 10, 600, 40), share);
    assert_within(0.05, mean_share(ours, others, 100, 60, 40), share);
    assert_within(0.07, mean_share(ours, others, 400, 15, 40), share);
    /* Half of all; and nearly all, of two cores. */
    assert_within(0.05, mean_share(0.04, 0.04, 10, 600, 40), 0.5);
    assert_within(0.05, mean_share(0.04, 0.04, 100, 60, 40), 0.5);
    assert_within(0.02, mean_share(0.9, 0.1, 10, 600, 20), 0.9);
    assert_within(0.02, mean_share(0.9, 0.1, 100, 60, 20), 0.9);
}

/* One or two ticks are little evidence, but shares are too high as often as too low. */
TEST(shares_of_few_ticks_are_unbiased)
{
    const double ours = 0.002, others = 0.04, share = ours / (ours + others);
    assert_within(0.25, mean_share(ours, others, 10, 3, 1000), share);
    assert_within(0.25, mean_share(ours, others, 30, 1, 1000), share);
    assert_within(0.15, mean_share(ours, others, 10, 30, 1000), share);
}

TEST(others_that_start_and_stop_are_followed)
{
    struct machine machine;
    double used = 0;
    begin(&machine, 3, 0.002, 0.02);
    for (int i = 0; i < 200; i++)
        run_interval(&machine, 10);
    machine.others_per_tick = 1;
    for (int i = 0; i < 10; i++)
        run_interval(&machine, 10);
    for (int i = 0; i < 20; i++) /* a second later theirs is a second of two */
        used += run_interval(&machine, 10);
    assert_within(0.02, used, 2);
    machine.others_per_tick = 0.02;
    for (int i = 0; i < 101; i++)
        run_interval(&machine, 10);
    used = 0;
    for (int i = 0; i < 100; i++)
        used += run_interval(&machine, 10);
    assert_within(0.5, used, 0.2);
    assert_within(0.2, machine.others.seconds, machine.true_seconds + 1); /* the second of delay */
}

/* Our CPU time never counts as that of the others, however it changes. */
TEST(ours_may_start_and_stop)
{
    struct machine machine;
    begin(&machine, 4, 0, 0.1);
    for (int i = 0; i < 600; i++) {
        machine.ours_per_tick = i / 20 % 2;
        run_interval(&machine, 10);
    }
    assert_within(0.1, machine.others.seconds, machine.true_seconds);
}

/* A machine whose power is what its CPUs use, for a minute in which both work 0.3 s of each 0.6 s:
 * our share of its joules. */
static double share_of_bursts(int ticks, int others_begin)
{
    struct machine machine;
    double joules = 0;
    begin(&machine, 6, 0, 0);
    for (int at = 0; at < 6000; at += ticks) {
        double used = machine.tracked_seconds, joules_used = machine.busy_seconds;
        double before = machine.others.seconds;
        for (int i = at; i < at + ticks; i++) {
            machine.ours_per_tick = i % 60 < 30;
            machine.others_per_tick = (i + 60 - others_begin) % 60 < 30;
            run(&machine, 1);
        }
        other_cpu_read(
            &machine.others, machine.now_ns, machine.busy_seconds, machine.tracked_seconds);
        used = machine.tracked_seconds - used;
        joules_used = machine.busy_seconds - joules_used;
        if (used > 0)
            joules += joules_used * used / (used + machine.others.seconds - before);
    }
    return joules / machine.busy_seconds;
}

TEST(processes_in_step_or_alternating_share_equally)
{
    const int ticks[] = {5, 10, 20, 40, 100};
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        assert_within(0.05, share_of_bursts(ticks[i], 0), 0.5);
        assert_within(0.1, share_of_bursts(ticks[i], 30), 0.5);
        assert_within(0.1, share_of_bursts(ticks[i], 15), 0.5);
    }
}

TEST(enough_ticks_are_used_unchanged)
{
    struct other_cpu others;
    other_cpu_begin(&others, NS_PER_SECOND);
    other_cpu_read(&others, 3 * NS_PER_SECOND, 4, 1.5);
    assert_within(1e-9, others.seconds, 2.5);
    other_cpu_read(&others, 5 * NS_PER_SECOND, 5, 1.5);
    assert_within(1e-9, others.seconds, 3.5);
    /* The machine's ticks lag behind our own clocks. */
    other_cpu_read(&others, 7 * NS_PER_SECOND, 9, 6.5);
    assert_within(1e-9, others.seconds, 3.5);
}

/* With shorter intervals than it is designed for, the ring buffer spans less time. */
TEST(any_number_of_readings_works)
{
    struct machine machine;
    begin(&machine, 5, 0, 0.1);
    for (int i = 0; i < 20 * OTHER_CPU_READINGS; i++)
        run_interval(&machine, 1);
    assert_within(0.2, machine.others.seconds, machine.true_seconds);
}

RUN_TESTS(NULL, NULL)
