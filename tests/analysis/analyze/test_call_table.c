#include "marks.h"

#include <math.h>

/* The calls as "start-stop" by block and process, sorted by start. */
static void assert_calls(const struct marked_calls *marked, const char *expected)
{
    char text[1024] = "";
    for (size_t i = 0; i < marked->table.n_calls; i++) {
        const struct call *call = &marked->table.calls[i];
        const struct call_lane *lane = &marked->table.lanes[call->lane];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %d: %g-%g", i ? ", " : "",
            sub_tracking_names_text(marked->names, lane->name), (int)lane->process_id, call->start,
            call->stop);
    }
    assert_string_equal(text, expected);
}

static void assert_pairs(const char *marks, bool threads, const char *expected)
{
    struct marked_calls marked;
    assert_int_equal(pair_marks(&marked, marks, threads), GPUT_OK);
    assert_calls(&marked, expected);
    forget_calls(&marked);
}

static void assert_refuses(const char *marks, bool threads, const char *message)
{
    struct marked_calls marked;
    add_marks(&marked, marks, threads);
    assert_int_equal(call_table_pair(&marked.table, &marked.error), GPUT_ERROR_FORMAT);
    assert_string_equal(marked.error.message, message);
    forget_calls(&marked);
}

TEST(no_marks_are_no_calls)
{
    assert_pairs("", false, "");
}

TEST(marks_pair_up_whatever_their_order)
{
    assert_pairs("a 7 1 2;b 7 0 1.5;a 7 0 1;b 7 1 1.75;a 7 1 4;a 7 0 3", false,
        "a 7: 1-2, b 7: 1.5-1.75, a 7: 3-4");
}

static void assert_warning(const struct marked_calls *marked, const char *expected)
{
    char warning[CALL_TABLE_WARNING_SIZE];
    assert_true(call_table_warning(&marked->table, "x.csv", warning));
    assert_string_equal(warning, expected);
}

TEST(calls_that_stop_before_they_start_are_left_out)
{
    static const char *const marks[] = {"a 7 0 5;a 7 1 6;a 7 0 7;a 7 1 2;a 7 0 3;a 7 1 4;a 7 0 5",
        "a 7 0 5 9;a 7 1 6 9;a 7 0 7 9;a 7 1 2 9;a 7 0 3 9;a 7 1 4 9;a 7 0 5 9"};
    for (int threads = 0; threads < 2; threads++) {
        struct marked_calls marked;
        assert_int_equal(pair_marks(&marked, marks[threads], threads), GPUT_OK);
        assert_calls(&marked, "a 7: 3-4, a 7: 5-6");
        assert_warning(&marked,
            "Sub-tracking file x.csv: 1 call stops before it starts and was skipped. The "
            "system's time was set back meanwhile; other calls may be off by as much.");
        forget_calls(&marked);
    }
    assert_pairs("a 7 0 7;a 7 1 2", false, "");
}

TEST(a_start_comes_before_a_stop_of_the_same_time)
{
    assert_pairs("a 7 1 1;a 7 0 1", false, "a 7: 1-1");
    assert_pairs("a 7 0 1;a 7 1 2;a 7 0 2;a 7 1 3", false, "a 7: 1-2, a 7: 2-3");
}

TEST(a_call_that_is_still_open_is_skipped)
{
    assert_pairs("a 7 0 1;a 7 1 2;a 7 0 3;a 8 0 1;b 9 0 1;b 9 1 5", false, "b 9: 1-5, a 7: 1-2");
}

/* `expected` is block, process and start of each: "b 7: 3". */
static void assert_open(const char *text, bool by_thread, const char *expected)
{
    struct marked_calls marked;
    char found[256] = "";
    assert_int_equal(pair_marks(&marked, text, by_thread), GPUT_OK);
    for (size_t i = 0; i < marked.table.n_open; i++) {
        const struct call *call = &marked.table.open[i];
        const struct call_lane *lane = &marked.table.lanes[call->lane];
        size_t length = strlen(found);
        assert_true(isinf(call->stop));
        snprintf(found + length, sizeof found - length, "%s%s %d: %g", length ? ", " : "",
            sub_tracking_names_text(marked.names, lane->name), (int)lane->process_id, call->start);
    }
    assert_string_equal(found, expected);
    forget_calls(&marked);
}

TEST(calls_that_are_still_open_can_be_kept)
{
    assert_open("a 7 0 1;a 7 1 2;a 7 0 3;a 8 0 1;b 9 0 1;b 9 1 5", false, "a 8: 1, a 7: 3");
    assert_open("a 7 0 1 1;a 7 0 2 1;a 7 1 3 1;b 7 0 4 1", true, "a 7: 1, b 7: 4");
    assert_open("a 7 0 1 1;a 7 1 2 1;a 7 0 5 1", true, "a 7: 5");
    assert_open("a 7 0 1;a 7 1 2", false, "");
}

TEST(calls_below_one_that_is_still_open_are_kept_too)
{
    assert_open("a 7 0 1;a 7 0 2;a 7 1 3", false, "a 7: 1");
    assert_open("a 7 0 1;a 7 1 2;a 7 0 3;a 7 0 4;a 7 1 5;a 8 0 4;a 8 1 5", false, "a 7: 3");
    assert_open("a 7 0 1;a 7 0 2;a 7 0 3;b 7 0 3;b 7 1 4", false, "a 7: 1, a 7: 2, a 7: 3");
}

/* Of a file that another program truncated while it was written, or of a script that forgot one. */
TEST(a_stop_without_a_start_is_left_out_and_named)
{
    static const char *const marks[] = {"a 7 0 1;a 7 1 2;a 7 1 4;a 7 0 5;a 7 1 6;a 7 0 7;b 8 1 3",
        "a 7 0 1 9;a 7 1 2 9;a 7 1 4 9;a 7 0 5 9;a 7 1 6 9;a 7 0 7 9;b 8 1 3 9"};
    for (int how = 0; how < 4; how++) {
        struct marked_calls marked;
        add_marks(&marked, marks[how & 1], how & 1);
        marked.table.has_lost = how >> 1; /* is known, or not */
        marked.table.keep_open = true;
        assert_int_equal(call_table_pair(&marked.table, &marked.error), GPUT_OK);
        assert_calls(&marked, "a 7: 1-2, a 7: 5-6");
        assert_int_equal(marked.table.n_open, 1);
        assert_warning(&marked,
            "Sub-tracking file x.csv: 2 stops are skipped, because the marks of their "
            "starts are not in it; the first is of code block \"b\" of process 8 at 3.0.");
        forget_calls(&marked);
    }
}

/* What else the Python tool does with it is an error: see invalid_pairs_are_refused(). */
TEST(a_stop_without_a_start_at_the_end_is_left_out)
{
    struct marked_calls marked;
    add_marks(&marked, "a 7 0 1;a 7 1 2;a 7 1 3", false); /* open calls are not kept */
    assert_int_equal(call_table_pair(&marked.table, &marked.error), GPUT_OK);
    assert_calls(&marked, "a 7: 1-2");
    assert_warning(&marked, "Sub-tracking file x.csv: 1 stop is skipped, because the mark of its "
                            "start is not in it; it is of code block \"a\" of process 7 at 3.0.");
    forget_calls(&marked);
}

TEST(processes_run_a_block_at_the_same_time)
{
    assert_pairs("a 9 0 1;a 7 0 1.5;a 9 1 3;a 7 1 2", false, "a 9: 1-3, a 7: 1.5-2");
}

TEST(marks_of_one_process_pair_two_by_two)
{
    struct marked_calls marked;
    assert_int_equal(
        pair_marks(&marked, "a 7 0 1;a 7 0 2;a 7 1 3;a 7 1 4;b 7 0 1;b 7 1 2", false), GPUT_OK);
    assert_calls(&marked, "a 7: 1-2, b 7: 1-2, a 7: 3-4");
    assert_int_equal(marked.table.n_doubtful, 2);
    forget_calls(&marked);
}

/* Of threads, or recursion, without thread ids. */
TEST(overlapping_calls_of_which_open_ones_are_kept_pair_like_brackets)
{
    struct marked_calls marked;
    const char *marks = "a 7 0 1;a 7 0 2;a 7 1 3;a 7 0 4;a 7 1 5;a 7 1 6";
    assert_int_equal(pair_marks(&marked, marks, false), GPUT_OK);
    assert_calls(&marked, "a 7: 1-6, a 7: 2-3, a 7: 4-5");
    assert_int_equal(marked.table.n_doubtful, 1);
    forget_calls(&marked);
    assert_refuses(marks, false,
        "Sub-tracking file is invalid. Detected timestamp pair (3.0, 4.0) of process ID 7 with a "
        "start time greater than the stop time.");
}

TEST(threads_pair_like_brackets)
{
    assert_pairs("a 7 0 1 1;a 7 0 2 1;a 7 1 3 1;a 7 1 4 1;a 7 0 2.5 2", true, "a 7: 1-4, a 7: 2-3");
    assert_pairs("a 7 0 1 1;a 7 0 2 2;a 7 1 3 1;a 7 1 4 2", true, "a 7: 1-3, a 7: 2-4");
}

TEST(a_stop_with_a_start_time_belongs_to_that_start)
{
    assert_pairs("a 7 0 1 1;a 7 0 2 1;a 7 0 3 1;a 7 1 4 1 @1;a 7 1 5 1 @2;a 7 1 6 1 @3", true,
        "a 7: 1-4, a 7: 2-5, a 7: 3-6");
    assert_pairs("a 7 0 1 1;a 7 0 2 1;a 7 1 3 1;a 7 0 4 1;a 7 1 5 1 @1;a 7 1 6 1", true,
        "a 7: 1-5, a 7: 2-3, a 7: 4-6");
    assert_pairs("a 7 1 5 1 @1;a 7 0 2 1;a 7 0 1 1", true, "a 7: 1-5");
}

TEST(a_stop_with_a_start_time_may_be_in_another_thread)
{
    assert_pairs("a 7 0 1 1;a 7 1 3 2 @1;a 7 0 4 2;a 7 1 5 2", true, "a 7: 1-3, a 7: 4-5");
    assert_pairs("a 7 1 3 1 @4", true, "a 7: 3-3"); /* the clock was set back */
}

/* As many as would keep a pairing that is not about linear busy for minutes. */
TEST(many_calls_that_are_open_at_once_are_paired)
{
    enum { COUNT = 1000000 };
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct call_table table;
    struct gput_error error;
    call_table_init(&table, names, SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS, true, false);
    struct sub_tracking_mark row = {.name = sub_tracking_names_add(names, "a", 1)};
    for (int64_t i = 0; i < 2 * COUNT; i++) {
        row.position = i < COUNT ? SUB_TRACKING_START : SUB_TRACKING_STOP;
        row.timestamp_ns = i;
        row.started_ns = i < COUNT ? SUB_TRACKING_UNKNOWN : i - COUNT; /* first in, first out */
        assert_int_equal(call_table_add(&table, &row, 1, &error), GPUT_OK);
    }
    assert_int_equal(call_table_pair(&table, &error), GPUT_OK);
    assert_int_equal(table.n_calls, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_true(fabs(table.calls[i].stop - table.calls[i].start - 1e-9 * COUNT) < 1e-12);
    call_table_finish(&table);
    sub_tracking_names_destroy(names);
}

TEST(marks_of_one_time_in_a_thread_keep_the_order_of_the_file)
{
    assert_pairs("a 7 0 1 1;a 7 1 2 1;a 7 0 2 1;a 7 1 3 1", true, "a 7: 1-2, a 7: 2-3");
}

TEST(invalid_pairs_are_refused)
{
    assert_refuses("X 1 0 1745449609.7528221;X 1 1 1745449609.7528222;X 2 0 1745449609.7528223;"
                   "X 2 1 1745449613.5325918;X 1 1 1745449613.5325919",
        false,
        "Sub-tracking file is invalid. Detected timestamp pair (1745449613.5325918, "
        "1745449609.7528224) with differing process IDs: 1 and 2.");
    assert_refuses("a 7 1 1;a 7 0 2;a 7 1 3;a 7 1 4", false,
        "Sub-tracking file is invalid. Detected timestamp pair (1.0, 2.0) of process ID 7 with a "
        "start time greater than the stop time.");
    assert_refuses("a 7 0 1;a 7 0 2;a 7 1 3", false,
        "Sub-tracking file is invalid. Code block \"a\" of process ID 7 starts at 1.0 without a "
        "stop.");
    assert_refuses("a 7 0 1;a 7 0 2;b 7 0 3;b 7 1 4", false,
        "Sub-tracking file is invalid. Code block \"a\" of process ID 7 starts at 1.0 without a "
        "stop.");
}

TEST(a_time_that_is_no_number_is_refused)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct call_table table;
    struct sub_tracking_mark row = {.timestamp = 0.0 / 0.0};
    row.name = sub_tracking_names_add(names, "a", 1);
    call_table_init(&table, names, 0, false, false);
    assert_int_equal(call_table_add(&table, &row, 1, NULL), GPUT_ERROR_FORMAT);
    call_table_finish(&table);
    sub_tracking_names_destroy(names);
}

/* Nanoseconds that a double of seconds since the epoch could not hold. */
TEST(a_log_keeps_every_nanosecond)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct call_table table;
    struct sub_tracking_mark rows[2] = {
        {.timestamp_ns = INT64_C(1745449609123456789), .position = SUB_TRACKING_START},
        {.timestamp_ns = INT64_C(1745449609123456796), .position = SUB_TRACKING_STOP},
    };
    rows[0].name = rows[1].name = sub_tracking_names_add(names, "a", 1);
    call_table_init(&table, names, SUB_TRACKING_COLUMN_THREAD_ID, true, false);
    assert_int_equal(call_table_add(&table, rows, 2, NULL), GPUT_OK);
    assert_int_equal(call_table_pair(&table, NULL), GPUT_OK);
    double nanoseconds = (table.calls[0].stop - table.calls[0].start) * 1e9;
    assert_true(nanoseconds > 6.99 && nanoseconds < 7.01);
    assert_true(table.origin == 1745449609);
    call_table_finish(&table);
    sub_tracking_names_destroy(names);
}

TEST(figures_of_the_kernel_are_kept_where_asked_for_and_there)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    for (unsigned i = 0; i < 4; i++) {
        struct call_table table;
        bool exact = i & 1, there = i & 2;
        struct sub_tracking_mark rows[2] = {
            {.timestamp = 1, .position = 0, .exact = {.thread_cpu_ns = 100}},
            {.timestamp = 2, .position = 1, .exact = {.thread_cpu_ns = 150}},
        };
        rows[0].name = rows[1].name = sub_tracking_names_add(names, "a", 1);
        call_table_init(&table, names, there ? SUB_TRACKING_COLUMNS_EXACT : 0, false, exact);
        assert_int_equal(call_table_add(&table, rows, 2, NULL), GPUT_OK);
        assert_true((table.lanes[0].exact != NULL) == (exact && there));
        call_table_finish(&table);
    }
    sub_tracking_names_destroy(names);
}

TEST(thousands_of_lanes_are_kept_apart)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct call_table table;
    call_table_init(&table, names, 0, false, false);
    for (int i = 0; i < 3000; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i % 100);
        struct sub_tracking_mark row = {.process_id = i / 100, .timestamp = i};
        row.name = sub_tracking_names_add(names, name, strlen(name));
        assert_int_equal(call_table_add(&table, &row, 1, NULL), GPUT_OK);
        row.position = SUB_TRACKING_STOP;
        assert_int_equal(call_table_add(&table, &row, 1, NULL), GPUT_OK);
    }
    assert_int_equal(call_table_pair(&table, NULL), GPUT_OK);
    assert_int_equal(table.n_lanes, 3000);
    assert_int_equal(table.n_calls, 3000);
    assert_int_equal(table.n_blocks, 100);
    assert_int_equal(table.n_tracks, 30);
    for (size_t i = 1; i < table.n_lanes; i++)
        assert_true(table.lanes[i - 1].block <= table.lanes[i].block);
    call_table_finish(&table);
    sub_tracking_names_destroy(names);
}

RUN_TESTS(NULL, NULL)
