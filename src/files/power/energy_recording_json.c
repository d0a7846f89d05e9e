/*
 * Writes power_metrics.json: a JSON object a line, and a line at the end of a segment.
 */
#include "base/file.h"
#include "base/file_restore.h"
#include "base/file_target.h"
#include "files/power/energy_recording.h"
#include "files/power/energy_recording_format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct json_file {
    char *path;
    int fd;
    bool has_lines;  /* in the current segment */
    struct str line; /* scratch */
};

static const char segment_end[] = "\"" ENERGY_RECORDING_SEGMENT_END "\"\n";

/* Repairs the end of a previous recording: a truncated line, a segment without its end. */
static int close_old_segment(struct json_file *file, struct gput_error *error)
{
    char tail[sizeof segment_end];
    size_t length = sizeof segment_end - 1;
    off_t size = lseek(file->fd, 0, SEEK_END);
    if (size <= 0)
        return GPUT_OK;
    size_t there = (size_t)size < length ? (size_t)size : length;
    if (pread(file->fd, tail, there, size - (off_t)there) != (ssize_t)there)
        return error_set_errno(error, errno, "Cannot read %s", file->path);
    if (there == length && memcmp(tail, segment_end, length) == 0)
        return GPUT_OK;
    if (tail[there - 1] != '\n')
        TRY(file_write_fd(file->fd, file->path, "\n", 1, error));
    return file_write_fd(file->fd, file->path, segment_end, length, error);
}

/* One write, so that a kill truncates one line at most; a line truncated by a full disk is removed.
 */
static int append(
    struct json_file *file, const char *bytes, size_t length, struct gput_error *error)
{
    off_t before = lseek(file->fd, 0, SEEK_END);
    int code = file_write_fd(file->fd, file->path, bytes, length, error);
    if (code != GPUT_OK && before >= 0 && ftruncate(file->fd, before) != 0)
        return code;
    return code;
}

static int end_segment(void *opened, struct gput_error *error)
{
    struct json_file *file = opened;
    if (file->has_lines)
        TRY(append(file, segment_end, sizeof segment_end - 1, error));
    file->has_lines = false;
    return GPUT_OK;
}

static int finish(void *opened, struct gput_error *error)
{
    struct json_file *file = opened;
    int code = end_segment(file, error);
    char *now = NULL, *wanted = file->path;
    enum file_fate fate = file->fd >= 0 ? file_fate(file->fd, file->path, &now) : FILE_IN_PLACE;
    if (fate == FILE_REMOVED && lseek(file->fd, 0, SEEK_END) > 0 &&
        (wanted = strdup(file->path)) != NULL) {
        code = file_restore(&file->fd, &file->path, error);
        if (code == GPUT_OK)
            code = file_restore_say(wanted, file->path, error);
        free(wanted);
    } else if (fate == FILE_MOVED) {
        code = error_set(error, GPUT_ERROR_GONE,
            "%.300s was moved while the command ran: its lines are in %.300s.", wanted, now);
    }
    free(now);
    /* an empty file is removed */
    if (file->fd >= 0 && lseek(file->fd, 0, SEEK_END) == 0)
        unlink(file->path);
    if (file->fd >= 0)
        close(file->fd);
    str_finish(&file->line);
    free(file->path);
    free(file);
    return code;
}

static int open_json(const char *path, bool continues, void **opened, struct gput_error *error)
{
    struct json_file *file = calloc(1, sizeof *file);
    if (!file || !(file->path = strdup(path))) {
        free(file);
        return error_memory(error);
    }
    int flags = O_RDWR | O_CREAT | O_APPEND | (continues ? 0 : O_EXCL);
    int code = file_target_open(path, flags, 0666, &file->fd, error);
    if (code == GPUT_OK && continues)
        code = close_old_segment(file, error);
    if (code == GPUT_OK)
        *opened = file;
    else
        finish(file, NULL);
    return code;
}

static int add(void *opened, const char *date, const struct doc *metrics, struct gput_error *error)
{
    struct json_file *file = opened;
    str_clear(&file->line);
    str_printf(&file->line, "{\"date\": \"%s\", \"metrics\": ", date);
    doc_write_json(metrics, -1, &file->line);
    str_append(&file->line, "}\n");
    if (file->line.failed) {
        str_finish(&file->line); /* the next line may have memory again */
        return error_memory(error);
    }
    TRY(append(file, file->line.data, file->line.length, error));
    file->has_lines = true;
    return GPUT_OK;
}

const struct energy_recording_format energy_recording_json = {
    "power_metrics.json", open_json, add, end_segment, finish};
