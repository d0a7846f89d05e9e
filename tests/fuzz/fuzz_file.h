/*
 * The fuzzer's bytes as a file without a name, for readers that take a path. Close the descriptor
 * at the end.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FUZZ_PATH_SIZE 32

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_file(const uint8_t *data, size_t size, char path[FUZZ_PATH_SIZE])
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, FUZZ_PATH_SIZE, "/proc/self/fd/%d", fd);
    return fd;
}
