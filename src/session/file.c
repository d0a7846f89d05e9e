#include <gputracker/file.h>

#include "base/file.h"

int gput_file_write(const char *path, const void *bytes, size_t length, struct gput_error *error)
{
    return file_write_atomic(path, bytes, length, error);
}
