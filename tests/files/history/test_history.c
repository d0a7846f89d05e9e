/* What becomes of rows that wait while others read and forget. */
#include <gputracker/history.h>

#include "base/cleanup.h"
#include "base/str.h"
#include "files/history/history_folder.h"
#include "testing.h"

#include <gputracker/table.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static char folder[] = "/tmp/gput-history-XXXXXX";

/* What the library is told of file systems. */
static long kind_of_file_system;

int statfs(const char *path, struct statfs *info)
{
    struct stat there;
    memset(info, 0, sizeof *info);
    info->f_type = (__typeof__(info->f_type))kind_of_file_system;
    return stat(path, &there);
}

/* Writes the file of a row that waits in a history. */
static void add_waiting(const char *history, const char *name, const char *text)
{
    struct history_folder names;
    CLEANUP_STR struct str path = {0};
    assert_int_equal(history_folder_init(&names, history, NULL), GPUT_OK);
    assert_int_equal(history_folder_make(names.rows, NULL), GPUT_OK);
    str_printf(&path, "%s/%s.json", names.rows, name);
    assert_int_equal(history_folder_write(path.data, text, strlen(text), NULL), GPUT_OK);
    history_folder_finish(&names);
}

static void add_row(const char *history, const char *name)
{
    CLEANUP_STR struct str text = {0};
    str_printf(&text, "{\"gpu_tracker_history_row\": 1, \"session_id\": \"%s\", \"name\": \"%s\"}",
        name, name);
    add_waiting(history, name, text.data);
}

/* A tracker that ends while a reader is at work. */
static void add_a_late_row(void *user, const char *text)
{
    (void)text;
    add_row(user, "late");
}

/* Appends the names of the rows. */
static int receive(void *user, struct gput_tables *tables, struct gput_error *error)
{
    const struct gput_table *table = gput_tables_get(tables, 0);
    (void)error;
    for (size_t row = 0; row < gput_table_row_count(table); row++) {
        for (size_t column = 0; column < gput_table_column_count(table); column++) {
            if (strcmp(gput_table_column_name(table, column), "name") == 0)
                str_printf(user, "%s ", gput_table_text(table, row, column));
        }
    }
    gput_tables_destroy(tables);
    return GPUT_OK;
}

static void expect_rows(
    const char *history, const struct gput_history_query *query, const char *expected)
{
    CLEANUP_STR struct str names = {0};
    struct gput_error error;
    assert_int_equal(gput_history_read(history, query, receive, &names, &error), GPUT_OK);
    assert_string_equal(str_text(&names), expected);
}

TEST(a_row_that_comes_while_others_are_gathered_is_not_lost)
{
    struct gput_history_query query = gput_history_query_default();
    char history[512];
    kind_of_file_system = 0xef53;
    snprintf(history, sizeof history, "%s/gathered", folder);
    add_waiting(history, "a", "broken"); /* it is told of between the first row and the last */
    add_row(history, "early");
    query.warn = add_a_late_row;
    query.user = history;
    expect_rows(history, &query, "early ");
    expect_rows(history, NULL, "early late ");
}

TEST(on_a_network_file_system_rows_that_wait_are_shown_and_forgotten)
{
    struct gput_history_query query = gput_history_query_default();
    struct gput_error error;
    uint64_t n_removed = 0;
    char history[512];
    kind_of_file_system = 0x6969; /* NFS */
    snprintf(history, sizeof history, "%s/network", folder);
    add_row(history, "one");
    add_row(history, "two");
    expect_rows(history, NULL, "one two ");
    add_row(history, "none");
    query.name = "on";
    assert_int_equal(gput_history_forget(history, &query, &n_removed, &error), GPUT_OK);
    assert_int_equal(n_removed, 2);
    expect_rows(history, NULL, "two ");
}

static void count_warning(void *user, const char *text)
{
    (void)text;
    ++*(size_t *)user;
}

TEST(a_folder_that_cannot_be_read_is_a_warning)
{
    struct gput_history_query query = gput_history_query_default();
    CLEANUP_STR struct str names = {0};
    char files[512], name[256] = "";
    const char *path = files;
    size_t n_warnings = 0;
    snprintf(files, sizeof files, "%s/files", folder);
    memset(name, 'd', sizeof name - 1);
    assert_int_equal(mkdir(files, 0777), 0);
    assert_int_equal(chdir(files), 0);
    for (int i = 0; i < 16; i++) { /* the path of the last one is too long */
        assert_int_equal(mkdir(name, 0777), 0);
        assert_int_equal(chdir(name), 0);
    }
    assert_int_equal(chdir("/"), 0);
    query.warn = count_warning;
    query.user = &n_warnings;
    assert_int_equal(gput_history_read_files(&path, 1, &query, receive, &names, NULL), GPUT_OK);
    assert_int_equal(n_warnings, 1);
}

TEST(a_named_file_that_is_missing_is_reported_as_such)
{
    CLEANUP_STR struct str names = {0};
    const char *path = "/nowhere/a.json";
    struct gput_error error;
    assert_int_equal(
        gput_history_read_files(&path, 1, NULL, receive, &names, &error), GPUT_ERROR_NOT_FOUND);
    assert_int_equal(error.code, GPUT_ERROR_NOT_FOUND);
    assert_int_equal(error.errno_value, ENOENT);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

RUN_TESTS(make_folder, remove_folder)
