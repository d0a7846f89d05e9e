/*
 * Space on a disk that is kept for what must be written when the disk is full: an unnamed file on
 * the same file system, which gives its space back when it is released. None on file systems
 * without unnamed files (NFS). Of no help against a limit of file sizes.
 */
#pragma once

#include <stddef.h>

struct space_reserve {
    int fd; /* -1: there is none */
    size_t bytes;
};

/* Reserves space on the file system of `path`, a file in an existing folder. Where there is less,
 * it begins empty, and may be filled later. */
void space_reserve_open(struct space_reserve *reserve, const char *path, size_t bytes);

/* Reserves so many bytes again after some were given back, if there are as many. */
void space_reserve_fill(struct space_reserve *reserve, size_t bytes);

/* Gives space back, except `kept` bytes. */
void space_reserve_release(struct space_reserve *reserve, size_t kept);

/* Gives all of it back. */
void space_reserve_close(struct space_reserve *reserve);
