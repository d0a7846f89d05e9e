#include "timeline/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define ENOUGH (256u << 10)

bool output_file_is_straight(const char *path)
{
    return strcmp(path, "-") == 0 || file_is_straight(path);
}

/* A descriptor of its own, so that closing it does not close the standard output. */
static int open_standard_output(struct file_writing *writing, struct gput_error *error)
{
    *writing = (struct file_writing){.path = strdup("- (the standard output)")};
    writing->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (!writing->path)
        return error_memory(error);
    return writing->fd >= 0 ? GPUT_OK
                            : error_set_errno(error, errno, "Cannot write %s", writing->path);
}

static int cannot_write(const struct output_file *file, struct gput_error *error)
{
    return error_set_errno(error, errno ? errno : EIO, "Cannot write %s", file->writing.path);
}

/* Packing takes longer than all else already at the quickest level. */
static int start_packing(struct output_file *file, struct gput_error *error)
{
    int fd = fcntl(file->writing.fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return cannot_write(file, error);
    file->packed = gzdopen(fd, "wb1");
    if (file->packed)
        return GPUT_OK;
    close(fd);
    return error_memory(error);
}

static bool is_packed(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

int output_file_open(const char *path, struct output_file *file, struct gput_error *error)
{
    *file = (struct output_file){0};
    int code = strcmp(path, "-") == 0 ? open_standard_output(&file->writing, error)
                                      : file_writing_begin(path, &file->writing, error);
    if (code == GPUT_OK && is_packed(path))
        code = start_packing(file, error);
    if (code != GPUT_OK)
        output_file_discard(file);
    return code;
}

static int write_out(struct output_file *file, struct gput_error *error)
{
    errno = 0;
    if (file->buffer.failed)
        return error_memory(error);
    size_t length = file->buffer.length;
    if (file->packed && gzfwrite(file->buffer.data, 1, length, file->packed) != length)
        return cannot_write(file, error);
    if (!file->packed && length > 0)
        TRY(file_writing_add(&file->writing, file->buffer.data, length, error));
    str_clear(&file->buffer);
    return GPUT_OK;
}

int output_file_flow(struct output_file *file, struct gput_error *error)
{
    return file->buffer.length >= ENOUGH || file->buffer.failed ? write_out(file, error) : GPUT_OK;
}

/* Writes what zlib holds. False when that fails. */
static bool end_packing(struct output_file *file)
{
    gzFile packed = file->packed;
    file->packed = NULL;
    errno = 0;
    return !packed || gzclose(packed) == Z_OK;
}

int output_file_commit(struct output_file *file, struct gput_error *error)
{
    int code = write_out(file, error);
    if (code == GPUT_OK && !end_packing(file))
        code = cannot_write(file, error);
    if (code == GPUT_OK)
        code = file_writing_end(&file->writing, error);
    output_file_discard(file);
    return code;
}

void output_file_discard(struct output_file *file)
{
    end_packing(file);
    file_writing_discard(&file->writing);
    str_finish(&file->buffer);
}
