#include "files/temporary_database.h"
#include "files/tracking/tracking_reader.h"

#include <dirent.h>
#include <unistd.h>

#define CAPACITY 700

/* A table of that form, with rows that are selected from the numbers 1 to 30,000. */
#define TABLE(form, selected)                                                                      \
    "CREATE TABLE static_data (ram_unit, gpu_ram_unit, time_unit); INSERT INTO static_data "       \
    "VALUES ('bytes', 'bytes', 'hours'); CREATE TABLE data (" form "; WITH RECURSIVE n(i) AS "     \
    "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) INSERT INTO data SELECT " selected   \
    " FROM n;"
#define PLAIN TABLE("timestamp, combined_ram, note)", "i, i * 0.37, 'x'")

static const char *const databases[] = {
    PLAIN,
    /* gaps between row ids, and some below one */
    PLAIN "DELETE FROM data WHERE rowid BETWEEN 2000 AND 9000 OR rowid % 7 = 3;"
          "INSERT INTO data (rowid, timestamp) VALUES (-5, 1), (0, 3), (31000, 5)",
    /* many below one */
    PLAIN "UPDATE data SET rowid = rowid - 5000",
    /* texts that are numbers, and empty cells */
    TABLE(
        "timestamp, combined_ram, note)", "i, CASE i % 3 WHEN 0 THEN '1e3' WHEN 1 THEN i END, 'x'"),
    /* what is not a number, and a row without a time */
    TABLE("timestamp, combined_ram, note)", "i, CASE i WHEN 25001 THEN 'none' ELSE i END, 'x'"),
    TABLE("timestamp, combined_ram, note)", "CASE i WHEN 12345 THEN NULL ELSE i END, i, 'x'"),
    /* no row ids, others of that name, and ids that are far apart */
    TABLE("timestamp PRIMARY KEY, combined_ram, note) WITHOUT ROWID", "30000 - i, i, 'x'"),
    TABLE("timestamp, combined_ram, rowid)", "i, i, 30000 - i"),
    TABLE("timestamp, combined_ram, id INTEGER PRIMARY KEY)", "i, i, i * 1000000"),
};

/* 0 cores: row by row, without ranges. */
static struct tracking_reader *open_reader(const char *path, unsigned cores)
{
    struct tracking_reader *reader;
    assert_int_equal(tracking_reader_open(path, &reader, NULL), GPUT_OK);
    tracking_reader_use_cores(reader, cores);
    return reader;
}

struct reading {
    struct tracking_row rows[CAPACITY];
    size_t count;
    struct gput_error error;
};

static int read_next(struct tracking_reader *reader, struct reading *reading)
{
    return tracking_reader_next(reader, reading->rows, CAPACITY, &reading->count, &reading->error);
}

/* Returns how many rows there are before the end, or before a damaged one. */
static size_t compare_cores(const char *path, unsigned cores)
{
    static struct reading one, several;
    struct tracking_reader *first = open_reader(path, 0), *second = open_reader(path, cores);
    size_t total = 0;
    int code;
    one.error.message[0] = several.error.message[0] = '\0';
    do {
        code = read_next(first, &one);
        assert_int_equal(read_next(second, &several), code);
        assert_int_equal(several.count, one.count);
        assert_memory_equal(several.rows, one.rows, one.count * sizeof one.rows[0]);
        total += one.count;
    } while (code == GPUT_OK && one.count > 0);
    assert_string_equal(several.error.message, one.error.message);
    tracking_reader_close(first);
    tracking_reader_close(second);
    return total;
}

FOLDER_TEST(any_number_of_threads_reads_the_same)
{
    for (size_t i = 0; i < sizeof databases / sizeof databases[0]; i++) {
        const char *path = make_database(databases[i]);
        assert_true(compare_cores(path, 1) > 10000);
        compare_cores(path, 2);
        compare_cores(path, 5);
    }
}

FOLDER_TEST(a_damaged_database_is_refused_in_the_same_words)
{
    const char *path = make_database(databases[0]);
    FILE *file = fopen(path, "r+e");
    assert_non_null(file);
    assert_int_equal(fseek(file, 300 * 1024, SEEK_SET), 0);
    for (int i = 0; i < 4096; i++)
        fputc(0xa5, file);
    assert_int_equal(fclose(file), 0);
    assert_true(compare_cores(path, 3) < 30000);
}

FOLDER_TEST(rows_that_are_written_meanwhile_follow)
{
    const char *path = make_database(databases[0]);
    static struct reading reading;
    sqlite3 *database;
    double last = 0;
    /* A log, so that writing need not wait for those that read. */
    assert_int_equal(sqlite_file_create(path, true, &database, NULL), GPUT_OK);
    struct tracking_reader *reader = open_reader(path, 3);
    assert_int_equal(
        sqlite_file_run(database,
            "INSERT INTO data SELECT timestamp + 30000, 1, 'x' FROM data LIMIT 500", path, NULL),
        GPUT_OK);
    do {
        assert_int_equal(read_next(reader, &reading), GPUT_OK);
        for (size_t i = 0; i < reading.count; i++)
            assert_true(reading.rows[i].timestamp == ++last);
    } while (reading.count > 0);
    assert_true(last == 30500);
    tracking_reader_close(reader);
    assert_int_equal(sqlite_file_finish(database, path, NULL), GPUT_OK);
}

/* Entries of the folder; 0: there is none. */
static size_t count_threads(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* The kernel lists a thread a moment longer than others can wait for it. */
static void await_threads(size_t count)
{
    for (int i = 0; i < 60000 && count_threads() != count; i++)
        usleep(1000);
    assert_int_equal(count_threads(), count);
}

static size_t threads_at_start;

/* Of 30,000 rows seven threads have at least 4,096 each. */
FOLDER_TEST(a_database_has_the_threads_that_are_wanted_and_have_enough_to_do)
{
    static const unsigned cores[] = {1, 4, 500}, threads[] = {1, 4, 7};
    static struct reading reading;
    if (threads_at_start == 0)
        SKIP("the threads of this process cannot be counted");
    const char *path = make_database(databases[0]);
    for (size_t i = 0; i < 3; i++) {
        struct tracking_reader *reader = open_reader(path, cores[i]);
        assert_int_equal(read_next(reader, &reading), GPUT_OK);
        await_threads(threads_at_start + threads[i] - 1);
        tracking_reader_close(reader);
    }
}

TEST_FILE
{
    threads_at_start = count_threads();
    return run_listed_tests(temporary_create, temporary_remove);
}
