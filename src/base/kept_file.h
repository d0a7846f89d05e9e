/*
 * A file that is open from reading to reading, inside of a program that is not ours. It may close
 * descriptors that it does not know, and get their numbers for files of its own: device and inode
 * say whether it is still ours.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct kept_file {
    int fd; /* -1: not open */
    uint64_t device, inode;
};

bool kept_file_open(struct kept_file *file, const char *path, int flags);

/* Whether the descriptor is still that of this file. */
bool kept_file_is_open(const struct kept_file *file);

/* The descriptor, opened again where the program has closed it; -1: it cannot be. */
int kept_file_fd(struct kept_file *file, const char *path, int flags);

void kept_file_close(struct kept_file *file);
