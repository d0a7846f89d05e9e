#include "base/str.h"
#include "files/temporary_database.h"
#include "files/tracking/tracking_reader.h"

#include <math.h>
#include <sys/stat.h>

#define STATIC_LINES                                                                               \
    "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,system_core_count,extra\n"                \
    "gigabytes,bytes,hours,67.254,12,\"a,b\"\n"

static struct tracking_reader *open_text(const char *text)
{
    struct gput_error error = {0};
    struct tracking_reader *reader;
    const char *path = temporary("x.csv");
    temporary_write(path, text);
    if (tracking_reader_open(path, &reader, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return reader;
}

static size_t read_rows(struct tracking_reader *reader, struct tracking_row *rows, size_t capacity)
{
    struct gput_error error = {0};
    size_t count;
    if (tracking_reader_next(reader, rows, capacity, &count, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return count;
}

FOLDER_TEST(static_data_comes_as_text_and_as_numbers)
{
    struct tracking_reader *reader = open_text(STATIC_LINES "timestamp,main_ram\n");
    size_t count;
    const struct tracking_static_cell *cells = tracking_reader_static_cells(reader, &count);
    assert_int_equal(count, 6);
    assert_string_equal(cells[3].name, "ram_system_capacity");
    assert_string_equal(cells[3].text, "67.254");
    assert_string_equal(cells[5].text, "a,b");

    const struct gput_static_data *data = tracking_reader_static_data(reader);
    assert_int_equal(data->ram_unit, GPUT_RAM_UNIT_GIGABYTES);
    assert_int_equal(data->gpu_ram_unit, GPUT_RAM_UNIT_BYTES);
    assert_int_equal(data->time_unit, GPUT_TIME_UNIT_HOURS);
    assert_true(fabs(data->ram_system_capacity_bytes - 67254e6) < 1);
    assert_true(isnan(data->gpu_ram_system_capacity_bytes));
    assert_int_equal(data->system_core_count, 12);
    assert_true(isnan(data->system_gpu_count));
    struct tracking_row row;
    assert_int_equal(read_rows(reader, &row, 1), 0);
    tracking_reader_close(reader);
}

FOLDER_TEST(columns_are_found_by_name)
{
    struct tracking_reader *reader =
        open_text(STATIC_LINES "timestamp,note,combined_ram,more,main_n_threads\n"
                               "10.5,hello,1.25,,3\r\n"
                               "11.5,\"a,\"\"b\"\"\",,x,\"4\"\n"
                               "\n"
                               "12.5,, 2.5 ,,5\n");
    struct tracking_row rows[8];
    assert_true(tracking_reader_has(reader, GPUT_COMBINED_RAM));
    assert_false(tracking_reader_has(reader, GPUT_MAIN_RAM));
    assert_false(tracking_reader_has(reader, GPUT_MAIN_PRIVATE_RAM));
    assert_int_equal(read_rows(reader, rows, 8), 3);
    assert_true(rows[0].timestamp == 10.5 && rows[0].values[GPUT_COMBINED_RAM] == 1.25);
    assert_true(rows[0].values[GPUT_MAIN_THREADS] == 3 && isnan(rows[0].values[GPUT_MAIN_RAM]));
    assert_true(rows[1].timestamp == 11.5 && isnan(rows[1].values[GPUT_COMBINED_RAM]));
    assert_true(rows[1].values[GPUT_MAIN_THREADS] == 4);
    assert_true(rows[2].timestamp == 12.5 && rows[2].values[GPUT_COMBINED_RAM] == 2.5);
    assert_int_equal(read_rows(reader, rows, 8), 0);
    assert_null(tracking_reader_warning(reader));
    tracking_reader_close(reader);
}

FOLDER_TEST(a_truncated_last_line_is_skipped_with_a_warning)
{
    static const char *const ends[] = {"3", "3\n", "3,3,\n", "\"3,3\n", "3,3,3,3\n", "3,x", ",3"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct str text = {0};
        str_printf(&text, STATIC_LINES "timestamp,main_ram\n1,1\n2,2\n%s", ends[i]);
        struct tracking_reader *reader = open_text(str_text(&text));
        struct tracking_row rows[8];
        assert_int_equal(read_rows(reader, rows, 8), 2);
        assert_int_equal(read_rows(reader, rows, 8), 0);
        assert_non_null(
            strstr(tracking_reader_warning(reader), "x.csv: the last line is truncated"));
        tracking_reader_close(reader);
        str_finish(&text);
    }
}

/* Its last number may be incomplete. */
FOLDER_TEST(a_last_line_without_its_line_end_is_skipped)
{
    static const char *const last[] = {"2,1745449610.5", "2,\"1745449610.5\"", "2,1745449609.8",
        "2,1745449609.", "2,17454496", "2,1745449610.5\r"};
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++) {
        struct str text = {0};
        str_printf(&text, STATIC_LINES "main_ram,timestamp\n1,1745449609.75\n%s", last[i]);
        struct tracking_reader *reader = open_text(str_text(&text));
        struct tracking_row rows[8];
        assert_int_equal(read_rows(reader, rows, 8), 1);
        assert_int_equal(read_rows(reader, rows, 8), 0);
        assert_non_null(strstr(tracking_reader_warning(reader),
            "x.csv: the last line is truncated (it has no line "
            "end) and was skipped; 1 row was kept."));
        tracking_reader_close(reader);
        str_finish(&text);
    }
}

/* A damaged quote joins all lines after it, up to the next one or to the end. */
FOLDER_TEST(a_quote_that_is_not_closed_is_no_truncated_line)
{
    static const char *const ends[] = {"\"2,2\n3,3\n4,4\n", "2,\"2\n3,3\n4,4"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct str text = {0};
        struct gput_error error;
        struct tracking_row rows[8];
        size_t count = 0;
        str_printf(&text, STATIC_LINES "timestamp,main_ram\n1,1\n%s", ends[i]);
        struct tracking_reader *reader = open_text(str_text(&text));
        int code = GPUT_OK;
        while (code == GPUT_OK && count == 0)
            code = tracking_reader_next(reader, rows, 8, &count, &error);
        assert_int_equal(code, GPUT_ERROR_FORMAT);
        assert_non_null(strstr(error.message, "line 5 has a quote that is not closed."));
        tracking_reader_close(reader);
        str_finish(&text);
    }
}

static void assert_refused(const char *text, enum gput_code code, const char *message)
{
    struct gput_error error = {0};
    struct tracking_reader *reader;
    const char *path = temporary("x.csv");
    temporary_write(path, text);
    int got = tracking_reader_open(path, &reader, &error);
    if (got == GPUT_OK) {
        struct tracking_row rows[8];
        size_t count;
        got = tracking_reader_next(reader, rows, 8, &count, &error);
        tracking_reader_close(reader);
    } else
        assert_null(reader);
    assert_int_equal(got, code);
    if (!strstr(error.message, message))
        fail_msg("\"%s\" is not in: %s", message, error.message);
}

FOLDER_TEST(damaged_files_are_refused_by_line_and_column)
{
    assert_refused("", GPUT_ERROR_FORMAT, "x.csv is invalid: it ends before its static data.");
    assert_refused("a,b\n", GPUT_ERROR_FORMAT, "it ends before its static data.");
    assert_refused("a,b\n1\n", GPUT_ERROR_FORMAT, "its first two lines are not the static data");
    assert_refused("a\n1\n", GPUT_ERROR_FORMAT, "its static data has no column ram_unit.");
    assert_refused("ram_unit,gpu_ram_unit,time_unit\nmiles,bytes,hours\nx\n", GPUT_ERROR_FORMAT,
        "\"miles\" is not a valid RAM unit");
    assert_refused("ram_unit,gpu_ram_unit,time_unit\nbytes,,hours\nx\n", GPUT_ERROR_FORMAT,
        "its static data is damaged or truncated: there is no gpu_ram_unit.");
    assert_refused("ram_unit,gpu_ram_unit,time_unit,system_core_count\nbytes,bytes,hours,many\n",
        GPUT_ERROR_FORMAT, "\"many\" is not a number (static data, column system_core_count).");
    assert_refused(STATIC_LINES, GPUT_ERROR_FORMAT, "it ends before its header of the rows.");
    assert_refused(STATIC_LINES "main_ram\n1\n", GPUT_ERROR_FORMAT, "it has no column timestamp.");
    assert_refused(STATIC_LINES "timestamp,x\n1,1\n", GPUT_ERROR_FORMAT,
        "none of its columns is a measurement.");
    assert_refused(STATIC_LINES "timestamp,main_ram\n1,1\n2\n3,3\n", GPUT_ERROR_FORMAT,
        "line 5 has 1 cells where the header has 2.");
    assert_refused(STATIC_LINES "timestamp,main_ram\n1,1\n2,abc\n3,3\n", GPUT_ERROR_FORMAT,
        "line 5: \"abc\" is not a number (column main_ram).");
    assert_refused(STATIC_LINES "timestamp,main_ram\n1,1\n2,-0.5\n3,3\n", GPUT_ERROR_FORMAT,
        "line 5: \"-0.5\" is not a possible value (column main_ram).");
    assert_refused(STATIC_LINES "timestamp,main_n_threads\n1,1\n2,\"-1\"\n", GPUT_ERROR_FORMAT,
        "line 5: \"-1\" is not a possible value (column main_n_threads).");
    assert_refused(STATIC_LINES "timestamp,cpu_main_sum_utilization_percent\n1,-0.1\n2,1e999\n",
        GPUT_ERROR_FORMAT,
        "line 5: \"1e999\" is not a possible value (column cpu_main_sum_utilization_percent).");
    assert_refused(
        STATIC_LINES "timestamp,main_ram\n,1\n", GPUT_ERROR_FORMAT, "line 4 has no timestamp.");
}

FOLDER_TEST(files_that_cannot_be_opened_are_named)
{
    struct gput_error error = {0};
    struct tracking_reader *reader;
    assert_int_equal(
        tracking_reader_open(temporary("no.csv"), &reader, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "no.csv"));
    assert_int_equal(
        tracking_reader_open(temporary("no.sqlite"), &reader, &error), GPUT_ERROR_NOT_FOUND);
    assert_non_null(strstr(error.message, "no.sqlite"));
    assert_int_equal(tracking_reader_open("x.pkl", &reader, &error), GPUT_ERROR_INVALID);
    assert_null(reader);
    tracking_reader_close(NULL);
}

#define STATIC_TABLE                                                                               \
    "CREATE TABLE static_data (ram_unit, gpu_ram_unit, time_unit, ram_system_capacity, "           \
    "n_expected_gpus); INSERT INTO static_data VALUES ('bytes', 'bytes', 'hours', 1000.0, 2);"

FOLDER_TEST(a_database_is_read_whatever_its_columns)
{
    const char *path = make_database(STATIC_TABLE
        "CREATE TABLE data (note TEXT, timestamp FLOAT, main_ram, main_n_threads BIGINT);"
        "INSERT INTO data VALUES ('x', 1.5, '0.25', 3), (NULL, 2, NULL, 4)");
    struct tracking_reader *reader;
    struct tracking_row rows[8];
    assert_int_equal(tracking_reader_open(path, &reader, NULL), GPUT_OK);
    assert_true(tracking_reader_static_data(reader)->ram_system_capacity_bytes == 1000.0);
    assert_int_equal(tracking_reader_static_data(reader)->n_expected_gpus, 2);
    size_t count;
    assert_string_equal(tracking_reader_static_cells(reader, &count)[3].text, "1000.0");
    assert_int_equal(read_rows(reader, rows, 8), 2);
    assert_true(rows[0].timestamp == 1.5 && rows[0].values[GPUT_MAIN_RAM] == 0.25);
    assert_true(rows[1].values[GPUT_MAIN_THREADS] == 4 && isnan(rows[1].values[GPUT_MAIN_RAM]));
    uint64_t done, total;
    tracking_reader_progress(reader, &done, &total);
    assert_true(done == 2 && total == 2);
    assert_int_equal(read_rows(reader, rows, 8), 0);
    tracking_reader_close(reader);
}

FOLDER_TEST(a_count_of_gpus_that_cannot_be_is_not_known)
{
    struct tracking_reader *reader;
    temporary_write(temporary("x.csv"), "ram_unit,gpu_ram_unit,time_unit,system_gpu_count,n_"
                                        "expected_gpus\nbytes,bytes,hours,-1,1e300"
                                        "\ntimestamp,main_ram\n1,1\n");
    assert_int_equal(tracking_reader_open(temporary("x.csv"), &reader, NULL), GPUT_OK);
    assert_true(isnan(tracking_reader_static_data(reader)->system_gpu_count));
    assert_true(isnan(tracking_reader_static_data(reader)->n_expected_gpus));
    tracking_reader_close(reader);
}

static void assert_database_refused(const char *sql, const char *message)
{
    struct gput_error error = {0};
    struct tracking_reader *reader;
    int code = tracking_reader_open(make_database(sql), &reader, &error);
    if (code == GPUT_OK) {
        struct tracking_row rows[8];
        size_t count;
        code = tracking_reader_next(reader, rows, 8, &count, &error);
        tracking_reader_close(reader);
    }
    assert_int_equal(code, GPUT_ERROR_FORMAT);
    if (!strstr(error.message, message))
        fail_msg("\"%s\" is not in: %s", message, error.message);
}

FOLDER_TEST(databases_that_are_no_tracking_files_are_refused)
{
    assert_database_refused("CREATE TABLE t (a)", "it has no table static_data.");
    assert_database_refused(STATIC_TABLE, "it has no table data.");
    assert_database_refused(
        "CREATE TABLE static_data (a); CREATE TABLE data (b)", "its table static_data is empty.");
    assert_database_refused(
        STATIC_TABLE "CREATE TABLE data (timestamp)", "none of its columns is a measurement.");
    assert_database_refused(STATIC_TABLE "CREATE TABLE data (timestamp, main_ram);"
                                         "INSERT INTO data VALUES (1, 1), (2, 'much')",
        "row 2: \"much\" is not a number (column main_ram).");
    assert_database_refused(STATIC_TABLE "CREATE TABLE data (timestamp, main_ram);"
                                         "INSERT INTO data VALUES (1, 1), (2, -0.5)",
        "row 2: \"-0.5\" is not a possible value (column main_ram).");
    assert_database_refused(STATIC_TABLE "CREATE TABLE data (timestamp, main_ram);"
                                         "INSERT INTO data VALUES (NULL, 1)",
        "row 1 has no timestamp.");
}

FOLDER_TEST(a_database_truncated_at_any_page_is_refused_by_name)
{
    struct stat status;
    const char *path = make_database(STATIC_TABLE
        "CREATE TABLE data (timestamp, main_ram); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL "
        "SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO data SELECT i + 0.5, i FROM n");
    assert_int_equal(stat(path, &status), 0);
    for (off_t size = status.st_size - 2048; size >= 0; size -= 2048) { /* within pages, too */
        struct gput_error error = {0};
        struct tracking_reader *reader;
        struct tracking_row rows[64];
        size_t count = 1;
        assert_int_equal(truncate(path, size), 0);
        int code = tracking_reader_open(path, &reader, &error);
        bool opened = code == GPUT_OK;
        while (code == GPUT_OK && count > 0)
            code = tracking_reader_next(reader, rows, 64, &count, &error);
        assert_int_not_equal(code, GPUT_OK);
        assert_non_null(strstr(error.message, path));
        if (opened)
            tracking_reader_close(reader);
    }
}

/* Reads whatever is whole; the caller closes the reader. */
static size_t salvage_rows(
    const char *path, struct tracking_reader **reader, struct tracking_row *rows, size_t capacity)
{
    size_t count = 0, got;
    if (tracking_reader_salvage(path, reader, NULL) != GPUT_OK)
        return 0;
    do {
        got = read_rows(*reader, rows + count, capacity - count < 3 ? capacity - count : 3);
        count += got;
    } while (got > 0);
    return count;
}

FOLDER_TEST(undamaged_rows_can_be_salvaged)
{
    static const struct {
        const char *lines;
        size_t kept, left_out;
        const char *warning;
    } cases[] = {
        {"1,1\n2\n3,3\n", 2, 1,
            "line 5 has 1 cells where the header has 2. 1 row was skipped, 2 were kept."},
        {"x,1\n2,2\n,3\n4,4\n5", 2, 3,
            "line 4: \"x\" is not a number (column timestamp). 3 rows were skipped, 2 were kept."},
        {"1,1\n\"2,2\n3,3\n4,4\"\n5,5\n6,6\n", 4, 2,
            "line 5 has 1 cells where the header has 2. 2 rows were skipped, 4 were kept."},
        {"1,1\n2,-2\n3,3\n", 2, 1,
            "line 5: \"-2\" is not a possible value (column main_ram). 1 row was skipped, 2 were "
            "kept."},
        {"1,1\n2\n", 1, 1, "1 row was skipped, 1 was kept."},
        {"1,1\n2,2", 1, 0,
            "the last line is truncated (it has no line end) and was skipped; 1 row was kept."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct str text = {0};
        struct tracking_reader *reader;
        struct tracking_row rows[8];
        str_printf(&text, STATIC_LINES "timestamp,main_ram\n%s", cases[i].lines);
        temporary_write(temporary("x.csv"), str_text(&text));
        assert_int_equal(salvage_rows(temporary("x.csv"), &reader, rows, 8), cases[i].kept);
        assert_int_equal(tracking_reader_rows_skipped(reader), cases[i].left_out);
        if (!strstr(tracking_reader_warning(reader), cases[i].warning))
            fail_msg("%s", tracking_reader_warning(reader));
        for (size_t row = 0; row < cases[i].kept; row++)
            assert_true(rows[row].timestamp == rows[row].values[GPUT_MAIN_RAM]);
        tracking_reader_close(reader);
        str_finish(&text);
    }
}

FOLDER_TEST(rows_of_a_damaged_database_can_be_salvaged)
{
    static struct tracking_row rows[5001];
    struct tracking_reader *reader;
    struct stat status;
    const char *path = make_database(STATIC_TABLE
        "CREATE TABLE data (timestamp, main_ram); INSERT INTO data VALUES (1, 1), (2, 'much'), "
        "(3, 3), (NULL, 4), (5, 5)");
    assert_int_equal(salvage_rows(path, &reader, rows, 8), 3);
    assert_non_null(strstr(tracking_reader_warning(reader),
        "row 2: \"much\" is not a number (column main_ram). 2 rows were skipped, 3 were kept."));
    tracking_reader_close(reader);
    path = make_database(STATIC_TABLE
        "CREATE TABLE data (timestamp, main_ram); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL "
        "SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO data SELECT i, i FROM n");
    assert_int_equal(stat(path, &status), 0);
    size_t before = 5000;
    for (off_t size = status.st_size - 4096; size >= 0; size -= 4096) {
        assert_int_equal(truncate(path, size), 0);
        size_t kept = salvage_rows(path, &reader, rows, 5001);
        assert_true(kept < before || (kept == 0 && before == 0));
        before = kept;
        for (size_t row = 0; row < kept; row++)
            assert_true(rows[row].timestamp == (double)row + 1);
        if (!reader)
            continue; /* no row can be reached */
        assert_non_null(strstr(tracking_reader_warning(reader), "The rest was skipped"));
        tracking_reader_close(reader);
    }
}

FOLDER_TEST(progress_ends_at_the_end)
{
    struct tracking_reader *reader = open_text(STATIC_LINES "timestamp,main_ram\n1,1\n2,2\n");
    struct tracking_row rows[8];
    uint64_t done, total;
    read_rows(reader, rows, 8);
    tracking_reader_progress(reader, &done, &total);
    assert_true(total > 0 && done == total);
    tracking_reader_close(reader);
}

/* ---- several threads ---- */

/* Rows of which some are not plain: a cell of two lines, of which one looks like a row. */
static void make_rows(struct str *text, uint32_t seed)
{
    str_clear(text);
    str_append(text, STATIC_LINES "timestamp,note,combined_ram,main_n_threads\n");
    for (uint32_t i = 0; text->length < 5000000; i++) {
        seed = seed * 1664525 + 1013904223;
        const char *end = seed >> 28 == 0 ? "\r\n" : "\n";
        str_printf(text, "%u.5,%s,%u.25,%u%s", i, seed % 5003 == 0 ? "\"a\n1,b,2,3\n\"" : "n",
            seed >> 12, seed >> 30, end);
        if (seed % 7001 == 0)
            str_append(text, "\n 7.5 ,,\"1\",\n");
    }
}

struct sum {
    uint64_t rows, hash;
    struct gput_error error;
    char warning[256];
};

static struct sum sum_up(const struct str *text, unsigned cores)
{
    struct sum sum = {0};
    struct tracking_reader *reader = open_text(str_text(text));
    struct tracking_row rows[700];
    size_t count;
    tracking_reader_use_cores(reader, cores);
    while (tracking_reader_next(reader, rows, 700, &count, &sum.error) == GPUT_OK && count > 0)
        for (size_t i = 0; i < count; i++, sum.rows++) {
            uint64_t bits[3];
            memcpy(bits, &rows[i].timestamp, 8);
            memcpy(bits + 1, rows[i].values + GPUT_COMBINED_RAM, 8);
            memcpy(bits + 2, rows[i].values + GPUT_MAIN_THREADS, 8);
            for (int j = 0; j < 3; j++)
                sum.hash = (sum.hash ^ bits[j]) * UINT64_C(0x9e3779b97f4a7c15);
        }
    const char *warning = tracking_reader_warning(reader);
    snprintf(sum.warning, sizeof sum.warning, "%s", warning ? warning : "");
    tracking_reader_close(reader);
    return sum;
}

static struct sum compare_cores(const struct str *text)
{
    static const unsigned cores[] = {2, 7};
    struct sum one = sum_up(text, 1);
    for (size_t i = 0; i < 2; i++) {
        struct sum several = sum_up(text, cores[i]);
        assert_int_equal(several.rows, one.rows);
        assert_int_equal(several.hash, one.hash);
        assert_string_equal(several.error.message, one.error.message);
        assert_string_equal(several.warning, one.warning);
    }
    return one;
}

/* By all threads of this process so far; 0: the kernel does not say. */
static uint64_t bytes_read(void)
{
    unsigned long long bytes = 0;
    FILE *file = fopen("/proc/self/io", "re");
    if (file && fscanf(file, "rchar: %llu", &bytes) != 1)
        bytes = 0;
    if (file)
        fclose(file);
    return bytes;
}

FOLDER_TEST(what_several_threads_have_read_is_not_read_again)
{
    struct str text = {0};
    uint64_t before = bytes_read();
    if (before == 0)
        SKIP("there is no /proc/self/io");
    str_append(&text, STATIC_LINES "timestamp,combined_ram,main_n_threads\n");
    for (uint32_t i = 0; text.length < 5000000; i++)
        str_printf(&text, "%u.5,%u.25,%u\n", i, i % 4099, i % 7);
    before = bytes_read();
    assert_true(sum_up(&text, 2).rows > 100000);
    /* Each window reads a sixteenth of the next one. */
    assert_true(bytes_read() - before < text.length / 4 * 5);
    str_finish(&text);
}

FOLDER_TEST(several_threads_read_what_one_does)
{
    struct str text = {0};
    make_rows(&text, 1);
    struct sum whole = compare_cores(&text);
    assert_true(whole.rows > 100000);
    assert_string_equal(whole.error.message, "");
    text.data[text.length -= 5] = '\0';
    assert_non_null(strstr(compare_cores(&text).warning, "the last line is truncated"));
    for (uint32_t seed = 2; seed < 4; seed++) {
        make_rows(&text, seed);
        text.data[3000000 + seed * 100003] = seed == 2 ? '"' : 'x';
        assert_true(compare_cores(&text).rows < whole.rows);
    }
    str_finish(&text);
}

RUN_TESTS(temporary_create, temporary_remove)
