#include "files/power/energy_recording_writer.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/file_restore.h"
#include "base/file_target.h"
#include "files/power/energy_recording.h"
#include "files/power/recording_date.h"
#include "files/sqlite_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct energy_recording_writer {
    const struct recording_format *format;
    char *folder;
    char *path;  /* path of the format's file; NULL: not open */
    int lock_fd; /* descriptor of metadata.json, locked during the recording; -1: not available */
    /* Removed if nothing was recorded: */
    size_t made_length; /* length of the path of the first folder that was created; 0: none */
    bool made_metadata;
    int64_t start_ns; /* date of the recording */
    bool has_lines;

    /* power_metrics.json */
    int fd;
    bool segment_has_lines;
    struct str line; /* scratch */

    /* power_metrics.sqlite */
    sqlite3 *database;
    sqlite3_stmt *insert;
    int64_t segment;
    bool is_new;
};

struct recording_format {
    const char *file_name; /* in the folder */

    /* Opens writer->path. With `continues`, an existing file gets a new segment. finish() is called
     * in any case. */
    int (*open)(struct energy_recording_writer *writer, bool continues, struct gput_error *error);

    /* Adds a moment completely or not at all. `metrics` is an object of "cpu" and "gpu", each with
     * numbers, or objects of numbers, by name. */
    int (*add)(struct energy_recording_writer *writer, const char *date, const struct doc *metrics,
        struct gput_error *error);

    /* Starts a new segment. */
    int (*end_segment)(struct energy_recording_writer *writer, struct gput_error *error);

    /* Ends the segment and closes the file, which is removed if it is empty. A file that was
     * removed meanwhile is written again, and one that was moved is found; both are reported as
     * GPUT_ERROR_GONE. */
    int (*finish)(struct energy_recording_writer *writer, struct gput_error *error);
};

/* ---- power_metrics.json: a JSON object a line, and a line at the end of a segment ---- */

static const char segment_end[] = "\"" ENERGY_RECORDING_SEGMENT_END "\"\n";

/* Repairs the end of a previous recording: a truncated line, or a segment without its end. */
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

static int open_json(
    struct energy_recording_writer *writer, bool continues, struct gput_error *error)
{
    int flags = O_RDWR | O_CREAT | O_APPEND | (continues ? 0 : O_EXCL);
    TRY(file_target_open(writer->path, flags, 0666, &writer->fd, error));
    return continues ? close_old_segment(writer, error) : GPUT_OK;
}

/* Appends a line by one write, so that a kill truncates at most one line. A line that a full disk
 * truncated is removed. */
static int append_line(struct energy_recording_writer *writer, const char *bytes, size_t length,
    struct gput_error *error)
{
    off_t before = lseek(writer->fd, 0, SEEK_END);
    int code = file_write_fd(writer->fd, writer->path, bytes, length, error);
    if (code != GPUT_OK && before >= 0 && ftruncate(writer->fd, before) != 0)
        return code;
    return code;
}

/* Adds a line with the moment. */
static int add_json(struct energy_recording_writer *writer, const char *date,
    const struct doc *metrics, struct gput_error *error)
{
    struct str *line = &writer->line;
    str_clear(line);
    str_printf(line, "{\"date\": \"%s\", \"metrics\": ", date);
    doc_write_json(metrics, -1, line);
    str_append(line, "}\n");
    if (line->failed) {
        str_finish(line); /* the next line may get memory again */
        return error_memory(error);
    }
    TRY(append_line(writer, line->data, line->length, error));
    writer->segment_has_lines = true;
    return GPUT_OK;
}

static int end_json_segment(struct energy_recording_writer *writer, struct gput_error *error)
{
    if (writer->segment_has_lines)
        TRY(append_line(writer, segment_end, sizeof segment_end - 1, error));
    writer->segment_has_lines = false;
    return GPUT_OK;
}

/* Ends the segment and closes the file. A file that was removed is written again. */
static int finish_json(struct energy_recording_writer *writer, struct gput_error *error)
{
    int code = end_json_segment(writer, error);
    CLEANUP_FREE char *now = NULL;
    CLEANUP_FREE char *wanted = strdup(writer->path);
    enum file_fate fate =
        writer->fd >= 0 ? file_fate(writer->fd, writer->path, &now) : FILE_IN_PLACE;
    if (fate == FILE_REMOVED && lseek(writer->fd, 0, SEEK_END) > 0 && wanted) {
        code = file_restore(&writer->fd, &writer->path, error);
        if (code == GPUT_OK)
            code = file_restore_say(wanted, writer->path, error);
    } else if (fate == FILE_MOVED) {
        code = error_set(error, GPUT_ERROR_GONE,
            "%.300s was moved while the command ran: its lines are in %.300s.", writer->path, now);
    }
    if (writer->fd >= 0 && lseek(writer->fd, 0, SEEK_END) == 0)
        unlink(writer->path);
    if (writer->fd >= 0)
        close(writer->fd);
    str_finish(&writer->line);
    return code;
}

/* ---- power_metrics.sqlite ---- */

/* Opens the database, and finds the number of its next segment. */
static int open_database(struct energy_recording_writer *writer, struct gput_error *error)
{
    CLEANUP_FREE char *target = NULL; /* SQLite itself would follow any link */
    TRY(file_target(writer->path, &target, error));
    TRY(sqlite_file_create(target, true, &writer->database, error));
    TRY(sqlite_file_run(writer->database,
        "CREATE TABLE IF NOT EXISTS power_metrics (date TEXT NOT NULL, segment INTEGER NOT NULL, "
        "device TEXT NOT NULL, name TEXT NOT NULL, key TEXT, value REAL)",
        writer->path, error));
    /* Find the number of the next segment. */
    sqlite3_stmt *statement;
    TRY(sqlite_file_prepare(writer->database,
        "SELECT coalesce(max(segment) + 1, 0) FROM power_metrics", writer->path, &statement,
        error));
    int result = sqlite3_step(statement);
    writer->segment = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    if (result != SQLITE_ROW)
        return sqlite_file_error(writer->database, "read", writer->path, error);
    return sqlite_file_prepare(writer->database,
        "INSERT INTO power_metrics (date, segment, device, name, key, value) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        writer->path, &writer->insert, error);
}

static int open_sqlite(
    struct energy_recording_writer *writer, bool continues, struct gput_error *error)
{
    (void)continues; /* it was already checked that there is no other recording */
    writer->is_new = access(writer->path, F_OK) != 0;
    return open_database(writer, error);
}

/* Inserts a number; a missing one gets no row. `key` NULL: the metric has only one number. */
static int insert_number(struct energy_recording_writer *writer, const char *name, const char *key,
    const struct doc *value, struct gput_error *error)
{
    double number = doc_number(value);
    if (isnan(number))
        return GPUT_OK;
    sqlite3_bind_text(writer->insert, 4, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(writer->insert, 5, key, -1, SQLITE_STATIC);
    sqlite3_bind_double(writer->insert, 6, number);
    int result = sqlite3_step(writer->insert);
    sqlite3_reset(writer->insert);
    return result == SQLITE_DONE
               ? GPUT_OK
               : sqlite_file_error(writer->database, "write", writer->path, error);
}

/* Inserts the numbers of a moment and commits them. */
static int insert_moment(struct energy_recording_writer *writer, const char *date,
    const struct doc *metrics, struct gput_error *error)
{
    sqlite3_bind_text(writer->insert, 1, date, -1, SQLITE_STATIC);
    sqlite3_bind_int64(writer->insert, 2, writer->segment);
    for (const struct doc *device = metrics->first; device; device = device->next) {
        sqlite3_bind_text(writer->insert, 3, device->key, -1, SQLITE_STATIC);
        for (const struct doc *metric = device->first; metric; metric = metric->next) {
            if (metric->kind != DOC_OBJECT)
                TRY(insert_number(writer, metric->key, NULL, metric, error));
            for (const struct doc *part = metric->first; part; part = part->next)
                TRY(insert_number(writer, metric->key, part->key, part, error));
        }
    }
    return sqlite_file_run(writer->database, "COMMIT", writer->path, error);
}

/* Adds a moment completely or not at all. `*is_full`: it failed for lack of space. */
static int try_add(struct energy_recording_writer *writer, const char *date,
    const struct doc *metrics, bool *is_full, struct gput_error *error)
{
    *is_full = false;
    TRY(sqlite_file_run(writer->database, "BEGIN IMMEDIATE", writer->path, error));
    int code = insert_moment(writer, date, metrics, error);
    *is_full = code != GPUT_OK && sqlite_file_is_full(writer->database);
    sqlite3_clear_bindings(writer->insert);
    if (code != GPUT_OK)
        sqlite_file_run(writer->database, "ROLLBACK", writer->path, NULL);
    return code;
}

/* Adds the rows of a moment; if the disk is full, makes space and tries again. */
static int add_sqlite(struct energy_recording_writer *writer, const char *date,
    const struct doc *metrics, struct gput_error *error)
{
    /* Open it again if another program truncated the index of its write-ahead log. */
    if (!writer->insert || sqlite_file_has_lost_index(writer->database)) {
        int64_t segment = writer->segment;
        sqlite3_finalize(writer->insert);
        sqlite_file_close(writer->database);
        writer->insert = NULL;
        writer->database = NULL;
        int code = open_database(writer, error);
        writer->segment = segment;
        TRY(code);
    }
    bool is_full;
    int code = try_add(writer, date, metrics, &is_full, error);
    if (is_full && sqlite_file_make_space(writer->database))
        code = try_add(writer, date, metrics, &is_full, error);
    return code;
}

static int end_sqlite_segment(struct energy_recording_writer *writer, struct gput_error *error)
{
    (void)error;
    writer->segment++;
    return GPUT_OK;
}

/* Writes a database again that was removed while the command ran. */
static int restore_database(struct energy_recording_writer *writer, struct gput_error *error)
{
    CLEANUP_FREE char *name = NULL;
    TRY(file_restore_name(writer->path, &name, error));
    TRY(sqlite_file_copy(writer->database, name, name, error));
    return file_restore_say(writer->path, name, error);
}

/* Closes the database. A database that was removed is written again. */
static int finish_sqlite(struct energy_recording_writer *writer, struct gput_error *error)
{
    int code = GPUT_OK, finished = GPUT_OK;
    sqlite3_finalize(writer->insert);
    if (writer->has_lines && writer->database && sqlite_file_has_moved(writer->database))
        code = restore_database(writer, error);
    if (writer->database)
        finished = sqlite_file_finish(writer->database, writer->path, code ? NULL : error);
    if (writer->is_new && !writer->has_lines)
        sqlite_file_remove(writer->path, NULL);
    return code ? code : finished;
}

static const struct recording_format formats[] = {
    [GPUT_ENERGY_DRIVER_JSON] = {ENERGY_RECORDING_JSON, open_json, add_json, end_json_segment,
        finish_json},
    [GPUT_ENERGY_DRIVER_SQLITE] = {ENERGY_RECORDING_SQLITE, open_sqlite, add_sqlite,
        end_sqlite_segment, finish_sqlite},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- The folder ---- */

/* Writes the path of a file in the folder. */
static int path_of(const struct energy_recording_writer *writer, const char *file, struct str *path,
    struct gput_error *error)
{
    str_printf(path, "%s/%s", writer->folder, file);
    return path->failed ? error_memory(error) : GPUT_OK;
}

/* Checks links to the folder like links to files: see file_target.h. */
static int check_links(const char *folder, struct gput_error *error)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/')
        length--;
    CLEANUP_FREE char *path = strndup(folder, length), *target = NULL;
    return path ? file_target(path, &target, error) : error_memory(error);
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

/* Refuses a folder with a recording of either format, even one that is a dangling link. */
static int check_folder(const struct energy_recording_writer *writer, struct gput_error *error)
{
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        CLEANUP_STR struct str path = {0};
        struct stat info;
        TRY(path_of(writer, formats[i].file_name, &path, error));
        if (lstat(path.data, &info) == 0)
            return error_set(error, GPUT_ERROR_EXISTS,
                "There is a recording in %s already. Give another folder, or --cont to add to it.",
                writer->folder);
    }
    return GPUT_OK;
}

/* Writes metadata.json if it is missing. */
static int write_metadata(struct energy_recording_writer *writer, struct gput_error *error)
{
    char date[RECORDING_DATE_SIZE];
    CLEANUP_STR struct str path = {0}, text = {0};
    recording_date_format(recording_date_of_epoch_ns(writer->start_ns), date);
    str_printf(&text, "{\"description\": \"recorded by gpu-tracker\", \"date\": \"%s\"}\n", date);
    if (text.failed)
        return error_memory(error);
    TRY(path_of(writer, "metadata.json", &path, error));
    if (access(path.data, F_OK) == 0)
        return GPUT_OK;
    TRY(file_write_atomic(path.data, text.data, text.length, error));
    writer->made_metadata = true;
    return GPUT_OK;
}

/* Locks metadata.json, as two recordings at once would mix in one segment. If the file system has
 * no locks, as some network file systems, this is not checked. */
static int lock(struct energy_recording_writer *writer, struct gput_error *error)
{
    CLEANUP_STR struct str path = {0};
    CLEANUP_FREE char *target = NULL;
    TRY(path_of(writer, "metadata.json", &path, error));
    TRY(file_target(path.data, &target, error));
    writer->lock_fd = open(target, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (writer->lock_fd < 0 || flock(writer->lock_fd, LOCK_EX | LOCK_NB) == 0 ||
        errno != EWOULDBLOCK)
        return GPUT_OK;
    return error_set(error, GPUT_ERROR_IO,
        "Another recording to %s is under way. Give another folder, or wait until it has ended "
        "(if it was killed: end the forks that it left).",
        writer->folder);
}

/* Removes the files and folders that were created, the deepest folder first. */
static void remove_traces(struct energy_recording_writer *writer)
{
    CLEANUP_STR struct str path = {0};
    if (writer->made_metadata && path_of(writer, "metadata.json", &path, NULL) == GPUT_OK)
        unlink(path.data);
    if (writer->made_length == 0)
        return;
    for (size_t length = strlen(writer->folder); length >= writer->made_length; length--) {
        if (writer->folder[length] != '\0' && writer->folder[length] != '/')
            continue;
        writer->folder[length] = '\0';
        rmdir(writer->folder);
    }
}

/* ---- The writer ---- */

/* Makes the folder with its metadata, locks it and opens the file. */
static int begin(struct energy_recording_writer *writer, bool continues, struct gput_error *error)
{
    CLEANUP_STR struct str path = {0};
    TRY(check_links(writer->folder, error));
    TRY(make_folders(writer, error));
    if (!continues)
        TRY(check_folder(writer, error));
    TRY(write_metadata(writer, error));
    TRY(lock(writer, error));
    TRY(path_of(writer, writer->format->file_name, &path, error));
    writer->path = str_steal(&path);
    return writer->format->open(writer, continues, error);
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
    writer->format = &formats[driver];
    writer->start_ns = now_ns;
    writer->lock_fd = writer->fd = -1;
    int code = begin(writer, continues, error);
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
    TRY(writer->format->add(writer, date, metrics, error));
    writer->has_lines = true;
    return GPUT_OK;
}

int energy_recording_writer_end_segment(
    struct energy_recording_writer *writer, struct gput_error *error)
{
    return writer->format->end_segment(writer, error);
}

int energy_recording_writer_finish(struct energy_recording_writer *writer, struct gput_error *error)
{
    if (!writer)
        return GPUT_OK;
    int code = writer->path ? writer->format->finish(writer, error) : GPUT_OK;
    if (code == GPUT_ERROR_GONE)
        write_metadata(writer, NULL); /* if it is missing */
    if (!writer->has_lines)
        remove_traces(writer);
    if (writer->lock_fd >= 0) {
        flock(writer->lock_fd, LOCK_UN); /* explicitly, as a forked child may have it open */
        close(writer->lock_fd);
    }
    free(writer->path);
    free(writer->folder);
    free(writer);
    return code;
}
