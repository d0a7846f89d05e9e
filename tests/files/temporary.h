/*
 * A folder of its own for each group of tests that writes files.
 */
#pragma once

#include "base/file.h"
#include "testing.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

static char temporary_folder[] = "/tmp/gput-test-XXXXXX";

static inline int temporary_create(void **state)
{
    (void)state;
    return mkdtemp(temporary_folder) ? 0 : -1;
}

/* Path of a file in the folder, in one of four buffers used in turn. */
static inline const char *temporary(const char *name)
{
    static char paths[4][4096];
    static int turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", temporary_folder, name);
    return path;
}

/* How many files the folder has. */
static inline int temporary_count(void)
{
    int count = -2; /* "." and ".." */
    DIR *listing = opendir(temporary_folder);
    while (readdir(listing))
        count++;
    closedir(listing);
    return count;
}

/* Removes the files of a test, for its teardown. */
static inline int temporary_clear(void **state)
{
    (void)state;
    DIR *listing = opendir(temporary_folder);
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
            unlink(temporary(entry->d_name));
    }
    closedir(listing);
    return 0;
}

static inline int temporary_remove(void **state)
{
    temporary_clear(state);
    return rmdir(temporary_folder);
}

static inline void temporary_write(const char *path, const char *text)
{
    assert_int_equal(file_write_atomic(path, text, strlen(text), NULL), GPUT_OK);
}

/* The content of a file, to be freed. */
static inline char *temporary_read(const char *path)
{
    struct str content = {0};
    assert_int_equal(file_read(path, &content, NULL), GPUT_OK);
    return str_steal(&content);
}

#define FOLDER_TEST(name) TEST_WITH(name, NULL, temporary_clear)
