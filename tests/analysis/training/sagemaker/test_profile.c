#include <gputracker/profile.h>

#include "tables.h"

#include <math.h>
#include <string.h>

#define T0 INT64_C(1600000000000000)

static struct gput_profile_options options_of_root(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s", fixture("trace-root"));
    struct gput_profile_options options = gput_profile_options_default();
    options.path = path;
    return options;
}

static struct gput_tables *make(
    enum gput_profile_view view, const struct gput_profile_options *options)
{
    struct gput_tables *tables;
    struct gput_error error = {0};
    if (gput_profile_tables(view, options, &tables, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return tables;
}

static void assert_number(
    const struct gput_table *table, size_t row, const char *name, double expected)
{
    size_t at = column_of(table, name);
    double value = gput_table_column_type(table, at) == GPUT_COLUMN_INT
                       ? (double)gput_table_int(table, row, at)
                       : gput_table_double(table, row, at);
    if (fabs(value - expected) > 1e-6 * fabs(expected))
        fail_msg("%s of row %zu is %f, not %f", name, row, value, expected);
}

static void assert_text(
    const struct gput_table *table, size_t row, const char *name, const char *expected)
{
    assert_string_equal(gput_table_text(table, row, column_of(table, name)), expected);
}

TEST(says_when_job_and_loop_began)
{
    struct gput_profile_options options = options_of_root();
    struct gput_tables *tables = make(GPUT_PROFILE_JOB, &options);
    const struct gput_table *job = gput_tables_get(tables, 0);
    assert_true(gput_table_is_record(job));
    assert_text(job, 0, "start_time", "2020-09-13T12:26:35:000000");
    assert_text(job, 0, "training_loop_start", "2020-09-13T12:26:40:200000");
    assert_number(job, 0, "job_duration", 14.5);
    assert_number(job, 0, "training_loop_duration", 4.80015); /* to the last event of any kind */
    assert_number(job, 0, "initialization", 5.2);
    assert_number(job, 0, "initialization_%", 100 * 5.2 / 14.5);
    gput_tables_destroy(tables);
}

TEST(distinguishes_modes_of_one_step_number)
{
    struct gput_profile_options options = options_of_root();
    struct gput_tables *tables = make(GPUT_PROFILE_STEPS, &options);
    const struct gput_table *steps = gput_tables_get(tables, 0);
    assert_int_equal(gput_table_row_count(steps), 2);
    assert_text(steps, 0, "training_phase", "Step:ModeKeys.EVAL");
    assert_number(steps, 0, "duration_mean_us", 300000);
    assert_text(steps, 1, "training_phase", "Step:ModeKeys.TRAIN");
    assert_number(steps, 1, "duration_mean_us", 620000);
    assert_number(steps, 1, "duration_p95_us", 920000); /* between 0.6 s and 1 s */
    gput_tables_destroy(tables);

    options.by = GPUT_PROFILE_BY_FRAMEWORK_METRIC;
    tables = make(GPUT_PROFILE_STEPS, &options);
    steps = gput_tables_get(tables, 0);
    assert_text(steps, 3, "framework_metric", "conv1");
    assert_number(steps, 3, "duration_min_us", 150000); /* of EVAL step 0 it is 200000 alone */
    assert_number(steps, 3, "duration_max_us", 400000);
    gput_tables_destroy(tables);
}

TEST(fills_the_gaps_between_phases)
{
    struct gput_profile_options options = options_of_root();
    struct gput_tables *tables = make(GPUT_PROFILE_PHASES, &options);
    const struct gput_table *phases = gput_tables_get(tables, 0);
    assert_int_equal(gput_table_row_count(phases), 7);
    assert_text(phases, 0, "training_phase", "Before Step:ModeKeys.TRAIN");
    assert_text(phases, 2, "training_phase", "Between Step:ModeKeys.EVAL and Step:ModeKeys.TRAIN");
    assert_text(phases, 4, "training_phase", "Between Step:ModeKeys.EVAL and Step:ModeKeys.TRAIN");
    assert_text(phases, 6, "training_phase", "After Step:ModeKeys.TRAIN");
    assert_number(phases, 1, "start_time_us", 40200000); /* from the first system file on */
    assert_number(phases, 2, "start_time_us", 41800001);
    assert_number(phases, 2, "end_time_us", 41999999);
    gput_tables_destroy(tables);

    const char *const eval[] = {"Step:ModeKeys.EVAL"}, *const none[] = {"Step:ModeKeys.PREDICT"};
    options.phases = eval;
    options.n_phases = 1;
    tables = make(GPUT_PROFILE_PHASES, &options);
    assert_int_equal(gput_table_row_count(gput_tables_get(tables, 0)), 3);
    gput_tables_destroy(tables);
    const char *const train[] = {"Step:ModeKeys.TRAIN"};
    options.phases = train;
    tables = make(GPUT_PROFILE_PHASES, &options);
    assert_int_equal(gput_table_row_count(gput_tables_get(tables, 0)), 3);
    gput_tables_destroy(tables);
    options.each_step = true; /* all five */
    tables = make(GPUT_PROFILE_PHASES, &options);
    phases = gput_tables_get(tables, 0);
    assert_int_equal(gput_table_row_count(phases), 5 + 4 + 2);
    assert_text(phases, 2, "training_phase", "Between Step:ModeKeys.TRAIN and Step:ModeKeys.TRAIN");
    assert_number(phases, 2, "start_time_us", 41200001);
    assert_number(phases, 2, "end_time_us", 41299999);
    gput_tables_destroy(tables);
    options.phases = none;
    struct gput_error error;
    assert_int_equal(
        gput_profile_tables(GPUT_PROFILE_PHASES, &options, &tables, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "no steps of Step:ModeKeys.PREDICT in "));
    const struct gput_profile_rows no_rows = {0};
    options.rows = &no_rows;
    assert_int_equal(
        gput_profile_tables(GPUT_PROFILE_PHASES, &options, &tables, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "in the rows"));
}

TEST(sums_up_utilization)
{
    struct gput_profile_options options = options_of_root();
    struct gput_tables *tables = make(GPUT_PROFILE_UTILIZATION, &options);
    const struct gput_table *all = gput_tables_get(tables, 0);
    assert_int_equal(gput_table_row_count(all), 3);
    assert_text(all, 1, "Resource", "gpu");
    assert_number(all, 1, "utilization_mean", 41); /* 40 % of memory and 42 % of the GPU */
    gput_tables_destroy(tables);

    const char *const gpu[] = {"gpu"}, *const wrong[] = {"tpu"};
    options.resources = gpu;
    options.n_resources = 1;
    options.by_phase = options.by_dimension = true;
    tables = make(GPUT_PROFILE_UTILIZATION, &options);
    all = gput_tables_get(tables, 0);
    assert_text(all, 5, "dimension", "GPUUtilization");
    assert_text(all, 5, "Training_phase", "Step:ModeKeys.TRAIN");
    assert_number(all, 5, "utilization_min", 90);
    gput_tables_destroy(tables);
    options.resources = wrong;
    assert_int_equal(
        gput_profile_tables(GPUT_PROFILE_UTILIZATION, &options, &tables, NULL), GPUT_ERROR_INVALID);
}

TEST(counts_readings_in_the_first_range_that_fits)
{
    struct gput_profile_options options = options_of_root();
    struct gput_tables *tables = make(GPUT_PROFILE_DEVICES, &options);
    const struct gput_table *devices = gput_tables_get(tables, 0);
    assert_text(devices, 1, "Resource", "gpu");
    assert_number(devices, 1, "(90, 100)", 12); /* 90 is in both: the first counts */
    assert_number(devices, 1, "(10, 90)", 48);
    gput_tables_destroy(tables);
    const struct gput_profile_range ranges[] = {{91, 100}};
    options.ranges = ranges;
    options.n_ranges = 1;
    tables = make(GPUT_PROFILE_DEVICES, &options);
    assert_number(gput_tables_get(tables, 0), 1, "other", 60);
    gput_tables_destroy(tables);
}

TEST(finds_what_stands_out_in_loading_data)
{
    struct gput_profile_options options = options_of_root();
    struct gput_tables *tables = make(GPUT_PROFILE_DATALOADER, &options);
    const struct gput_table *summary = gput_tables_find(tables, "summary");
    assert_number(summary, 2, "count", 3);
    assert_number(summary, 2, "duration_median_us", 100000);
    assert_number(summary, 3, "count", 2);
    assert_number(summary, 3, "duration_max_us", 1200000);
    assert_true(gput_table_is_missing(summary, 1, column_of(summary, "duration_median_us")));
    const struct gput_table *outliers = gput_tables_find(tables, "getnext_outliers");
    assert_int_equal(gput_table_row_count(outliers), 1);
    assert_number(outliers, 0, "duration_us", 300000);
    const struct gput_table *kinds = gput_tables_find(tables, "initialization");
    assert_text(kinds, 0, "pin_memory", "True");
    assert_number(kinds, 0, "num_workers", 2);
    gput_tables_destroy(tables);
}

TEST(gives_rows_by_time_and_step)
{
    struct gput_profile_options options = options_of_root();
    struct gput_tables *tables = make(GPUT_PROFILE_METRICS, &options);
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "system")), 149);
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "framework")), 23);
    gput_tables_destroy(tables);

    options.start = T0 + 2000000;
    options.end = T0 + 2300000;
    tables = make(GPUT_PROFILE_METRICS, &options);
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "system")), 5);
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "framework")), 3);
    gput_tables_destroy(tables);

    options.unit = GPUT_TIMELINE_STEP;
    options.start = 1;
    options.end = 2;
    tables = make(GPUT_PROFILE_METRICS, &options);
    const struct gput_table *rows = gput_tables_find(tables, "framework");
    assert_int_equal(gput_table_row_count(rows), 2);
    assert_text(rows, 0, "framework_metric", "Step:ModeKeys.TRAIN");
    assert_number(rows, 0, "step", 1);
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "system")), 20);
    gput_tables_destroy(tables);
}

TEST(sums_up_what_went_on_at_moments)
{
    struct gput_profile_options options = options_of_root();
    const int64_t moments[] = {T0 + 800000, T0 + 2100000};
    options.moments = moments;
    options.n_moments = 2;
    struct gput_tables *tables = make(GPUT_PROFILE_METRICS, &options);
    const struct gput_table *processes = gput_tables_find(tables, "processes_at");
    assert_text(processes, 0, "process", "Forward-node"); /* of EVAL step 0 */
    assert_number(processes, 0, "share_of_largest", 200000. / 500000);
    assert_text(processes, 1, "process", "Backward-node");
    assert_number(processes, 1, "share_of_largest", 1);
    const struct gput_table *metrics = gput_tables_find(tables, "metrics_at");
    assert_text(metrics, 0, "framework_metric", "Forward"); /* by its own name, not its layer's */
    assert_number(metrics, 0, "duration_us", 200000);
    const struct gput_table *steps = gput_tables_find(tables, "steps_at");
    assert_text(steps, 0, "training_phase", "Step:ModeKeys.TRAIN");
    assert_number(steps, 0, "duration_us", 1000000);
    assert_text(steps, 1, "training_phase", "Step:ModeKeys.EVAL");
    gput_tables_destroy(tables);

    const char *const backward[] = {"Backward"};
    options.metrics = backward;
    options.n_metrics = 1;
    tables = make(GPUT_PROFILE_METRICS, &options);
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "processes_at")), 1);
    assert_int_equal(gput_table_row_count(gput_tables_find(tables, "steps_at")), 0);
    gput_tables_destroy(tables);
}

TEST(gives_events_with_what_data_loaders_say)
{
    struct gput_profile_options options = options_of_root();
    struct gput_tables *tables = make(GPUT_PROFILE_EVENTS, &options);
    const struct gput_table *events = gput_tables_get(tables, 0);
    assert_int_equal(gput_table_row_count(events), 23);
    assert_text(events, 0, "event", "_SingleProcessDataLoaderIter::Init");
    assert_text(events, 0, "pin_memory", "True");
    assert_number(events, 0, "num_workers", 2);
    assert_number(events, 0, "duration_us", 150000);
    gput_tables_destroy(tables);

    const char *const forward[] = {"Forward"};
    options.metrics = forward;
    options.n_metrics = 1;
    tables = make(GPUT_PROFILE_EVENTS, &options);
    events = gput_tables_get(tables, 0);
    assert_text(events, 0, "framework_metric", "conv1");
    gput_tables_destroy(tables);

    tables = make(GPUT_PROFILE_FRAMEWORK, &options);
    events = gput_tables_get(tables, 0);
    assert_string_equal(gput_table_name(events), "framework");
    assert_int_equal(gput_table_row_count(events), 4);
    gput_tables_destroy(tables);

    options.n_metrics = 0;
    tables = make(GPUT_PROFILE_READINGS, &options);
    assert_int_equal(gput_table_row_count(gput_tables_get(tables, 0)), 149);
    gput_tables_destroy(tables);

    int64_t start_us;
    assert_int_equal(gput_profile_start(options.path, &start_us, NULL), GPUT_OK);
    assert_int_equal(start_us, INT64_C(1599999960000000));
    assert_int_equal(gput_profile_start("/nowhere", &start_us, NULL), GPUT_ERROR_NOT_FOUND);
}

static struct gput_profile_event event(
    const char *metric, const char *node, int64_t step, int64_t start_us, int64_t end_us)
{
    return (struct gput_profile_event){.start_us = start_us,
        .end_us = end_us,
        .step = step,
        .metric = metric,
        .process = metric,
        .node = node};
}

TEST(reads_rows_of_the_caller)
{
    const char *train = "Step:ModeKeys.TRAIN", *eval = "Step:ModeKeys.EVAL";
    const struct gput_profile_event events[] = {
        event("late", "a", -1, 2100, 2200),
        event(train, "a", 1, 2000, 3000),
        event(train, "a", 0, 1000, 2000),
        event(train, "b", 0, 1500, 2500),
        event("of b", "b", -1, 2050, 2100),
        event("on the edge", "a", -1, 1000, 1200),
        event("alone", "a", -1, 9000, 9100),
        event("asynchronous", "a", 0, 1900, 2600),
        event("asynchronous", "a", 0, 3100, 3200), /* in no step: its number shows it */
        event(eval, "a", 0, 4000, 5000),
        event("asynchronous", "a", 0, 4100, 4200),
    };
    const struct gput_profile_reading readings[] = {
        {6000, 60, "cpu0", "CPUUtilization", "a", "cpu"},
        {500, 10, "cpu0", "CPUUtilization", "a", "cpu"},
        {2300, 30, "cpu0", "CPUUtilization", "a", "cpu"}};
    const struct gput_profile_rows rows = {.readings = readings,
        .n_readings = 3,
        .events = events,
        .n_events = sizeof events / sizeof *events,
        .start_us = 500};
    int64_t steps[sizeof events / sizeof *events];
    assert_int_equal(gput_profile_assign_steps(&rows, steps, NULL), GPUT_OK);
    const int64_t expected[] = {1, 1, 0, 0, 0, -1, -1, 0, 0, 0, 0};
    for (size_t i = 0; i < rows.n_events; i++)
        assert_int_equal(steps[i], expected[i]);

    struct gput_profile_options options = gput_profile_options_default();
    options.rows = &rows;
    options.by = GPUT_PROFILE_BY_FRAMEWORK_METRIC;
    struct gput_tables *tables = make(GPUT_PROFILE_STEPS, &options);
    const struct gput_table *table = gput_tables_get(tables, 0);
    assert_text(table, 2, "framework_metric", "asynchronous");
    assert_number(table, 2, "duration_max_us", 3200 - 1900); /* one span of TRAIN step 0 */
    assert_number(table, 2, "duration_min_us", 100);         /* and EVAL step 0 by itself */
    gput_tables_destroy(tables);

    options.by_phase = true;
    tables = make(GPUT_PROFILE_UTILIZATION, &options);
    table = gput_tables_get(tables, 0);
    assert_int_equal(gput_table_row_count(table), 3);
    assert_text(table, 1, "Training_phase", train);
    assert_number(table, 1, "utilization_mean", 30);
    gput_tables_destroy(tables);

    options.start = 8000;
    tables = make(GPUT_PROFILE_EVENTS, &options);
    table = gput_tables_get(tables, 0);
    assert_int_equal(gput_table_row_count(table), 1);
    assert_number(table, 0, "start_time_us", 8500);
    gput_tables_destroy(tables);
}

TEST(keeps_readings_next_to_missing_ones)
{
    const double values[] = {1, NAN, 2, 1, NAN, 3, 2};
    struct gput_profile_reading readings[7];
    for (size_t i = 0; i < 7; i++)
        readings[i] =
            (struct gput_profile_reading){1000, values[i], "cpu0", "CPUUtilization", "a", "cpu"};
    const struct gput_profile_rows rows = {.readings = readings, .n_readings = 7};
    struct gput_profile_options options = gput_profile_options_default();
    options.rows = &rows;
    struct gput_tables *tables = make(GPUT_PROFILE_READINGS, &options);
    const struct gput_table *table = gput_tables_get(tables, 0);
    assert_int_equal(gput_table_row_count(table), 4); /* each once */
    assert_true(gput_table_is_missing(table, 0, column_of(table, "value")));
    for (size_t i = 1; i < 4; i++)
        assert_number(table, i, "value", (double)i);
    gput_tables_destroy(tables);
}

/* A view as JSON. */
static char *rendered(enum gput_profile_view view, const struct gput_profile_options *options)
{
    char *text;
    struct gput_tables *tables = make(view, options);
    assert_int_equal(gput_tables_render(tables, GPUT_FORMAT_JSON, &text, NULL, NULL), GPUT_OK);
    gput_tables_destroy(tables);
    return text;
}

TEST(rows_that_do_not_fit_into_memory_give_the_same)
{
    struct gput_profile_options options = options_of_root();
    for (int round = 0; round < 3; round++) {
        options.by = (enum gput_profile_by)round;
        options.by_phase = options.by_dimension = options.each_step = round > 0;
        options.unit = round > 1 ? GPUT_TIMELINE_STEP : GPUT_TIMELINE_TIME;
        options.end = round > 1 ? 3 : INT64_MAX;
        for (int view = GPUT_PROFILE_JOB; view <= GPUT_PROFILE_EVENTS; view++) {
            if (round > 1 && view == GPUT_PROFILE_DATALOADER)
                continue; /* its events are of no step */
            options.memory_bytes = 0;
            char *inside = rendered((enum gput_profile_view)view, &options);
            options.memory_bytes = 1;
            char *outside = rendered((enum gput_profile_view)view, &options);
            assert_string_equal(outside, inside);
            free(inside);
            free(outside);
        }
    }
    options.temporary_folder = "/nowhere";
    struct gput_tables *tables;
    struct gput_error error;
    assert_int_equal(
        gput_profile_tables(GPUT_PROFILE_EVENTS, &options, &tables, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "/nowhere"));
}

static void report_how_far(void *user, double done)
{
    double *last = user;
    assert_true(done >= *last && done <= 1);
    *last = done;
}

TEST(reports_how_far_reading_is)
{
    double done = 0;
    struct gput_profile_options options = options_of_root();
    options.progress = report_how_far;
    options.user = &done;
    gput_tables_destroy(make(GPUT_PROFILE_METRICS, &options));
    assert_true(done > 0.99);
}

TEST(renders_text_json_and_csv)
{
    struct gput_profile_options options = options_of_root();
    struct gput_tables *tables = make(GPUT_PROFILE_DEVICES, &options);
    char *text;
    assert_int_equal(gput_tables_render(tables, GPUT_FORMAT_CSV, &text, NULL, NULL), GPUT_OK);
    assert_string_equal(text, "Resource,nodeID,\"(90, 100)\",\"(10, 90)\",\"(0, 10)\",other\n"
                              "cpu,algo-1,12,12,36,0\n"
                              "gpu,algo-1,12,48,0,0\n");
    free(text);
    assert_int_equal(gput_tables_render(tables, GPUT_FORMAT_JSON, &text, NULL, NULL), GPUT_OK);
    assert_non_null(
        strstr(text, "[\n{\"Resource\": \"cpu\", \"nodeID\": \"algo-1\", \"(90, 100)\": "
                     "12, \"(10, 90)\": 12, \"(0, 10)\": 36, \"other\": 0},\n"));
    free(text);
    assert_int_equal(gput_tables_render(tables, GPUT_FORMAT_TEXT, &text, NULL, NULL), GPUT_OK);
    assert_string_equal(text, "Resource  nodeID  (90, 100)  (10, 90)  (0, 10)  other\n"
                              "cpu       algo-1         12        12       36      0\n"
                              "gpu       algo-1         12        48        0      0\n");
    free(text);
    assert_int_equal(
        gput_tables_render(tables, GPUT_FORMAT_PICKLE, &text, NULL, NULL), GPUT_ERROR_INVALID);
    gput_tables_destroy(tables);

    tables = make(GPUT_PROFILE_METRICS, &options);
    struct gput_error error;
    assert_int_equal(
        gput_tables_render(tables, GPUT_FORMAT_CSV, &text, NULL, NULL), GPUT_ERROR_INVALID);
    assert_int_equal(gput_tables_select(tables, "none", &error), GPUT_ERROR_NOT_FOUND);
    assert_string_equal(error.message, "There is no table \"none\". There are: system, framework");
    assert_int_equal(gput_tables_select(tables, "framework", NULL), GPUT_OK);
    assert_int_equal(gput_tables_count(tables), 1);
    gput_tables_destroy(tables);
}

RUN_TESTS(NULL, NULL)
