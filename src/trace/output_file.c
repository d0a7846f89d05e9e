#include "trace/output_file.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENOUGH (256u << 10)

/* mkostemp() makes private files; this one gets the mode that open() would have given it. */
static void take_usual_mode(int fd, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask);
}

static int open_beside(struct output_file *file, const struct stat *old, struct gput_error *error)
{
    struct str beside = {0};
    str_printf(&beside, "%s.XXXXXX", file->path);
    file->temporary = str_take(&beside);
    if (!file->temporary)
        return error_memory(error);
    file->fd = mkostemp(file->temporary, O_CLOEXEC);
    if (file->fd < 0) {
        int code = error_set_errno(error, errno, "Cannot write %s", file->path);
        free(file->temporary);
        file->temporary = NULL;
        return code;
    }
    take_usual_mode(file->fd, old);
    return GPUT_OK;
}

int output_file_open(const char *path, struct output_file *file, struct gput_error *error)
{
    struct stat old;
    bool exists = stat(path, &old) == 0;
    int code = GPUT_OK;
    *file = (struct output_file){.fd = -1, .path = strdup(path)};
    if (!file->path)
        return error_memory(error);
    if (!exists || S_ISREG(old.st_mode))
        code = open_beside(file, exists ? &old : NULL, error);
    else if ((file->fd = open(path, O_WRONLY | O_CLOEXEC)) < 0)
        code = error_set_errno(error, errno, "Cannot write %s", path);
    if (code != GPUT_OK)
        output_file_discard(file);
    return code;
}

static int write_out(struct output_file *file, struct gput_error *error)
{
    if (file->buffer.failed)
        return error_memory(error);
    if (file->buffer.length > 0)
        TRY(file_write_fd(file->fd, file->path, file->buffer.data, file->buffer.length, error));
    str_clear(&file->buffer);
    return GPUT_OK;
}

int output_file_flow(struct output_file *file, struct gput_error *error)
{
    return file->buffer.length >= ENOUGH || file->buffer.failed ? write_out(file, error) : GPUT_OK;
}

int output_file_commit(struct output_file *file, struct gput_error *error)
{
    int code = write_out(file, error);
    if (close(file->fd) != 0 && code == GPUT_OK)
        code = error_set_errno(error, errno, "Cannot write %s", file->path);
    file->fd = -1;
    if (code == GPUT_OK && file->temporary && rename(file->temporary, file->path) != 0)
        code = error_set_errno(error, errno, "Cannot write %s", file->path);
    if (code == GPUT_OK) {
        free(file->temporary);
        file->temporary = NULL;
    }
    output_file_discard(file);
    return code;
}

void output_file_discard(struct output_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary)
        unlink(file->temporary);
    str_finish(&file->buffer);
    free(file->temporary);
    free(file->path);
    *file = (struct output_file){.fd = -1};
}
