#include "analysis/analyze/call_table.h"

#include "marks.h"

#include <math.h>

#define MARKS                                                                                      \
    "a 1 0 1;a 1 1 2;a 1 0 9;a 1 1 12;b 1 0 5;b 1 1 6;a 1 0 30;a 1 1 34;a 2 0 1;a 2 1 3;"          \
    "open 1 0 2;open 2 0 2.5;open 3 0 11;open 4 0 40"

/* "name process: start" of each that is left. */
static void list(
    const struct marked_calls *marked, const struct call *calls, size_t count, char text[256])
{
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const struct call_lane *lane = &marked->table.lanes[calls[i].lane];
        size_t used = strlen(text);
        snprintf(text + used, 256 - used, "%s%s %d: %g", i ? ", " : "",
            sub_tracking_names_text(marked->names, lane->name), (int)lane->process_id,
            calls[i].start);
    }
}

static struct call_window_rest assert_left(
    struct call_window window, const char *calls, const char *open)
{
    struct marked_calls marked;
    struct call_window_rest rest;
    char text[256];
    assert_int_equal(pair_marks(&marked, MARKS, false), GPUT_OK);
    assert_int_equal(call_window_apply(&window, &marked.table, &rest, NULL), GPUT_OK);
    list(&marked, marked.table.calls, marked.table.n_calls, text);
    assert_string_equal(text, calls);
    list(&marked, marked.table.open, marked.table.n_open, text);
    assert_string_equal(text, open);
    forget_calls(&marked);
    return rest;
}

TEST(calls_wholly_outside_are_left_out)
{
    struct call_window window = {4, 10, SUB_TRACKING_UNKNOWN};
    struct call_window_rest rest = assert_left(window, "b 1: 5, a 1: 9", "open 1: 2");
    assert_int_equal(rest.before, 3);
    assert_int_equal(rest.after, 3);
    assert_true(rest.farthest == 30);
}

TEST(an_open_call_of_the_tracked_process_may_start_before)
{
    struct call_window window = {4, INFINITY, 2};
    assert_left(
        window, "b 1: 5, a 1: 9, a 1: 30", "open 1: 2, open 2: 2.5, open 3: 11, open 4: 40");
}

TEST(without_a_bound_all_calls_are_inside)
{
    struct call_window window = {-INFINITY, INFINITY, SUB_TRACKING_UNKNOWN};
    struct call_window_rest rest = assert_left(window, "a 2: 1, a 1: 1, b 1: 5, a 1: 9, a 1: 30",
        "open 1: 2, open 2: 2.5, open 3: 11, open 4: 40");
    assert_int_equal(rest.before + rest.after, 0);
}

/* Sums are kept by lane. */
TEST(exact_figures_of_which_some_are_left_out_are_unknown)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct call_window window = {4, 10, SUB_TRACKING_UNKNOWN};
    struct call_window_rest rest;
    struct call_table table;
    call_table_init(&table, names, SUB_TRACKING_COLUMNS_EXACT, false, true);
    for (int i = 0; i < 6; i++) {
        static const double times[] = {1, 2, 5, 6, 1, 3};
        struct sub_tracking_mark row = {.process_id = i < 4 ? 1 : 2,
            .timestamp = times[i],
            .position = i % 2 ? SUB_TRACKING_STOP : SUB_TRACKING_START,
            .started_ns = SUB_TRACKING_UNKNOWN};
        row.name = sub_tracking_names_add(names, "a", 1);
        row.exact.instructions = 10 * i;
        assert_int_equal(call_table_add(&table, &row, 1, NULL), GPUT_OK);
    }
    assert_int_equal(call_table_pair(&table, NULL), GPUT_OK);
    assert_int_equal(call_window_apply(&window, &table, &rest, NULL), GPUT_OK);
    double some[GPUT_EXACT_FIGURE_COUNT] = {0}, none[GPUT_EXACT_FIGURE_COUNT] = {0};
    exact_figures_sum(table.lanes[0].exact, some);
    exact_figures_sum(table.lanes[1].exact, none);
    assert_true(isnan(some[GPUT_EXACT_INSTRUCTIONS]));
    assert_true(none[GPUT_EXACT_INSTRUCTIONS] == 0);
    call_table_finish(&table);
    sub_tracking_names_destroy(names);
}

RUN_TESTS(NULL, NULL)
