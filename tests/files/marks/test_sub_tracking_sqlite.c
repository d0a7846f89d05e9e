#include "content.h"
#include "files/sqlite_file.h"

#include <sqlite3.h>
#include <sys/stat.h>

static void make_database(const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite_file_open_shared(temporary("x.sqlite"), &database, NULL), GPUT_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

FOLDER_TEST(databases_of_the_old_tool_are_read)
{
    make_database(
        "CREATE TABLE data (process_id BIGINT, code_block_name TEXT, position BIGINT, "
        "timestamp FLOAT);"
        "INSERT INTO data VALUES (5, 'X', 0, 1745449609.7528222), (5, 'X', 1, 1745449610)");
    struct content content;
    assert_int_equal(read_file(temporary("x.sqlite"), &content), GPUT_OK);
    assert_int_equal(content.count, 2);
    assert_int_equal(content.rows[0].timestamp_ns, INT64_C(1745449609752822200));
    assert_true(content.rows[1].timestamp == 1745449610.0);
    forget(&content);
}

FOLDER_TEST(errors_in_a_database_are_named)
{
    struct content content;
    make_database("CREATE TABLE other (a)");
    assert_int_equal(read_file(temporary("x.sqlite"), &content), GPUT_ERROR_FORMAT);
    assert_non_null(strstr(content.error.message, "it has no table \"data\"."));
    forget(&content);
    make_database("CREATE TABLE data (process_id, code_block_name, position, timestamp);"
                  "INSERT INTO data VALUES (5, 'X', 0, 1.0), (5, 'X', 7, 1.0)");
    assert_int_equal(read_file(temporary("x.sqlite"), &content), GPUT_ERROR_FORMAT);
    assert_int_equal(content.count, 0);
    assert_non_null(strstr(content.error.message, "row 2: its position is neither"));
    forget(&content);
    temporary_write(temporary("x.sqlite"), "no database at all, only a text that says so");
    assert_int_equal(read_file(temporary("x.sqlite"), &content), GPUT_ERROR_FORMAT);
    forget(&content);
}

/* Reads a file to its end or to an error, and counts its rows. */
static int count_rows(const char *path, size_t *count, struct gput_error *error)
{
    struct sub_tracking_reader *reader;
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct sub_tracking_mark rows[64];
    size_t got = 1;
    *count = 0;
    int code = sub_tracking_reader_open(path, names, &reader, error);
    while (code == GPUT_OK && got > 0) {
        code = sub_tracking_reader_next(reader, rows, 64, &got, error);
        *count += got;
    }
    sub_tracking_reader_close(reader);
    sub_tracking_names_destroy(names);
    return code;
}

/* 500 times the rows of fill_rows(), over some tens of pages; returns how many they are. */
static size_t write_pages(const char *path)
{
    struct content written;
    struct sub_tracking_writer *writer;
    fill_rows(&written);
    assert_int_equal(sub_tracking_writer_create(path, 0, &writer, NULL), GPUT_OK);
    for (int i = 0; i < 500; i++)
        assert_int_equal(
            sub_tracking_writer_add(writer, written.rows, written.count, written.names, NULL),
            GPUT_OK);
    assert_int_equal(sub_tracking_writer_finish(writer, NULL), GPUT_OK);
    size_t count = 500 * written.count;
    forget(&written);
    return count;
}

/* The rows of a file of which pages are missing: it says so, or is refused by its name. */
static size_t count_left_rows(const char *path)
{
    struct sub_tracking_reader *reader;
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct sub_tracking_mark rows[64];
    struct gput_error error = {0};
    size_t got = 1, count = 0;
    int code = sub_tracking_reader_open(path, names, &reader, &error);
    while (code == GPUT_OK && got > 0) {
        code = sub_tracking_reader_next(reader, rows, 64, &got, &error);
        count += got;
    }
    if (code == GPUT_OK) {
        assert_non_null(strstr(sub_tracking_reader_warning(reader), path));
        assert_true(sub_tracking_reader_lost(reader)->at_least);
    } else {
        assert_int_equal(code, GPUT_ERROR_FORMAT);
        assert_non_null(strstr(error.message, path));
    }
    sub_tracking_reader_close(reader);
    sub_tracking_names_destroy(names);
    return count;
}

FOLDER_TEST(a_database_truncated_anywhere_says_so_and_has_what_is_left)
{
    struct stat status;
    const char *path = temporary("x.sqlite");
    size_t before = write_pages(path), count;
    struct gput_error error;
    assert_int_equal(count_rows(path, &count, &error), GPUT_OK);
    assert_int_equal(count, before);
    assert_int_equal(stat(path, &status), 0);
    for (off_t size = status.st_size - 2048; size > 0; size -= 2048) { /* within pages, too */
        assert_int_equal(truncate(path, size), 0);
        count = count_left_rows(path);
        assert_true(count <= before);
        assert_true(count > 0 || size < 3 * 4096);
        before = count;
    }
}

/* As after a truncation while it was written: the program made the file as long as it was. */
FOLDER_TEST(a_database_with_a_gap_has_the_rows_on_both_sides)
{
    const char *path = temporary("x.sqlite");
    size_t written = write_pages(path);
    FILE *file = fopen(path, "r+");
    char zeros[2 * 4096] = {0};
    assert_int_equal(fseek(file, 5 * 4096 + 1000, SEEK_SET), 0);
    assert_int_equal(fwrite(zeros, 1, sizeof zeros, file), sizeof zeros);
    fclose(file);
    size_t left = count_left_rows(path);
    assert_in_range(left, written * 2 / 3, written - 1);
}

FOLDER_TEST(rows_of_a_truncated_database_can_be_salvaged)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    struct stat status;
    const char *path = temporary("x.sqlite");
    size_t count;
    write_pages(path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(truncate(path, status.st_size - 4096), 0);
    struct sub_tracking_reader *reader = salvage(path, names, &count);
    assert_true(count > 1000 && count < 2000);
    assert_non_null(
        strstr(sub_tracking_reader_warning(reader), "malformed. Unreadable parts were skipped"));
    sub_tracking_reader_close(reader);
    sub_tracking_names_destroy(names);
}

FOLDER_TEST(a_database_without_commits_has_no_marks)
{
    struct content content;
    sqlite3 *database;
    assert_int_equal(sqlite_file_open_shared(temporary("log.sqlite"), &database, NULL), GPUT_OK);
    assert_int_equal(
        sqlite3_exec(database, "PRAGMA journal_mode=WAL", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
    assert_int_equal(read_file(temporary("log.sqlite"), &content), GPUT_OK);
    assert_int_equal(content.count, 0);
    assert_non_null(strstr(content.warning, "it has no marks"));
    forget(&content);
}

RUN_TESTS(temporary_create, temporary_remove)
