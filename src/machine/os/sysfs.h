/*
 * The small files of sysfs: one value each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYSFS_PATH_SIZE 4096

/* Writes "<folder>/<name>" to `path`; false when it does not fit. */
bool sysfs_path(char path[SYSFS_PATH_SIZE], const char *folder, const char *name);

/* Reads the first line of <folder>/<name> without its newline; false, and errno, when it cannot be
 * read. Longer text is truncated. */
bool sysfs_read_line(const char *folder, const char *name, char *line, size_t size);

/* Reads a decimal number, or a hexadecimal one after 0x; false, and errno, when there is none. */
bool sysfs_read_uint64(const char *folder, const char *name, uint64_t *value);

/* Reads a decimal number that may have a fraction; false when there is none. */
bool sysfs_read_double(const char *folder, const char *name, double *value);

/* The value of a line "KEY=value" of <folder>/uevent; false when there is none. */
bool sysfs_read_uevent(const char *folder, const char *key, char *value, size_t size);

/* Reads a binary file, at most `size` bytes; the number of bytes, or -1 and errno. */
long sysfs_read_bytes(const char *folder, const char *name, void *bytes, size_t size);

/* True when power management has suspended the device, so that reading would wake it, or fail. */
bool sysfs_is_suspended(const char *device_folder);

/* 0 where errno says that a folder is not there, else errno: what is in it is not known. */
int sysfs_failure(int errno_value);

/*
 * The next entry of a folder whose name begins with `prefix`, in the order of the numbers that
 * follow it: pass -1 at first, then the last number. Returns the number, or -1 at the end, and
 * errno: 0, or why the folder cannot be read though it may be there.
 */
long sysfs_next_numbered(const char *folder, const char *prefix, long last);
