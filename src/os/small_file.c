#include "os/small_file.h"

#include "base/file.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool small_file_read(const char *directory, const char *file, char *text, size_t size)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", directory, file) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return false;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    long length = file_reread(fd, text, size);
    close(fd);
    return length > 0;
}

bool small_file_read_uint64(const char *directory, const char *file, uint64_t *number)
{
    char text[64];
    return small_file_read(directory, file, text, sizeof text) &&
           number_parse_uint64(text, text + strlen(text), number);
}

bool small_file_read_double(const char *directory, const char *file, double *number)
{
    char text[64];
    return small_file_read(directory, file, text, sizeof text) &&
           number_parse_double(text, text + strlen(text), number);
}
