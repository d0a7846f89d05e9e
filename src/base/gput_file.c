#include <gputracker/file.h>

#include "base/file.h"

#include <stdlib.h>

struct gput_file {
    struct file_writing writing;
};

int gput_file_write(const char *path, const void *bytes, size_t length, struct gput_error *error)
{
    return file_write_atomic(path, bytes, length, error);
}

int gput_file_write_until(
    const char *path, const void *bytes, size_t length, int stop_fd, struct gput_error *error)
{
    return file_write_until(path, bytes, length, stop_fd, error);
}

int gput_file_check(const char *path, struct gput_error *error)
{
    return file_check(path, error);
}

int gput_file_open(const char *path, struct gput_file **file, struct gput_error *error)
{
    *file = malloc(sizeof **file);
    if (!*file)
        return error_memory(error);
    int code = file_writing_begin(path, &(*file)->writing, error);
    if (code != GPUT_OK) {
        free(*file);
        *file = NULL;
    }
    return code;
}

int gput_file_add(
    struct gput_file *file, const void *bytes, size_t length, struct gput_error *error)
{
    return file_writing_add(&file->writing, bytes, length, error);
}

int gput_file_close(struct gput_file *file, struct gput_error *error)
{
    int code = file_writing_end(&file->writing, error);
    free(file);
    return code;
}

void gput_file_discard(struct gput_file *file)
{
    if (!file)
        return;
    file_writing_discard(&file->writing);
    free(file);
}
