#include "timeline/output_file.h"

#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define ENOUGH (256u << 10)

/* mkostemp() makes private files; this one gets the mode that open() would have given it. */
static void take_usual_mode(int fd, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, old ? old->st_mode & 07777 : 0666 & ~mask);
}

/* "FILE.XXXXXX", the end to be filled by mkostemp() or link_unique(). */
static int name_beside(struct output_file *file, struct gput_error *error)
{
    struct str beside = {0};
    str_printf(&beside, "%s.XXXXXX", file->path);
    file->temporary = str_take(&beside);
    return file->temporary ? GPUT_OK : error_memory(error);
}

/* A file without a name in the folder of the output: whatever ends this process, nothing of it is
 * left behind. False where the file system has none. */
static bool open_nameless(struct output_file *file)
{
    char folder[4096] = ".";
    const char *slash = strrchr(file->path, '/');
    size_t length = slash ? (size_t)(slash - file->path) + 1 : 1;
    if (length >= sizeof folder)
        return false;
    if (slash) {
        memcpy(folder, file->path, length);
        folder[length] = '\0';
    }
    file->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    file->nameless = file->fd >= 0;
    return file->nameless;
}

static int open_beside(struct output_file *file, const struct stat *old, struct gput_error *error)
{
    TRY(name_beside(file, error));
    if (!open_nameless(file)) {
        file->fd = mkostemp(file->temporary, O_CLOEXEC);
        if (file->fd < 0) {
            int code = error_set_errno(error, errno, "Cannot write %s", file->path);
            free(file->temporary);
            file->temporary = NULL;
            return code;
        }
    }
    take_usual_mode(file->fd, old);
    return GPUT_OK;
}

/* Gives a nameless file the temporary name, so that it can be renamed to its own. */
static bool link_unique(struct output_file *file)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    char *end = file->temporary + strlen(file->temporary) - 6, link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file->fd);
    for (int attempt = 0; attempt < 100; attempt++) {
        uint64_t random = (uint64_t)clock_monotonic_ns() ^ (uint64_t)getpid() << 40;
        for (int i = 0; i < 6; i++, random /= sizeof letters - 1)
            end[i] = letters[random % (sizeof letters - 1)];
        if (linkat(AT_FDCWD, link, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0) {
            file->nameless = false;
            return true;
        }
        if (errno != EEXIST)
            return false;
    }
    return false;
}

bool output_file_is_straight(const char *path)
{
    return strcmp(path, "-") == 0 || file_is_straight(path);
}

static int open_straight(const char *path, struct output_file *file, struct gput_error *error)
{
    file->fd = strcmp(path, "-") == 0 ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                                      : open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    return file->fd >= 0 ? GPUT_OK : error_set_errno(error, errno, "Cannot write %s", file->path);
}

/* Packing takes longer than all else already at the quickest level. */
static int start_packing(struct output_file *file, struct gput_error *error)
{
    int fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    file->packed = fd < 0 ? NULL : gzdopen(fd, "wb1");
    if (file->packed)
        return GPUT_OK;
    if (fd >= 0)
        close(fd);
    return fd < 0 ? error_set_errno(error, errno, "Cannot write %s", file->path)
                  : error_memory(error);
}

static bool is_packed(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".gz") == 0;
}

int output_file_open(const char *path, struct output_file *file, struct gput_error *error)
{
    struct stat old;
    bool exists = stat(path, &old) == 0;
    const char *name = strcmp(path, "-") == 0 ? "- (the standard output)" : path;
    *file = (struct output_file){.fd = -1, .path = strdup(name)};
    if (!file->path)
        return error_memory(error);
    int code = output_file_is_straight(path) ? open_straight(path, file, error)
                                             : open_beside(file, exists ? &old : NULL, error);
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
        return error_set_errno(error, errno ? errno : EIO, "Cannot write %s", file->path);
    if (!file->packed && length > 0)
        TRY(file_write_fd(file->fd, file->path, file->buffer.data, length, error));
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
        code = error_set_errno(error, errno ? errno : EIO, "Cannot write %s", file->path);
    if (code == GPUT_OK && file->nameless && !link_unique(file))
        code = error_set_errno(error, errno, "Cannot write %s", file->path);
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
    end_packing(file);
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary && !file->nameless)
        unlink(file->temporary);
    str_finish(&file->buffer);
    free(file->temporary);
    free(file->path);
    *file = (struct output_file){.fd = -1};
}
