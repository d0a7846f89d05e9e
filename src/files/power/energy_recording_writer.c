#include "files/power/energy_recording_writer.h"

#include "base/file.h"
#include "base/file_target.h"
#include "files/power/energy_recording_format.h"
#include "files/power/recording_date.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct energy_recording_writer {
    const struct energy_recording_format *format;
    void *file; /* the format's */
    char *folder;
    int lock_fd; /* of metadata.json, locked during the recording; -1: not available */
    /* Removed when nothing was recorded: */
    size_t made_length; /* of the path of the first folder that was created; 0: none */
    bool made_metadata;
    int64_t start_ns; /* the date of the recording */
    bool has_lines;
};

static const struct energy_recording_format *const formats[] = {
    [GPUT_ENERGY_DRIVER_JSON] = &energy_recording_json,
    [GPUT_ENERGY_DRIVER_SQLITE] = &energy_recording_sqlite,
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static int name_metadata(const char *folder, struct str *path, struct gput_error *error)
{
    str_printf(path, "%s/metadata.json", folder);
    return path->failed ? error_memory(error) : GPUT_OK;
}

static int write_metadata(
    struct energy_recording_writer *writer, int64_t now_ns, struct gput_error *error)
{
    char date[RECORDING_DATE_SIZE];
    struct str path = {0}, text = {0};
    recording_date_format(recording_date_of_epoch_ns(now_ns), date);
    str_printf(&text, "{\"description\": \"recorded by gpu-tracker\", \"date\": \"%s\"}\n", date);
    int code = text.failed ? error_memory(error) : name_metadata(writer->folder, &path, error);
    if (code == GPUT_OK && access(path.data, F_OK) != 0) {
        code = file_write_atomic(path.data, text.data, text.length, error);
        writer->made_metadata = code == GPUT_OK;
    }
    str_finish(&path);
    str_finish(&text);
    return code;
}

/* Two recordings at once would mix in one segment. Some network file systems have no locks: then it
 * is not checked. */
static int lock(struct energy_recording_writer *writer, struct gput_error *error)
{
    struct str path = {0};
    char *target;
    TRY(name_metadata(writer->folder, &path, error));
    int code = file_target(path.data, &target, error);
    str_finish(&path);
    if (code != GPUT_OK)
        return code;
    writer->lock_fd = open(target, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    free(target);
    if (writer->lock_fd < 0 || flock(writer->lock_fd, LOCK_EX | LOCK_NB) == 0 ||
        errno != EWOULDBLOCK)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_IO,
        "Another recording to %s is under way. Give another folder, or wait until it has ended "
        "(if it was killed: end the forks that it left).",
        writer->folder);
}

static void unlock(struct energy_recording_writer *writer)
{
    if (writer->lock_fd < 0)
        return;
    flock(writer->lock_fd, LOCK_UN); /* explicitly, since a forked child may have it open */
    close(writer->lock_fd);
}

/* Creates the folder and its parents. */
static int make_folders(struct energy_recording_writer *writer, struct gput_error *error)
{
    char *path = writer->folder;
    for (char *at = path;; at++) {
        char next = *at;
        if (next && (next != '/' || at == path))
            continue;
        *at = '\0';
        bool is_made = mkdir(path, 0777) == 0;
        if (!is_made && errno != EEXIST)
            return error_set_errno(error, errno, "Cannot make the folder %s", path);
        if (is_made && writer->made_length == 0)
            writer->made_length = (size_t)(at - path);
        *at = next;
        if (!next)
            return GPUT_OK;
    }
}

/* Removes the created folders, the deepest first. */
static void remove_folders(struct energy_recording_writer *writer)
{
    for (size_t length = strlen(writer->folder); length >= writer->made_length; length--) {
        if (writer->folder[length] != '\0' && writer->folder[length] != '/')
            continue;
        writer->folder[length] = '\0';
        rmdir(writer->folder);
    }
}

/* Removes an empty recording. */
static void remove_traces(struct energy_recording_writer *writer)
{
    struct str path = {0};
    if (writer->made_metadata && name_metadata(writer->folder, &path, NULL) == GPUT_OK)
        unlink(path.data);
    if (writer->made_length > 0)
        remove_folders(writer);
    str_finish(&path);
}

static int name_file(const char *folder, const struct energy_recording_format *format,
    struct str *path, struct gput_error *error)
{
    str_clear(path);
    str_printf(path, "%s/%s", folder, format->file_name);
    return path->failed ? error_memory(error) : GPUT_OK;
}

/* A folder with a recording of either format is refused, also where that is a dangling link. */
static int check_folder(const char *folder, struct gput_error *error)
{
    struct str path = {0};
    struct stat info;
    int code = GPUT_OK;
    for (size_t i = 0; i < COUNT_OF(formats) && code == GPUT_OK; i++) {
        code = name_file(folder, formats[i], &path, error);
        if (code == GPUT_OK && lstat(path.data, &info) == 0)
            code = error_set(error, GPUT_ERROR_EXISTS,
                "There is a recording in %s already. Give another folder, or --cont to add to it.",
                folder);
    }
    str_finish(&path);
    return code;
}

static int open_file(
    struct energy_recording_writer *writer, bool continues, struct gput_error *error)
{
    struct str path = {0};
    int code = name_file(writer->folder, writer->format, &path, error);
    if (code == GPUT_OK)
        code = writer->format->open(path.data, continues, &writer->file, error);
    str_finish(&path);
    return code;
}

/* Links to folders are checked as links to files: see file_target.h. */
static int check_links(const char *folder, struct gput_error *error)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    char *path = strndup(folder, length), *target = NULL;
    int code = path ? file_target(path, &target, error) : error_memory(error);
    free(target);
    free(path);
    return code;
}

static int begin(struct energy_recording_writer *writer, bool continues, int64_t now_ns,
    struct gput_error *error)
{
    TRY(check_links(writer->folder, error));
    TRY(make_folders(writer, error));
    if (!continues)
        TRY(check_folder(writer->folder, error));
    TRY(write_metadata(writer, now_ns, error));
    TRY(lock(writer, error));
    return open_file(writer, continues, error);
}

int energy_recording_writer_create(const char *folder, enum gput_energy_driver driver,
    bool continues, int64_t now_ns, struct energy_recording_writer **result,
    struct gput_error *error)
{
    *result = NULL;
    if ((size_t)driver >= COUNT_OF(formats))
        return error_set(error, GPUT_ERROR_INVALID, "Unknown energy driver: it is json or sqlite.");
    if (!folder[0])
        return error_set(error, GPUT_ERROR_INVALID,
            "The name of the folder for the recording is empty. Give one.");
    struct energy_recording_writer *writer = calloc(1, sizeof *writer);
    if (!writer || !(writer->folder = strdup(folder))) {
        free(writer);
        return error_memory(error);
    }
    writer->format = formats[driver];
    writer->start_ns = now_ns;
    writer->lock_fd = -1;
    int code = begin(writer, continues, now_ns, error);
    if (code == GPUT_OK)
        *result = writer;
    else
        energy_recording_writer_finish(writer, NULL);
    return code;
}

int energy_recording_writer_add(struct energy_recording_writer *writer, int64_t time_ns,
    const struct doc *metrics, struct gput_error *error)
{
    char date[RECORDING_DATE_SIZE];
    recording_date_format(recording_date_of_epoch_ns(time_ns), date);
    int code = writer->format->add(writer->file, date, metrics, error);
    writer->has_lines |= code == GPUT_OK;
    return code;
}

int energy_recording_writer_end_segment(
    struct energy_recording_writer *writer, struct gput_error *error)
{
    return writer->format->end_segment(writer->file, error);
}

int energy_recording_writer_finish(struct energy_recording_writer *writer, struct gput_error *error)
{
    if (!writer)
        return GPUT_OK;
    int code = writer->file ? writer->format->finish(writer->file, error) : GPUT_OK;
    if (code == GPUT_ERROR_GONE)
        write_metadata(writer, writer->start_ns, NULL); /* where it is missing */
    if (!writer->has_lines)
        remove_traces(writer);
    unlock(writer);
    free(writer->folder);
    free(writer);
    return code;
}
