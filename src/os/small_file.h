/*
 * One small file of sysfs: a number or a word.
 */
#ifndef OS_SMALL_FILE_H
#define OS_SMALL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads at most `size - 1` bytes of "<directory>/<file>" and terminates them. False when it cannot
 * be read (errno tells) or is empty. */
bool small_file_read(const char *directory, const char *file, char *text, size_t size);

/* The number at its start; false when there is none. */
bool small_file_read_uint64(const char *directory, const char *file, uint64_t *number);
bool small_file_read_double(const char *directory, const char *file, double *number);

#endif
