#include <gputracker/measurement.h>
#include <gputracker/recorded.h>

#include "base/file.h"
#include "base/str.h"
#include "model/measurement_list.h"
#include "tables.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define STATIC_DATA                                                                                \
    "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,"                 \
    "system_core_count,n_expected_cores,system_gpu_count,n_expected_gpus\n"                        \
    "megabytes,kilobytes,hours,16.5,,4,4,0,0\n"

static char path[] = "/tmp/test-recorded-XXXXXX.csv";

static int create_path(void **state)
{
    (void)state;
    int fd = mkstemps(path, 4);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_path(const char *text)
{
    assert_int_equal(file_write_atomic(path, text, strlen(text), NULL), GPUT_OK);
}

static void count_warning(void *user, const char *message)
{
    assert_non_null(message);
    ++*(int *)user;
}

TEST(samples_have_the_columns_that_the_file_has)
{
    struct gput_tables *tables;
    write_path(STATIC_DATA "timestamp,main_n_threads,other,main_gpu_ram,main_ram\n"
                           "10.5,3,x,,1.5\n"
                           "11.5,,x,7,2.5\n");
    assert_int_equal(gput_recorded_samples(path, NULL, &tables, NULL), GPUT_OK);
    const struct gput_table *samples = gput_tables_find(tables, "samples");
    assert_int_equal(gput_table_column_count(samples), 4);
    assert_int_equal(gput_table_row_count(samples), 2);
    assert_true(gput_table_double(samples, 1, column_of(samples, "main_ram")) == 2.5);
    assert_true(gput_table_is_missing(samples, 0, column_of(samples, "main_gpu_ram")));
    assert_int_equal(gput_table_int(samples, 0, column_of(samples, "main_n_threads")), 3);
    assert_true(gput_table_is_missing(samples, 1, column_of(samples, "main_n_threads")));
    assert_string_equal(
        gput_table_column_unit(samples, column_of(samples, "main_ram")), "megabytes");
    assert_string_equal(
        gput_table_column_unit(samples, column_of(samples, "main_gpu_ram")), "kilobytes");
    assert_int_equal(column_of(samples, "timestamp"), 3);

    const struct gput_table *data = gput_tables_find(tables, "static_data");
    assert_true(gput_table_is_record(data));
    assert_string_equal(gput_table_text(data, 0, column_of(data, "ram_unit")), "megabytes");
    assert_true(gput_table_double(data, 0, column_of(data, "ram_system_capacity")) == 16.5);
    assert_true(gput_table_is_missing(data, 0, column_of(data, "gpu_ram_system_capacity")));
    assert_int_equal(gput_table_int(data, 0, column_of(data, "system_core_count")), 4);
    gput_tables_destroy(tables);
}

TEST(samples_are_those_inside_of_a_span)
{
    static const struct gput_recorded_span spans[] = {
        {14, 15}, {11, 12}, {NAN, 20}, {11.5, 13}, {9, 8}};
    struct gput_recorded_options options = {.size = sizeof options, .spans = spans, .n_spans = 5};
    struct gput_tables *tables;
    struct str text = {0};
    str_append(&text, STATIC_DATA "timestamp,main_ram\n");
    for (int i = 8; i < 20; i++)
        str_printf(&text, "%d,1\n", i);
    write_path(str_text(&text));
    str_finish(&text);
    assert_int_equal(gput_recorded_samples(path, &options, &tables, NULL), GPUT_OK);
    const struct gput_table *samples = gput_tables_get(tables, 0);
    static const double expected[] = {11, 12, 13, 14, 15};
    assert_int_equal(gput_table_row_count(samples), 5);
    assert_memory_equal(gput_table_doubles(samples, 1), expected, sizeof expected);
    gput_tables_destroy(tables);

    options.n_spans = 0;
    assert_int_equal(gput_recorded_samples(path, &options, &tables, NULL), GPUT_OK);
    assert_int_equal(gput_table_row_count(gput_tables_get(tables, 0)), 0);
    gput_tables_destroy(tables);
}

TEST(warns_of_a_last_line_that_is_cut_off)
{
    int warnings = 0;
    struct gput_recorded_options options = {
        .size = sizeof options, .warn = count_warning, .user = &warnings};
    struct gput_tables *tables;
    write_path(STATIC_DATA "timestamp,main_ram\n1,1\n2");
    assert_int_equal(gput_recorded_samples(path, &options, &tables, NULL), GPUT_OK);
    assert_int_equal(gput_table_row_count(gput_tables_get(tables, 0)), 1);
    assert_int_equal(warnings, 1);
    gput_tables_destroy(tables);
}

#define MARKS                                                                                      \
    "process_id,code_block_name,position,timestamp\n"                                              \
    "7,a,0,1.5\n7,b,0,2\n7,a,1,3\n7,b,1,4.25\n7,a,0,5\n"

TEST(marks_are_unchanged)
{
    struct gput_recorded_options options = {.size = sizeof options, .code_block = "a"};
    struct gput_tables *tables;
    write_path(MARKS);
    assert_int_equal(gput_recorded_marks(path, &options, &tables, NULL), GPUT_OK);
    const struct gput_table *marks = gput_tables_find(tables, "marks");
    assert_int_equal(gput_table_column_count(marks), 5);
    assert_int_equal(gput_table_row_count(marks), 3);
    assert_int_equal(gput_table_int(marks, 2, column_of(marks, "process_id")), 7);
    assert_true(gput_table_is_missing(marks, 2, column_of(marks, "thread_id")));
    assert_string_equal(gput_table_text(marks, 2, column_of(marks, "code_block_name")), "a");
    assert_int_equal(gput_table_int(marks, 1, column_of(marks, "position")), 1);
    assert_true(gput_table_double(marks, 2, column_of(marks, "timestamp")) == 5);
    gput_tables_destroy(tables);
}

TEST(calls_are_paired_and_sorted_by_start)
{
    struct gput_tables *tables;
    write_path(MARKS);
    assert_int_equal(gput_recorded_calls(path, NULL, &tables, NULL), GPUT_OK);
    const struct gput_table *calls = gput_tables_find(tables, "calls");
    assert_int_equal(gput_table_row_count(calls), 2); /* the last is open */
    assert_string_equal(gput_table_text(calls, 0, column_of(calls, "code_block_name")), "a");
    assert_true(gput_table_double(calls, 1, column_of(calls, "start")) == 2);
    assert_true(gput_table_double(calls, 1, column_of(calls, "stop")) == 4.25);
    assert_true(gput_table_double(calls, 1, column_of(calls, "compute_time")) == 2.25);
    gput_tables_destroy(tables);
}

TEST(calls_have_what_the_kernel_counted_in_each)
{
    struct gput_tables *tables;
    write_path(
        "process_id,code_block_name,position,timestamp,thread_id,process_cpu_ns,minor_faults\n"
        "7,a,0,1,1,1000000000,5\n7,a,0,2,1,2000000000,9\n"
        "7,a,1,3,1,2500000000,10\n7,a,1,4,1,5000000000,\n");
    assert_int_equal(gput_recorded_calls(path, NULL, &tables, NULL), GPUT_OK);
    const struct gput_table *calls = gput_tables_find(tables, "calls");
    size_t seconds = column_of(calls, "exact_process_cpu_time");
    size_t faults = column_of(calls, "exact_minor_faults");
    assert_string_equal(gput_table_column_unit(calls, seconds), "seconds");
    assert_true(gput_table_double(calls, 0, seconds) == 4);
    assert_true(gput_table_double(calls, 1, seconds) == 0.5);
    assert_true(gput_table_is_missing(calls, 0, faults));
    assert_true(gput_table_double(calls, 1, faults) == 1);
    assert_true(gput_table_is_missing(calls, 1, column_of(calls, "exact_package_energy")));
    gput_tables_destroy(tables);
}

TEST(calls_of_one_block_are_independent_of_others)
{
    struct gput_recorded_options options = {.size = sizeof options, .code_block = "good"};
    struct gput_tables *tables = (void *)path;
    struct gput_error error;
    write_path("process_id,code_block_name,position,timestamp\n"
               "7,bad,1,1\n7,bad,0,2\n7,bad,1,3\n7,good,0,1\n7,good,1,2\n");
    assert_int_equal(gput_recorded_calls(path, &options, &tables, &error), GPUT_OK);
    assert_int_equal(gput_table_row_count(gput_tables_get(tables, 0)), 1);
    gput_tables_destroy(tables);
    assert_int_equal(gput_recorded_calls(path, NULL, &tables, &error), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "Detected timestamp pair (1.0, 2.0)"));
    assert_null(tables);
}

TEST(refuses_other_files)
{
    struct gput_tables *tables;
    write_path("a,b\n1,2\n");
    assert_int_equal(gput_recorded_samples(path, NULL, &tables, NULL), GPUT_ERROR_FORMAT);
    assert_int_equal(gput_recorded_marks(path, NULL, &tables, NULL), GPUT_ERROR_FORMAT);
    assert_int_equal(gput_recorded_calls("no.csv", NULL, &tables, NULL), GPUT_ERROR_NOT_FOUND);
    assert_int_equal(gput_recorded_samples("no.txt", NULL, &tables, NULL), GPUT_ERROR_INVALID);
    assert_int_equal(gput_recorded_tables("no.sqlite", &tables, NULL), GPUT_ERROR_NOT_FOUND);
    write_path(STATIC_DATA "timestamp,main_ram\n");
    assert_int_equal(gput_recorded_tables(path, &tables, NULL), GPUT_ERROR_INVALID);
    assert_null(tables);
}

TEST(open_calls_are_those_without_a_stop)
{
    struct gput_tables *tables;
    write_path("process_id,code_block_name,position,timestamp,thread_id,started_ns\n"
               "7,outer,0,1.5,70,\n"
               "7,inner,0,2.5,70,\n"
               "7,inner,0,3.5,71,\n"
               "7,inner,1,4.5,70,\n"
               "8,inner,1,4.5,80,\n" /* its start is not in the file */
               "7,moved,0,5.5,70,\n"
               "7,moved,0,6.5,70,\n"
               "7,moved,1,7.5,72,5500000000\n" /* another thread stops it */
               "7,damaged\n"
               "7,half,0,8");
    assert_int_equal(gput_recorded_open_calls(path, &tables, NULL), GPUT_OK);
    const struct gput_table *calls = gput_tables_find(tables, "open_calls");
    assert_int_equal(gput_table_row_count(calls), 3);
    size_t name = column_of(calls, "code_block_name"), start = column_of(calls, "start");
    assert_string_equal(gput_table_text(calls, 0, name), "outer");
    assert_true(gput_table_double(calls, 0, start) == 1.5);
    assert_string_equal(gput_table_text(calls, 1, name), "inner");
    assert_int_equal(gput_table_int(calls, 1, column_of(calls, "thread_id")), 71);
    assert_string_equal(gput_table_text(calls, 2, name), "moved");
    assert_true(gput_table_double(calls, 2, start) == 6.5);
    gput_tables_destroy(tables);
    assert_int_equal(
        gput_recorded_open_calls("/not/there.csv", &tables, NULL), GPUT_ERROR_NOT_FOUND);
    assert_null(tables);
}

TEST(many_open_calls_are_found)
{
    struct gput_tables *tables;
    char *text = malloc(1 << 20);
    size_t length = (size_t)sprintf(text, "process_id,code_block_name,position,timestamp\n");
    for (int i = 0; i < 9000; i++)
        length += (size_t)sprintf(text + length, "%d,block %d,0,%d.5\n", i % 50, i % 3000, i);
    for (int i = 0; i < 9000; i += 2)
        length += (size_t)sprintf(text + length, "%d,block %d,1,9999.5\n", i % 50, i % 3000);
    write_path(text);
    free(text);
    assert_int_equal(gput_recorded_open_calls(path, &tables, NULL), GPUT_OK);
    const struct gput_table *calls = gput_tables_find(tables, "open_calls");
    assert_int_equal(gput_table_row_count(calls), 4500);
    for (size_t row = 0; row < 4500; row++)
        assert_int_equal((int)gput_table_double(calls, row, column_of(calls, "start")) % 2, 1);
    gput_tables_destroy(tables);
}

/* Parts of one table. */
struct parts {
    size_t count, rows, largest;
    double sum;
    bool refuse;
};

static int take(void *user, struct gput_tables *part, struct gput_error *error)
{
    struct parts *parts = user;
    (void)error;
    assert_int_equal(gput_tables_count(part), 1);
    const struct gput_table *table = gput_tables_get(part, 0);
    size_t rows = gput_table_row_count(table);
    parts->count++;
    parts->rows += rows;
    parts->largest = rows > parts->largest ? rows : parts->largest;
    for (size_t row = 0; row < rows; row++)
        parts->sum += gput_table_double(table, row, column_of(table, "main_ram"));
    assert_string_equal(gput_table_column_unit(table, column_of(table, "main_ram")), "bytes");
    gput_tables_destroy(part);
    return parts->refuse ? GPUT_ERROR_STATE : GPUT_OK;
}

TEST(rows_are_given_in_parts)
{
    const size_t rows = 300000;
    struct str text = {0};
    struct gput_tables *tables;
    struct parts parts = {0};
    str_append(&text, STATIC_DATA "main_ram,timestamp\n");
    for (size_t i = 0; i < rows; i++)
        str_printf(&text, "1.5,%zu\n", i);
    write_path(str_text(&text));
    str_finish(&text);
    struct gput_recorded_options options = gput_recorded_options_default();
    options.receive = take;
    options.user = &parts;
    options.for_joins = true;
    assert_int_equal(gput_recorded_samples(path, &options, &tables, NULL), GPUT_OK);
    assert_int_equal(parts.rows, rows);
    assert_true(parts.count == 3 && parts.largest == 131072);
    assert_true(parts.sum == 1.5e6 * (double)rows);
    const struct gput_table *samples = gput_tables_find(tables, "samples");
    assert_int_equal(gput_table_row_count(samples), 0);
    assert_int_equal(gput_table_column_count(samples), TRACKED_MEASUREMENTS + 1);
    gput_tables_destroy(tables);
    parts = (struct parts){.refuse = true};
    assert_int_equal(gput_recorded_samples(path, &options, &tables, NULL), GPUT_ERROR_STATE);
    assert_null(tables);
    assert_int_equal(parts.count, 1);
}

TEST(segments_have_the_blocks_that_run_together)
{
    struct gput_tables *tables;
    write_path("process_id,code_block_name,position,timestamp\n"
               "1,a,0,10\n1,b,0,11\n1,b,1,12\n1,a,1,13\n1,b,0,14\n1,b,1,15\n");
    assert_int_equal(gput_recorded_segments(path, NULL, &tables, NULL), GPUT_OK);
    const struct gput_table *segments = gput_tables_find(tables, "segments");
    const struct gput_table *leaves = gput_tables_find(tables, "leaves");
    const double starts[] = {
        -INFINITY, 10, 11, nextafter(12, 13), nextafter(13, 14), 14, nextafter(15, 16)};
    const int64_t numbers[] = {0, 1, 2, 1, 0, 3, 0};
    assert_int_equal(gput_table_row_count(segments), 7);
    for (size_t row = 0; row < 7; row++) {
        assert_true(gput_table_double(segments, row, 0) == starts[row]);
        assert_int_equal(gput_table_int(segments, row, 1), numbers[row]);
    }
    assert_int_equal(gput_table_row_count(leaves), 4);
    assert_string_equal(gput_table_text(leaves, 0, 1), "a");
    assert_int_equal(gput_table_int(leaves, 3, 0), 3);
    assert_string_equal(gput_table_text(leaves, 3, 1), "b");
    gput_tables_destroy(tables);
}

RUN_TESTS(create_path, remove_path)
