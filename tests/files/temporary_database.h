/*
 * A database in the folder of a group of tests.
 */
#pragma once

#include "files/sqlite_file.h"
#include "files/temporary.h"

/* Made anew by these statements. Its path, in a buffer of temporary(). */
static inline const char *make_database(const char *sql)
{
    const char *path = temporary("y.sqlite");
    struct gput_error error = {0};
    sqlite3 *database;
    sqlite_file_remove(path, NULL);
    assert_int_equal(sqlite_file_create(path, true, &database, NULL), GPUT_OK);
    if (sqlite_file_run(database, sql, path, &error) != GPUT_OK)
        fail_msg("%s", error.message);
    assert_int_equal(sqlite_file_finish(database, path, NULL), GPUT_OK);
    return path;
}
