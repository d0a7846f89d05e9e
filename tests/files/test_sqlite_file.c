#include "base/clock.h"
#include "files/sqlite_file.h"
#include "temporary.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int64_t count_rows(const char *path)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite_file_open(path, &database, NULL), GPUT_OK);
    assert_int_equal(
        sqlite_file_prepare(database, "SELECT count(*) FROM t", path, &statement, NULL), GPUT_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t count = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return count;
}

static sqlite3 *create_with_row(const char *path)
{
    sqlite3 *database;
    assert_int_equal(sqlite_file_create(path, true, &database, NULL), GPUT_OK);
    assert_int_equal(sqlite_file_run(database, "CREATE TABLE t (a)", path, NULL), GPUT_OK);
    assert_int_equal(sqlite_file_run(database, "INSERT INTO t VALUES (1)", path, NULL), GPUT_OK);
    return database;
}

static void assert_is_refused(sqlite3 *database)
{
    struct gput_error error;
    assert_int_equal(
        sqlite_file_run(database, "INSERT INTO t VALUES (4)", "x.sqlite", &error), GPUT_ERROR_IO);
    assert_non_null(strstr(error.message, "x.sqlite-shm"));
}

/* Copies the whole log to the database: at the next commit SQLite begins the log again. */
static void copy_log(sqlite3 *database)
{
    int pages, copied;
    assert_int_equal(
        sqlite3_wal_checkpoint_v2(database, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied),
        SQLITE_OK);
    assert_int_equal(copied, pages);
}

/*
 * The log has pages that the database lacks, of which the index alone says where they are. Where
 * the log was copied before the transaction, SQLite would look for a valid index for 10 s at the
 * commit.
 *
 * This is one test and the first one: cmocka replaces the handler of SIGBUS for each test, and ours
 * is set once.
 */
FOLDER_TEST(a_lost_index_loses_no_page)
{
    const off_t lengths[] = {0, 4096, 20000};
    const char *path = temporary("x.sqlite"), *index = temporary("x.sqlite-shm");
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof lengths[0]; i++) {
        sqlite3 *database = create_with_row(path);
        sqlite_file_run(database, "INSERT INTO t VALUES (zeroblob(50000))", path, NULL);
        assert_false(sqlite_file_has_lost_index(database));
        if (i % 2)
            copy_log(database);
        assert_int_equal(
            sqlite_file_run(database, "BEGIN; INSERT INTO t VALUES (3)", path, NULL), GPUT_OK);
        assert_int_equal(truncate(index, lengths[i / 2]), 0);
        int64_t begin = clock_monotonic_ns();
        assert_int_equal(sqlite_file_run(database, "COMMIT", path, NULL), GPUT_OK);
        assert_true(clock_monotonic_ns() - begin < INT64_C(2000000000));
        assert_true(sqlite_file_has_lost_index(database));
        assert_is_refused(database);
        assert_int_equal(
            i == 1 ? sqlite_file_finish(database, path, NULL) : sqlite_file_close(database),
            i == 1 ? GPUT_OK : SQLITE_OK);
        assert_int_equal(sqlite_file_create(path, true, &database, NULL), GPUT_OK);
        assert_false(sqlite_file_has_lost_index(database));
        assert_false(sqlite_file_is_damaged(database));
        assert_int_equal(sqlite_file_finish(database, path, NULL), GPUT_OK);
        assert_int_equal(count_rows(path), 3);
        assert_int_equal(sqlite_file_remove(path, NULL), GPUT_OK);
    }
}

FOLDER_TEST(a_finished_database_is_one_file)
{
    const char *path = temporary("x.sqlite");
    sqlite3 *database = create_with_row(path);
    bool found;
    assert_int_equal(sqlite_file_find_table(database, "t", &found, NULL), GPUT_OK);
    assert_true(found);
    assert_int_equal(sqlite_file_find_table(database, "u", &found, NULL), GPUT_OK);
    assert_false(found);
    assert_int_equal(sqlite_file_finish(database, path, NULL), GPUT_OK);
    assert_int_equal(temporary_count(), 1);
    assert_int_equal(count_rows(path), 1);
    assert_int_equal(temporary_count(), 1);
}

/* Leaves the file like a writer that was killed after its last commit. */
static void die_after_commit(const char *path)
{
    pid_t child = fork();
    if (child == 0) {
        umask(022);
        create_with_row(path);
        raise(SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
}

FOLDER_TEST(what_a_killed_writer_committed_is_read)
{
    const char *path = temporary("x.sqlite");
    die_after_commit(path);
    assert_int_equal(count_rows(path), 1);
}

/* Opens it as a user who may read the file and its log, but not write to their folder. */
static int open_as_a_guest(const char *path, const char *folder)
{
    pid_t child = fork();
    if (child == 0) {
        chmod(folder, 0555);
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(99);
        sqlite3 *database;
        struct gput_error error;
        int code = sqlite_file_open(path, &database, &error);
        bool says = code == GPUT_OK || strstr(error.message, "/x.sqlite-wal");
        sqlite3_close(database);
        _exit(says ? code : 98);
    }
    int status;
    waitpid(child, &status, 0);
    chmod(folder, 0700);
    return WEXITSTATUS(status);
}

FOLDER_TEST(a_log_that_cannot_be_recovered_is_not_ignored)
{
    const char *path = temporary("x.sqlite");
    die_after_commit(path);
    assert_int_equal(unlink(temporary("x.sqlite-shm")), 0);
    int code = open_as_a_guest(path, temporary("."));
    if (code == 99)
        SKIP("cannot become another user");
    assert_int_equal(code, GPUT_ERROR_PERMISSION);
    assert_int_equal(count_rows(path), 1); /* recovers the log */
    assert_int_equal(open_as_a_guest(path, temporary(".")), GPUT_OK);
}

FOLDER_TEST(finishing_with_a_reader_loses_nothing)
{
    const char *path = temporary("x.sqlite");
    sqlite3 *writer = create_with_row(path), *reader;
    assert_int_equal(sqlite_file_open(path, &reader, NULL), GPUT_OK);
    assert_int_equal(sqlite_file_finish(writer, path, NULL), GPUT_OK);
    sqlite3_close(reader);
    assert_int_equal(count_rows(path), 1);
}

/* A process that reads and closes the database once something is written to `*fd`. It is forked
 * before there is one: SQLite's state is not for children. */
static pid_t start_reader(const char *path, int *fd)
{
    int pipe_fds[2];
    char byte;
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t child = fork();
    if (child == 0) {
        bool may_read = read(pipe_fds[0], &byte, 1) == 1;
        _exit(may_read && count_rows(path) == 1 ? 0 : 1);
    }
    close(pipe_fds[0]);
    *fd = pipe_fds[1];
    return child;
}

FOLDER_TEST(a_failed_write_releases_no_lock)
{
    const char *path = temporary("x.sqlite");
    struct gput_error error;
    int fd, status;
    pid_t reader = start_reader(path, &fd);
    sqlite3 *writer = create_with_row(path), *other;
    assert_int_equal(sqlite_file_create(path, true, &other, NULL), GPUT_OK);
    sqlite3_busy_timeout(other, 0);
    assert_int_equal(sqlite_file_run(writer, "BEGIN IMMEDIATE", path, NULL), GPUT_OK);
    assert_int_equal(sqlite_file_run(other, "BEGIN IMMEDIATE", path, &error), GPUT_ERROR_IO);

    /* The last connection that closes a database removes its log, by the locks that it sees. */
    assert_int_equal(write(fd, "", 1), 1);
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
    assert_int_equal(access(temporary("x.sqlite-wal"), F_OK), 0);
    assert_int_equal(sqlite_file_run(writer, "ROLLBACK", path, NULL), GPUT_OK);
    sqlite_file_close(other);
    assert_int_equal(sqlite_file_finish(writer, path, NULL), GPUT_OK);
    close(fd);
}

FOLDER_TEST(finishing_a_file_that_was_replaced_leaves_the_new_one_alone)
{
    const char *path = temporary("x.sqlite");
    sqlite3 *first = create_with_row(path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(sqlite_file_remove(path, NULL), GPUT_OK); /* the log next to it */
    sqlite3 *second = create_with_row(path);
    assert_int_equal(sqlite_file_finish(first, path, NULL), GPUT_OK);
    assert_int_equal(sqlite_file_run(second, "INSERT INTO t VALUES (2)", path, NULL), GPUT_OK);
    assert_int_equal(count_rows(path), 2);
    assert_int_equal(sqlite_file_finish(second, path, NULL), GPUT_OK);
    assert_int_equal(temporary_count(), 1);
    assert_int_equal(count_rows(path), 2);
}

FOLDER_TEST(other_files_are_refused)
{
    sqlite3 *database;
    struct gput_error error = {0};
    const char *path = temporary("x.sqlite");
    assert_int_equal(sqlite_file_open(path, &database, &error), GPUT_ERROR_NOT_FOUND);
    assert_null(database);
    temporary_write(path, "this is text and no database, long enough to have a header of 100 bytes"
                          " .............................................................");
    assert_int_equal(sqlite_file_open(path, &database, &error), GPUT_ERROR_FORMAT);
    assert_null(database);
    assert_non_null(strstr(error.message, path));
}

FOLDER_TEST(a_missing_folder_is_an_error)
{
    sqlite3 *database;
    struct gput_error error = {0};
    assert_int_not_equal(
        sqlite_file_create(temporary("none/x.sqlite"), true, &database, &error), GPUT_OK);
    assert_null(database);
    assert_non_null(strstr(error.message, "none/x.sqlite"));
}

FOLDER_TEST(removing_includes_the_journals)
{
    const char *path = temporary("x.sqlite");
    die_after_commit(path);
    assert_true(temporary_count() > 1);
    assert_int_equal(sqlite_file_remove(path, NULL), GPUT_OK);
    assert_int_equal(temporary_count(), 0);
    assert_int_equal(sqlite_file_remove(path, NULL), GPUT_OK);
}

FOLDER_TEST(names_are_quoted)
{
    struct str sql = {0};
    sqlite_file_append_name(&sql, "a \"b\"");
    assert_string_equal(str_text(&sql), "\"a \"\"b\"\"\"");
    str_finish(&sql);
}

RUN_TESTS(temporary_create, temporary_remove)
