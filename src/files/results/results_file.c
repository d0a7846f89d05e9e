#include "files/results/results_file.h"

#include "base/cleanup.h"
#include "base/file_target.h"
#include "base/random.h"
#include "base/str.h"
#include "base/text.h"
#include "files/results/results_codec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct results_file {
    char *path;
    int fd;
    uint64_t updates;
};

/* ---- Writing ---- */

/* Whether a path names no file, but a folder: the file gets a random name there. */
static bool is_unnamed(const char *path)
{
    return !path || text_ends_with(path, "/");
}

/* Returns the absolute path of the file, with a random UUID (version 4) where it has no name; NULL:
 * no memory. */
static char *absolute_path(const char *path)
{
    struct str text = {0};
    unsigned char bytes[16];
    if (!path || path[0] != '/') {
        CLEANUP_FREE char *folder = getcwd(NULL, 0);
        if (folder)
            str_printf(&text, "%s/", folder);
    }
    str_append(&text, path ? path : "");
    if (!is_unnamed(path))
        return str_steal(&text);
    random_fill(bytes, sizeof bytes);
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    str_append(&text, ".gpu-tracker_");
    for (size_t i = 0; i < sizeof bytes; i++)
        str_printf(&text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    str_append(&text, ".pkl");
    return str_steal(&text);
}

/*
 * Truncates an existing file of ours, which may be replaced. A new or empty file is not truncated:
 * ext4 takes that for a replacement, and close() would wait for the disk.
 */
static int empty(const struct results_file *file, struct gput_error *error)
{
    char begin[RESULTS_HEAD_SIZE];
    size_t at;
    ssize_t got = pread(file->fd, begin, sizeof begin, 0);
    if (got == 0)
        return GPUT_OK;
    if (got < 0 || !results_is_kept(begin, (size_t)got, &at))
        return error_set(error, GPUT_ERROR_EXISTS,
            "File %s already exists and is not a resource usage file. Please name another one.",
            file->path);
    if (ftruncate(file->fd, 0) != 0)
        return error_set_errno(error, errno, "Cannot write %s", file->path);
    return GPUT_OK;
}

static int open_file(struct results_file *file, int how, struct gput_error *error)
{
    return file_target_open(file->path, O_RDWR | O_CREAT | how, 0600, &file->fd, error);
}

int results_file_create(const char *path, struct results_file **file, struct gput_error *error)
{
    *file = NULL;
    struct results_file *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    made->fd = -1;
    made->path = absolute_path(path);
    int code = made->path ? GPUT_OK : error_memory(error);
    if (code == GPUT_OK && !is_unnamed(path))
        code = open_file(made, 0, error);
    if (code == GPUT_OK && !is_unnamed(path))
        code = empty(made, error);
    if (code == GPUT_OK)
        *file = made;
    else
        results_file_close(made);
    return code;
}

const char *results_file_path(const struct results_file *file)
{
    return file->path;
}

void results_file_write(struct results_file *file, const struct str *copy)
{
    if (!file || (file->fd < 0 && open_file(file, O_EXCL, NULL) != GPUT_OK))
        return;
    if (copy->failed || copy->length > RESULTS_COPY_DISTANCE)
        return;
    /* The bytes before and after the copies make the file a pickle. */
    off_t end = (off_t)(RESULTS_HEAD_SIZE + RESULTS_COPIES * RESULTS_COPY_DISTANCE);
    if (file->updates == 0 &&
        (pwrite(file->fd, RESULTS_HEAD, RESULTS_HEAD_SIZE, 0) != (ssize_t)RESULTS_HEAD_SIZE ||
            pwrite(file->fd, RESULTS_TAIL, RESULTS_TAIL_SIZE, end) != (ssize_t)RESULTS_TAIL_SIZE))
        return;
    off_t at = (off_t)(RESULTS_HEAD_SIZE + file->updates % RESULTS_COPIES * RESULTS_COPY_DISTANCE);
    if (pwrite(file->fd, copy->data, copy->length, at) == (ssize_t)copy->length)
        file->updates++;
}

void results_file_remove(struct results_file *file)
{
    if (file && file->fd >= 0)
        unlink(file->path);
    results_file_close(file);
}

void results_file_close(struct results_file *file)
{
    if (!file)
        return;
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    free(file);
}

/* ---- Reading ---- */

int results_file_parse(const char *path, const struct str *content, struct gput_results *results,
    struct gput_error *error)
{
    uint64_t best = 0;
    enum results_decoded worst = RESULTS_DAMAGED;
    char version[RESULTS_VERSION_SIZE] = "";
    size_t begin;
    if (!results_is_kept(str_text(content), content->length, &begin))
        return error_set(
            error, GPUT_ERROR_FORMAT, "%s is not a resource usage file of gpu-tracker.", path);
    for (size_t i = 0; i < RESULTS_COPIES; i++) {
        size_t at = begin + i * RESULTS_COPY_DISTANCE;
        if (at >= content->length)
            break;
        struct results_copy copy = {
            .bytes = content->data + at, .length = content->length - at, .better_than = best};
        enum results_decoded decoded = results_decode(&copy, results);
        if (decoded == RESULTS_DECODED)
            best = copy.number;
        else if (decoded == RESULTS_OTHER_FORM)
            worst = decoded;
        if (decoded == RESULTS_OTHER_FORM)
            memcpy(version, copy.version, sizeof version);
    }
    if (best > 0)
        return GPUT_OK;
    if (worst == RESULTS_OTHER_FORM)
        return error_set(error, GPUT_ERROR_FORMAT,
            "%s was written by gpu-tracker %s in a format that gpu-tracker " GPUT_VERSION
            " does not know. Please show it with that version.",
            path, version);
    return error_set(error, GPUT_ERROR_FORMAT,
        "%s holds no results that gpu-tracker " GPUT_VERSION
        " can read: it is damaged, or another version wrote it.",
        path);
}
