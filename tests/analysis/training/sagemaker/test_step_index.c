#include <gputracker/profile.h>

#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRAIN "Step:ModeKeys.TRAIN"
#define EVAL "Step:ModeKeys.EVAL"
#define MAX_RANKS 1000

static struct gput_profile_event event(
    const char *metric, const char *node, int64_t step, int64_t start_us, int64_t end_us)
{
    return (struct gput_profile_event){start_us, end_us, step, metric, "process", node};
}

static void assert_steps(
    const struct gput_profile_event *events, size_t count, const int64_t *expected)
{
    const struct gput_profile_rows rows = {.events = events, .n_events = count};
    int64_t *steps = calloc(count, sizeof *steps);
    assert_int_equal(gput_profile_assign_steps(&rows, steps, NULL), GPUT_OK);
    for (size_t i = 0; i < count; i++)
        if (steps[i] != expected[i])
            fail_msg("event %zu is of step %lld, not %lld", i, (long long)steps[i],
                (long long)expected[i]);
    free(steps);
}

TEST(finds_the_step_of_a_node_among_those_of_a_thousand)
{
    static struct gput_profile_event events[2 * MAX_RANKS];
    static char nodes[MAX_RANKS][16];
    static int64_t expected[2 * MAX_RANKS];
    for (int rank = 0; rank < MAX_RANKS; rank++) {
        snprintf(nodes[rank], sizeof nodes[rank], "%d-host", rank);
        events[2 * rank] = event(TRAIN, nodes[rank], rank, 100 + rank, 100000 + rank);
        events[2 * rank + 1] = event("op", nodes[rank], -1, 50000, 50010);
        expected[2 * rank] = expected[2 * rank + 1] = rank;
    }
    assert_steps(events, 2 * MAX_RANKS, expected);
}

TEST(an_event_is_of_a_step_of_its_own_node)
{
    const struct gput_profile_event events[] = {
        event(TRAIN, "a", 1, 1000, 2000),
        event(TRAIN, "b", 2, 1500, 2500),
        event("before the step of b", "b", -1, 1100, 1200),
        event("of b", "b", -1, 1600, 1700),
        event("of a node without steps", "host", -1, 1100, 1200),
        event("of the latest", "host", -1, 1600, 1700),
        event("of none", "host", -1, 2600, 2700),
    };
    const int64_t expected[] = {1, 2, -1, 2, 1, 2, -1};
    assert_steps(events, sizeof events / sizeof *events, expected);
}

/* How long the steps of the metric "op" take: the mean, and how many there are is in the rest.
 */
static void assert_spans_of_op(
    const struct gput_profile_event *events, size_t count, double mean_us, double max_us)
{
    const struct gput_profile_rows rows = {.events = events, .n_events = count};
    struct gput_profile_options options = gput_profile_options_default();
    options.rows = &rows;
    options.by = GPUT_PROFILE_BY_FRAMEWORK_METRIC;
    struct gput_tables *tables;
    assert_int_equal(gput_profile_tables(GPUT_PROFILE_STEPS, &options, &tables, NULL), GPUT_OK);
    const struct gput_table *table = gput_tables_get(tables, 0);
    size_t row = 0;
    while (strcmp(gput_table_text(table, row, 0), "op") != 0)
        row++;
    assert_true(fabs(gput_table_double(table, row, 1) - mean_us) < 1e-9);
    assert_true(fabs(gput_table_double(table, row, 3) - max_us) < 1e-9);
    gput_tables_destroy(tables);
}

/* What the analysis in Python does: it writes the steps into its frame, and reads them again. */
TEST(events_that_name_the_step_found_for_them_are_of_it_again)
{
    struct gput_profile_event events[] = {
        event(TRAIN, "a", 1, 1000, 9000),
        event(EVAL, "a", 1, 2000, 3000), /* inside of the one of training */
        event("op", "a", -1, 1100, 1200), event("op", "a", -1, 2100, 2200),
        event("op", "a", -1, 2700, 2800), event("op", "a", -1, 5000, 5100),
        event(EVAL, "b", 1, 5000, 6000), event("op", "b", -1, 4900, 5100), /* of no step */
        event("op", "b", -1, 5500, 5600),
        event("op", "host", -1, 1500, 1600), /* its node has no steps */
    };
    const size_t count = sizeof events / sizeof *events;
    int64_t steps[sizeof events / sizeof *events];
    const struct gput_profile_rows rows = {.events = events, .n_events = count};
    /* TRAIN: 1100 to 5100. EVAL: 2100 to 5600. */
    assert_spans_of_op(events, count, (4000 + 3500) / 2.0, 4000);
    assert_int_equal(gput_profile_assign_steps(&rows, steps, NULL), GPUT_OK);
    for (size_t i = 0; i < count; i++)
        events[i].step = steps[i];
    assert_spans_of_op(events, count, (4000 + 3500) / 2.0, 4000);
}

RUN_TESTS(NULL, NULL)
