/*
 * The path of the file for the marks of a process.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* True where the pattern gives each process its own path. */
bool block_path_has_process_id(const char *pattern);

/*
 * The path with the process id before its extension, and with a further number when that is not 0:
 * "a/marks.csv" gives "a/marks-4711.csv", "a/marks-4711-2.csv". The caller frees it; NULL without
 * memory.
 */
char *block_path_with_process_id(const char *path, pid_t process_id, unsigned number);

/* The absolute path, which stays valid when the working directory changes. The caller frees it;
 * NULL without memory. */
char *block_path_absolute(const char *path);
