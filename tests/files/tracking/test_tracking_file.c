#include "base/table.h"
#include "files/sqlite_file.h"
#include "files/temporary.h"
#include "files/tracking/tracking_file.h"
#include "files/tracking/tracking_reader.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SECOND INT64_C(1000000000)

#define FORMATS 3
static const char *const names[FORMATS] = {"x.csv", "x.sqlite", "x.plain.csv"};

static const struct gput_static_data static_data = {
    .ram_unit = GPUT_RAM_UNIT_GIGABYTES,
    .gpu_ram_unit = GPUT_RAM_UNIT_MEGABYTES,
    .time_unit = GPUT_TIME_UNIT_HOURS,
    .ram_system_capacity_bytes = 67254149120.0,
    .gpu_ram_system_capacity_bytes = 16376e6,
    .system_core_count = 12,
    .n_expected_cores = 4,
    .system_gpu_count = 2,
    .n_expected_gpus = 1,
};

static struct gput_sample make_sample(int number)
{
    struct gput_sample sample = {.time_ns = 1745449609982110456 + number * SECOND};
    for (int i = 0; i < GPUT_MEASUREMENT_COUNT; i++)
        sample.values[i] = NAN;
    sample.values[GPUT_MAIN_RAM] = 4096.0 * (number + 1);
    sample.values[GPUT_SYSTEM_RAM] = 55478738944.0;
    sample.values[GPUT_MAIN_GPU_RAM] = 512e6;
    sample.values[GPUT_MAIN_THREADS] = 15;
    sample.values[GPUT_CPU_MAIN_SUM] = 98.25;
    return sample;
}

static struct tracking_file *create(const char *path)
{
    struct gput_error error = {0};
    struct tracking_file *file;
    if (tracking_file_create(path, &static_data, false, &file, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    return file;
}

static void write_rows(struct tracking_file *file, int count, int64_t interval_ns)
{
    for (int i = 0; i < count; i++) {
        struct gput_sample sample = make_sample(i);
        assert_int_equal(
            tracking_file_write_row(file, &sample, (i + 1) * interval_ns, NULL), GPUT_OK);
    }
}

/* How many rows the file has, and that they are the first of make_sample(). */
static size_t count_rows(const char *path)
{
    struct gput_error error = {0};
    struct tracking_reader *reader;
    struct tracking_row rows[7];
    size_t total = 0, count;
    if (tracking_reader_open(path, &reader, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    do {
        assert_int_equal(tracking_reader_next(reader, rows, 7, &count, NULL), GPUT_OK);
        for (size_t i = 0; i < count; i++, total++) {
            assert_true(rows[i].values[GPUT_MAIN_RAM] == 4096.0 * (double)(total + 1) * 1e-9);
            assert_true(isnan(rows[i].values[GPUT_DESCENDANTS_RAM]));
        }
    } while (count);
    assert_null(tracking_reader_warning(reader));
    tracking_reader_close(reader);
    return total;
}

static void assert_content(const char *path, const char *expected)
{
    char *text = temporary_read(path);
    assert_string_equal(text, expected);
    free(text);
}

FOLDER_TEST(csv_is_as_the_old_tool_writes_it)
{
    const char *path = temporary("x.csv");
    struct tracking_file *file = create(path);
    write_rows(file, 1, SECOND);
    char *text = temporary_read(path); /* on disk before the file is finished */
    assert_string_equal(text,
        "ram_unit,gpu_ram_unit,time_unit,ram_system_capacity,gpu_ram_system_capacity,"
        "system_core_count,n_expected_cores,system_gpu_count,n_expected_gpus\n"
        "gigabytes,megabytes,hours,67.25414912000001,16376.0,12,4,2,1\n"
        "main_ram,descendants_ram,combined_ram,system_ram,main_gpu_ram,descendants_gpu_ram,"
        "combined_gpu_ram,system_gpu_ram,gpu_sum_utilization_percent,"
        "gpu_hardware_utilization_percent,main_n_threads,descendants_n_threads,combined_n_threads,"
        "cpu_system_sum_utilization_percent,cpu_system_hardware_utilization_percent,"
        "cpu_main_sum_utilization_percent,cpu_main_hardware_utilization_percent,"
        "cpu_descendants_sum_utilization_percent,cpu_descendants_hardware_utilization_percent,"
        "cpu_combined_sum_utilization_percent,cpu_combined_hardware_utilization_percent,"
        "timestamp,combined_swapped_ram,time_computing_percent,time_cpu_wait_percent,time_quota_"
        "percent,"
        "time_storage_percent,time_paging_percent,time_stopped_percent,time_pipe_percent,"
        "time_socket_percent,time_lock_percent,time_poll_percent,time_child_percent,"
        "time_timer_percent,time_gpu_percent,time_other_percent,time_unknown_percent\n"
        "4.096e-06,,,55.47873894400001,512.0,,,,,,15,,,,,98.25,,,,,,"
        "1745449609.98211,,,,,,,,,,,,,,,,\n");
    free(text);
    assert_int_equal(tracking_file_finish(file, NULL, NULL), GPUT_OK);
}

FOLDER_TEST(plain_csv_begins_with_the_header_of_the_rows)
{
    struct gput_error error = {0};
    struct tracking_reader *reader;
    const char *path = temporary("x.plain.csv");
    struct tracking_file *file = create(path);
    write_rows(file, 1, SECOND);
    struct gput_static_data changed = static_data;
    changed.n_expected_cores = 7;
    assert_int_equal(tracking_file_set_static_data(file, &changed, NULL), GPUT_OK);
    assert_int_equal(tracking_file_finish(file, NULL, NULL), GPUT_OK);
    char *text = temporary_read(path);
    assert_memory_equal(text, "main_ram,descendants_ram,", 25);
    assert_string_equal(strchr(text, '\n') + 1, "4.096e-06,,,55.47873894400001,512.0,,,,,,15,,,,,"
                                                "98.25,,,,,,1745449609.98211,,,,,,,,,,,,,,,,\n");
    free(text);

    assert_int_equal(tracking_reader_open(path, &reader, NULL), GPUT_OK);
    const struct gput_static_data *read = tracking_reader_static_data(reader);
    assert_int_equal(read->ram_unit, GPUT_RAM_UNIT_GIGABYTES);
    assert_int_equal(read->gpu_ram_unit, GPUT_RAM_UNIT_MEGABYTES);
    assert_true(fabs(read->ram_system_capacity_bytes - 67254149120.0) < 1);
    assert_int_equal(read->n_expected_cores, 7);
    tracking_reader_close(reader);

    temporary_write(temporary("x.plain.csv.session.json"), "{\"tracking_file\": 1}");
    assert_int_equal(tracking_reader_open(path, &reader, &error), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(error.message, "x.plain.csv.session.json, which has its units"));
}

FOLDER_TEST(a_plain_file_replaces_nothing_of_others_next_to_it)
{
    struct tracking_file *file;
    struct gput_error error = {0};
    temporary_write(temporary("x.plain.csv.session.json"), "{\"mine\": 1}");
    assert_int_equal(
        tracking_file_create(temporary("x.plain.csv"), &static_data, true, &file, &error),
        GPUT_ERROR_EXISTS);
    assert_int_equal(temporary_count(), 1);
}

static void assert_sql(sqlite3 *database, const char *sql, const char *expected)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite_file_prepare(database, sql, "x", &statement, NULL), GPUT_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_string_equal((const char *)sqlite3_column_text(statement, 0), expected);
    sqlite3_finalize(statement);
}

FOLDER_TEST(sqlite_has_the_tables_of_the_old_tool)
{
    const char *path = temporary("x.sqlite");
    struct tracking_file *file = create(path);
    write_rows(file, 3, SECOND);
    assert_int_equal(tracking_file_finish(file, NULL, NULL), GPUT_OK);
    assert_int_equal(temporary_count(), 1); /* no journal is left */

    sqlite3 *database;
    assert_int_equal(sqlite_file_open(path, &database, NULL), GPUT_OK);
    assert_sql(database, "PRAGMA journal_mode", "delete");
    assert_sql(database, "SELECT count(*) FROM static_data", "1");
    assert_sql(database, "SELECT count(*) FROM data", "3");
    assert_sql(database,
        "SELECT typeof(ram_unit) || typeof(ram_system_capacity) || "
        "typeof(system_core_count) FROM static_data",
        "textrealinteger");
    assert_sql(database,
        "SELECT typeof(main_ram) || typeof(descendants_ram) || "
        "typeof(main_n_threads) || typeof(timestamp) FROM data",
        "realnullintegerreal");
    assert_sql(database, "SELECT main_n_threads FROM data", "15");
    assert_sql(database, "SELECT timestamp = 1745449609.98211 FROM data", "1");
    sqlite3_close(database);
}

FOLDER_TEST(both_formats_read_back_the_same)
{
    for (size_t i = 0; i < FORMATS; i++) {
        const char *path = temporary(names[i]);
        struct tracking_file *file = create(path);
        uint64_t lost = 99;
        write_rows(file, 1000, SECOND / 100);
        assert_int_equal(tracking_file_finish(file, &lost, NULL), GPUT_OK);
        assert_int_equal(lost, 0);
        assert_int_equal(count_rows(path), 1000);
    }
}

FOLDER_TEST(other_extensions_are_refused)
{
    struct gput_error error = {0};
    struct tracking_file *file;
    assert_int_equal(
        tracking_file_create("x.txt", &static_data, true, &file, &error), GPUT_ERROR_INVALID);
    assert_null(file);
    assert_string_equal(error.message, "Invalid file name: \"x.txt\". Valid file extensions are "
                                       "\".csv\" and \".sqlite\".");
    assert_int_equal(tracking_file_check_name("a.sqlite", NULL), GPUT_OK);
    assert_int_equal(tracking_file_check_name("csv", NULL), GPUT_ERROR_INVALID);
}

FOLDER_TEST(an_existing_file_is_only_overwritten_on_request)
{
    for (size_t i = 0; i < FORMATS; i++) {
        struct gput_error error = {0};
        struct tracking_file *file;
        char expected[8192];
        const char *path = temporary(names[i]);
        temporary_write(path, "precious");
        assert_int_equal(
            tracking_file_create(path, &static_data, false, &file, &error), GPUT_ERROR_EXISTS);
        snprintf(expected, sizeof expected, "File %s already exists.", path);
        assert_string_equal(error.message, expected);
        char *text = temporary_read(path);
        assert_string_equal(text, "precious");
        free(text);

        assert_int_equal(tracking_file_create(path, &static_data, true, &file, &error), GPUT_OK);
        write_rows(file, 2, SECOND);
        assert_int_equal(tracking_file_finish(file, NULL, NULL), GPUT_OK);
        assert_int_equal(count_rows(path), 2);
    }
}

FOLDER_TEST(a_missing_folder_is_named)
{
    static const char *const paths[FORMATS] = {"none/x.csv", "none/x.sqlite", "none/x.plain.csv"};
    for (size_t i = 0; i < FORMATS; i++) {
        struct gput_error error = {0};
        struct tracking_file *file;
        assert_int_not_equal(
            tracking_file_create(temporary(paths[i]), &static_data, false, &file, &error), GPUT_OK);
        assert_null(file);
        assert_non_null(strstr(error.message, paths[i]));
    }
}

/* Writes rows in a child that then dies as by kill -9. */
static void die_after_rows(const char *path, int count, int64_t interval_ns)
{
    pid_t child = fork();
    if (child == 0) {
        write_rows(create(path), count, interval_ns);
        raise(SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

FOLDER_TEST(every_row_of_a_killed_tracker_is_there)
{
    for (size_t i = 0; i < FORMATS; i++) {
        const char *path = temporary(names[i]);
        die_after_rows(path, 5, SECOND); /* rows that far apart do not wait for the next */
        assert_int_equal(count_rows(path), 5);
    }
}

FOLDER_TEST(a_killed_tracker_loses_at_most_a_second_of_sqlite_rows)
{
    const char *path = temporary("x.sqlite");
    die_after_rows(path, 95, SECOND / 10);
    size_t rows = count_rows(path);
    assert_true(rows >= 85 && rows <= 95);
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN); /* the caller sees to that */
}

FOLDER_TEST(a_full_disk_loses_whole_rows_and_says_how_many)
{
    for (size_t i = 0; i < FORMATS; i++) {
        const char *path = temporary(names[i]);
        struct gput_error error = {0};
        struct tracking_file *file = create(path);
        int failures = 0, written = 0;
        limit_file_size(i ? 40000 : 2000);
        while (failures < 3) { /* a failed row is written again */
            struct gput_sample sample = make_sample(written);
            int64_t now = (written + failures) * SECOND;
            if (tracking_file_write_row(file, &sample, now, &error) == GPUT_OK)
                written++;
            else
                failures++;
            assert_true(written < 10000);
        }
        limit_file_size(RLIM_INFINITY);
        assert_non_null(strstr(error.message, path));
        assert_int_equal(tracking_file_rows_lost(file), failures);

        struct gput_sample sample = make_sample(written);
        int64_t now = (written + failures) * SECOND;
        assert_int_equal(tracking_file_write_row(file, &sample, now, NULL), GPUT_OK);
        uint64_t lost;
        assert_int_equal(tracking_file_finish(file, &lost, NULL), GPUT_OK);
        assert_int_equal(lost, failures);
        assert_int_equal(count_rows(path), written + 1);
    }
}

/* What of them fits is there whole, and the others are counted. */
FOLDER_TEST(gathered_rows_are_written_together)
{
    const char *path = temporary("x.csv");
    struct gput_error error = {0};
    struct tracking_file *file = create(path);
    tracking_file_gather_rows(file);
    for (int i = 0; i < 1000; i++) {
        struct gput_sample sample = make_sample(i);
        assert_int_equal(tracking_file_write_row(file, &sample, i, NULL), GPUT_OK);
        if (i == 9)
            assert_int_equal(count_rows(path), 0);
    }
    assert_true(count_rows(path) > 0); /* not all are in memory */
    assert_int_equal(tracking_file_flush(file, NULL), GPUT_OK);
    assert_int_equal(count_rows(path), 1000);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    limit_file_size((rlim_t)info.st_size + 1000);
    for (int i = 0; i < 50; i++) {
        struct gput_sample sample = make_sample(1000 + i);
        assert_int_equal(tracking_file_write_row(file, &sample, i, NULL), GPUT_OK);
    }
    assert_int_equal(tracking_file_flush(file, &error), GPUT_ERROR_IO);
    assert_non_null(strstr(error.message, path));
    uint64_t lost = tracking_file_rows_lost(file);
    assert_true(lost > 0 && lost < 50);
    assert_int_equal(count_rows(path), 1050 - lost);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(tracking_file_flush(file, NULL), GPUT_OK); /* none wait */
    assert_int_equal(tracking_file_finish(file, &lost, NULL), GPUT_OK);
    assert_int_equal(count_rows(path), 1050 - lost);
}

FOLDER_TEST(further_tables_are_in_the_file_or_next_to_it)
{
    const struct tracking_column columns[] = {
        {"gpu", TRACKING_INTEGER}, {"watts", TRACKING_REAL}, {"name", TRACKING_TEXT}};
    const struct tracking_value first[] = {{.kind = TRACKING_INTEGER, .integer = 7},
        {.kind = TRACKING_REAL, .real = 250.5}, {.kind = TRACKING_TEXT, .text = "H200"}};
    const struct tracking_value second[] = {
        {.kind = TRACKING_NULL}, {.kind = TRACKING_REAL, .real = NAN}, {.kind = TRACKING_NULL}};
    struct gput_error error = {0};
    enum file_fate fate;
    unsigned table;

    struct tracking_file *file = create(temporary("x.csv"));
    assert_false(tracking_file_has_tables(file));
    tracking_file_gather_rows(file);
    assert_int_equal(tracking_file_add_table(file, "gpu_data", columns, 3, &table, NULL), GPUT_OK);
    assert_int_equal(tracking_file_write_table_row(file, table, first, 1, NULL), GPUT_OK);
    assert_content(temporary("x.csv.gpu_data"), "gpu,watts,name\n");
    assert_int_equal(tracking_file_flush(file, NULL), GPUT_OK);
    assert_content(temporary("x.csv.gpu_data"), "gpu,watts,name\n7,250.5,H200\n");
    assert_int_equal(tracking_file_write_table_row(file, table, second, 1, NULL), GPUT_OK);
    unlink(temporary("x.csv.gpu_data"));
    assert_int_equal(tracking_file_restore(file, &fate, NULL), GPUT_OK);
    assert_int_equal(tracking_file_finish(file, NULL, NULL), GPUT_OK);
    assert_content(temporary("x.csv.gpu_data"), "gpu,watts,name\n7,250.5,H200\n,,\n");

    const char *path = temporary("x.sqlite");
    file = create(path);
    assert_true(tracking_file_has_tables(file));
    write_rows(file, 3, SECOND / 10);
    assert_int_equal(tracking_file_add_table(file, "gpu_data", columns, 3, &table, NULL), GPUT_OK);
    assert_int_equal(tracking_file_write_table_row(file, table, first, SECOND, NULL), GPUT_OK);
    assert_int_equal(tracking_file_write_table_row(file, table, second, SECOND, NULL), GPUT_OK);
    assert_int_equal(
        tracking_file_add_table(file, "data", columns, 3, &table, &error), GPUT_ERROR_FORMAT);
    assert_int_equal(tracking_file_finish(file, NULL, NULL), GPUT_OK);
    assert_int_equal(count_rows(path), 3);

    sqlite3 *database;
    assert_int_equal(sqlite_file_open(path, &database, NULL), GPUT_OK);
    assert_sql(database, "SELECT gpu || '/' || watts || '/' || name FROM gpu_data", "7/250.5/H200");
    assert_sql(database, "SELECT count(*) FROM gpu_data WHERE gpu IS NULL AND watts IS NULL", "1");
    sqlite3_close(database);
}

/* A session replaces the tables of the one before in the same file, and no other file. */
FOLDER_TEST(tables_next_to_a_file_replace_only_tables)
{
    const struct tracking_column column = {"timestamp", TRACKING_REAL},
                                 other = {"a", TRACKING_REAL};
    const struct tracking_value one = tracking_real(1);
    const struct tracking_column columns[] = {column, other};
    const struct tracking_value values[] = {one, one};
    char path[4096], tracking_file[4096];
    struct gput_error error = {0};
    unsigned table;
    snprintf(path, sizeof path, "%s", temporary("x.csv.gpu_data"));
    snprintf(tracking_file, sizeof tracking_file, "%s", temporary("x.csv"));
    for (int i = 0; i < 2; i++) {
        struct tracking_file *file = create(tracking_file);
        assert_int_not_equal(access(path, F_OK), 0);
        assert_int_equal(
            tracking_file_add_table(file, "gpu_data", columns, 2, &table, NULL), GPUT_OK);
        assert_int_equal(tracking_file_write_table_row(file, table, values, 1, NULL), GPUT_OK);
        assert_int_equal(tracking_file_finish(file, NULL, NULL), GPUT_OK);
        assert_content(path, "timestamp,a\n1.0,1.0\n");
        unlink(tracking_file);
    }
    temporary_write(path, "my own notes\n");
    struct tracking_file *file = create(tracking_file);
    assert_int_equal(
        tracking_file_add_table(file, "gpu_data", columns, 2, &table, &error), GPUT_ERROR_EXISTS);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(tracking_file_finish(file, NULL, NULL), GPUT_OK);
    assert_content(path, "my own notes\n");
}

/* The table of GPUs is read back, up to a row that is not complete. */
FOLDER_TEST(a_table_next_to_a_file_is_read)
{
    const struct {
        const char *text;
        int code;
        size_t n_rows;
    } cases[] = {
        {"timestamp,uuid,ram_used\n1.0,GPU-1,2.5\n2.0,GPU-1,\n3.0,GP", GPUT_OK, 2},
        {"timestamp,uuid,ram_used\n", GPUT_OK, 0},
        {"timestamp,uuid,ram_used\n1.0,GPU-1\n", GPUT_ERROR_FORMAT, 0},
        {"timestamp,uuid,ram_used\n1.0,GPU-1,x\n", GPUT_ERROR_FORMAT, 0},
        {"my own notes\n", GPUT_ERROR_INVALID, 0},
    };
    struct tracking_file *file = create(temporary("x.csv"));
    write_rows(file, 1, SECOND);
    assert_int_equal(tracking_file_finish(file, NULL, NULL), GPUT_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gput_tables *building = tables_create(), *tables;
        struct tracking_reader *reader;
        temporary_write(temporary("x.csv.gpu_data"), cases[i].text);
        assert_int_equal(tracking_reader_open(temporary("x.csv"), &reader, NULL), GPUT_OK);
        assert_int_equal(tracking_reader_tables(reader, building, NULL), cases[i].code);
        tracking_reader_close(reader);
        assert_int_equal(tables_finish_building(building, &tables, NULL), GPUT_OK);
        const struct gput_table *table = gput_tables_get(tables, 0);
        if (cases[i].code == GPUT_OK) {
            assert_int_equal(gput_table_row_count(table), cases[i].n_rows);
            assert_string_equal(gput_table_column_unit(table, 2), "megabytes");
        }
        if (cases[i].n_rows > 0) {
            assert_string_equal(table_cells_text_of(table, 0, "uuid"), "GPU-1");
            assert_true(table_cells_number_of(table, 0, "ram_used") == 2.5);
            assert_true(gput_table_is_missing(table, 1, 2));
        }
        gput_tables_destroy(tables);
    }
}

/* Of a row that does not fit on the disk nothing stays, and it is counted. */
FOLDER_TEST(rows_of_tables_are_lost_whole)
{
    const struct tracking_column columns[] = {{"timestamp", TRACKING_REAL}, {"a", TRACKING_REAL}};
    const struct tracking_value values[] = {tracking_real(1), tracking_real(2)};
    const char *path = temporary("x.csv.gpu_data");
    uint64_t lost;
    unsigned table;
    struct tracking_file *file = create(temporary("x.csv"));
    assert_int_equal(tracking_file_add_table(file, "gpu_data", columns, 2, &table, NULL), GPUT_OK);
    limit_file_size(strlen("timestamp,a\n1.0,2.0\n1.0,"));
    assert_int_equal(tracking_file_write_table_row(file, table, values, 1, NULL), GPUT_OK);
    assert_int_not_equal(tracking_file_write_table_row(file, table, values, 1, NULL), GPUT_OK);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(tracking_file_write_table_row(file, table, values, 1, NULL), GPUT_OK);
    assert_int_equal(tracking_file_finish(file, &lost, NULL), GPUT_OK);
    assert_int_equal(lost, 1);
    assert_content(path, "timestamp,a\n1.0,2.0\n1.0,2.0\n");
}

FOLDER_TEST(tables_are_bounded)
{
    const struct tracking_column column = {"a", TRACKING_REAL};
    struct tracking_file *file = create(temporary("x.sqlite"));
    unsigned table;
    char name[] = "t0";
    for (int i = 0; i < TRACKING_FILE_MAX_TABLES; i++, name[1]++)
        assert_int_equal(tracking_file_add_table(file, name, &column, 1, &table, NULL), GPUT_OK);
    assert_int_equal(
        tracking_file_add_table(file, name, &column, 1, &table, NULL), GPUT_ERROR_STATE);
    tracking_file_finish(file, NULL, NULL);
    tracking_file_finish(NULL, NULL, NULL);
}

RUN_TESTS(temporary_create, temporary_remove)
