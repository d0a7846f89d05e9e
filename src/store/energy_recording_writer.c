#include "store/energy_recording_writer.h"

#include "base/file.h"
#include "store/energy_recording.h"
#include "store/recording_date.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct energy_recording_writer {
    char *path;
    int fd;
    bool has_lines;
    struct str line; /* scratch */
};

static const char segment_end[] = "\"" ENERGY_RECORDING_SEGMENT_END "\"\n";

static int write_metadata(const char *folder, int64_t now_ns, struct gput_error *error)
{
    char date[RECORDING_DATE_SIZE];
    struct str path = {0}, text = {0};
    str_printf(&path, "%s/metadata.json", folder);
    recording_date_format(recording_date_of_epoch_ns(now_ns), date);
    str_printf(&text, "{\"description\": \"recorded by gpu-tracker\", \"date\": \"%s\"}\n", date);
    int code = path.failed || text.failed ? error_memory(error) : GPUT_OK;
    if (code == GPUT_OK && access(path.data, F_OK) != 0)
        code = file_write_atomic(path.data, text.data, text.length, error);
    str_finish(&path);
    str_finish(&text);
    return code;
}

/* What a recording before left behind: a line that was cut off, a segment that was not closed. */
static int close_old_segment(struct energy_recording_writer *writer, struct gput_error *error)
{
    char tail[sizeof segment_end];
    size_t length = sizeof segment_end - 1;
    off_t size = lseek(writer->fd, 0, SEEK_END);
    if (size <= 0)
        return GPUT_OK;
    size_t there = (size_t)size < length ? (size_t)size : length;
    if (pread(writer->fd, tail, there, size - (off_t)there) != (ssize_t)there)
        return error_set_errno(error, errno, "Cannot read %s", writer->path);
    if (there == length && memcmp(tail, segment_end, length) == 0)
        return GPUT_OK;
    if (tail[there - 1] != '\n')
        TRY(file_write_fd(writer->fd, writer->path, "\n", 1, error));
    return file_write_fd(writer->fd, writer->path, segment_end, length, error);
}

static int open_file(struct energy_recording_writer *writer, const char *folder, bool continues,
    struct gput_error *error)
{
    struct str path = {0};
    str_printf(&path, "%s/power_metrics.json", folder);
    writer->path = str_take(&path);
    if (!writer->path)
        return error_memory(error);
    int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (continues ? 0 : O_EXCL);
    writer->fd = open(writer->path, flags, 0666);
    if (writer->fd < 0 && errno == EEXIST)
        return error_set(error, GPUT_ERROR_EXISTS,
            "There is a recording in %s already. Give another folder, or --cont to add to it.",
            folder);
    if (writer->fd < 0)
        return error_set_errno(error, errno, "Cannot write %s", writer->path);
    return continues ? close_old_segment(writer, error) : GPUT_OK;
}

int energy_recording_writer_create(const char *folder, bool continues, int64_t now_ns,
    struct energy_recording_writer **result, struct gput_error *error)
{
    *result = NULL;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_set_errno(error, errno, "Cannot make the folder %s", folder);
    struct energy_recording_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return error_memory(error);
    writer->fd = -1;
    int code = open_file(writer, folder, continues, error);
    if (code == GPUT_OK)
        code = write_metadata(folder, now_ns, error);
    if (code == GPUT_OK)
        *result = writer;
    else
        energy_recording_writer_finish(writer, NULL);
    return code;
}

/* One write, so that a kill can cut off one line at most; what a full disk cut off goes again. */
static int append(struct energy_recording_writer *writer, const char *bytes, size_t length,
    struct gput_error *error)
{
    off_t before = lseek(writer->fd, 0, SEEK_END);
    int code = file_write_fd(writer->fd, writer->path, bytes, length, error);
    if (code != GPUT_OK && before >= 0 && ftruncate(writer->fd, before) != 0)
        return code;
    return code;
}

int energy_recording_writer_add(struct energy_recording_writer *writer, int64_t time_ns,
    const struct doc *metrics, struct gput_error *error)
{
    char date[RECORDING_DATE_SIZE];
    str_clear(&writer->line);
    recording_date_format(recording_date_of_epoch_ns(time_ns), date);
    str_printf(&writer->line, "{\"date\": \"%s\", \"metrics\": ", date);
    doc_write_json(metrics, -1, &writer->line);
    str_append(&writer->line, "}\n");
    if (writer->line.failed)
        return error_memory(error);
    TRY(append(writer, writer->line.data, writer->line.length, error));
    writer->has_lines = true;
    return GPUT_OK;
}

int energy_recording_writer_finish(struct energy_recording_writer *writer, struct gput_error *error)
{
    if (!writer)
        return GPUT_OK;
    int code =
        writer->has_lines ? append(writer, segment_end, sizeof segment_end - 1, error) : GPUT_OK;
    /* One that never began is in nobody's way. */
    if (writer->fd >= 0 && lseek(writer->fd, 0, SEEK_END) == 0)
        unlink(writer->path);
    if (writer->fd >= 0)
        close(writer->fd);
    str_finish(&writer->line);
    free(writer->path);
    free(writer);
    return code;
}
