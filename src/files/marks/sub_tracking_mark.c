#include "base/clock.h"
#include "base/file.h"
#include "base/file_target.h"
#include "files/marks/sub_tracking_csv.h"
#include "files/marks/sub_tracking_csv_row.h"
#include "files/marks/sub_tracking_sqlite.h"
#include "files/sqlite_file.h"

#include <gputracker/sub_tracking.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How long to wait while another program has locked the database. */
#define BUSY_TIMEOUT_MS 10000
/* The same of a file of text. */
#define LOCK_PAUSE_NS 1000000
#define LOCK_TRIES BUSY_TIMEOUT_MS

/* How many bytes a truncated row at the end has; 0 for a header. Its name may have line ends, but
 * rows that a damaged quote has joined with it stay. */
static int find_torn_row(const struct sub_tracking_csv_layout *layout, const char *path,
    size_t *bytes, struct gput_error *error)
{
    struct csv_reader *reader;
    struct csv_record record;
    bool end = false;
    int code = GPUT_OK;
    *bytes = 0;
    TRY(csv_reader_open(path, &reader, error));
    for (size_t records = 0; code == GPUT_OK && !end; records++) {
        code = csv_reader_next(reader, &record, &end, error);
        if (code == GPUT_OK && !end && !record.terminated && records > 0)
            *bytes = sub_tracking_csv_row_joins(layout, record.text, record.end)
                         ? (size_t)(record.end - 1 -
                                    (char *)memrchr(
                                        record.text, '\n', (size_t)(record.end - record.text)))
                         : (size_t)(record.end - record.text);
    }
    csv_reader_close(reader);
    return code;
}

/* Makes the locked file end in a complete line: removes a row without a line end, which no reader
 * counts. */
static int end_last_line(const struct sub_tracking_csv_layout *layout, int fd, const char *path,
    off_t size, struct str *text, struct gput_error *error)
{
    char last;
    size_t torn_bytes;
    if (pread(fd, &last, 1, size - 1) != 1 || last == '\n')
        return GPUT_OK;
    TRY(find_torn_row(layout, path, &torn_bytes, error));
    if (torn_bytes == 0)
        str_append_char(text, '\n');
    else if (ftruncate(fd, size - (off_t)torn_bytes) != 0)
        return error_set_errno(error, errno, "Cannot write %s", path);
    return GPUT_OK;
}

/* The text to append to the locked file. */
static int compose(int fd, const char *path, const struct sub_tracking_mark *row, const char *name,
    struct str *text, struct gput_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return error_set_errno(error, errno, "Cannot read %s", path);
    struct sub_tracking_csv_layout layout = {0};
    int code = GPUT_OK;
    if (status.st_size > 0) {
        code = sub_tracking_csv_layout_read(&layout, path, error);
        if (code == GPUT_OK)
            code = end_last_line(&layout, fd, path, status.st_size, text, error);
    } else if (sub_tracking_csv_layout_init(&layout, 0)) {
        sub_tracking_csv_append_header(text, &layout);
    } else {
        code = error_memory(error);
    }
    if (code == GPUT_OK)
        sub_tracking_csv_append_row(text, &layout, row, name, strlen(name));
    sub_tracking_csv_layout_finish(&layout);
    return code == GPUT_OK && text->failed ? error_memory(error) : code;
}

/* Against other writers. Without a lock one write is still atomic: a file system whose locks hang
 * does not hold a script up. */
static void lock_for_a_while(int fd)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    for (int tries = 0; tries < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return;
        nanosleep(&pause, NULL);
    }
}

static int mark_csv(const char *path, const struct sub_tracking_mark *row, const char *name,
    struct gput_error *error)
{
    int fd;
    TRY(file_target_open(path, O_RDWR | O_CREAT | O_APPEND, 0666, &fd, error));
    struct str text = {0};
    lock_for_a_while(fd);
    int code = compose(fd, path, row, name, &text, error);
    if (code == GPUT_OK)
        code = file_write_fd(fd, path, text.data, text.length, error);
    str_finish(&text);
    if (close(fd) != 0 && code == GPUT_OK)
        code = error_set_errno(error, errno, "Cannot write %s", path);
    return code;
}

static int mark_sqlite(const char *path, const struct sub_tracking_mark *row, const char *name,
    struct gput_error *error)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *insert = NULL;
    char *target; /* SQLite would follow any link */
    TRY(file_target(path, &target, error));
    int code = sqlite_file_open_shared(target, &database, error);
    free(target);
    if (code != GPUT_OK)
        return code;
    sqlite3_busy_timeout(database, BUSY_TIMEOUT_MS);
    code = sub_tracking_sqlite_prepare(database, path, 0, &insert, error);
    if (code == GPUT_OK)
        code = sub_tracking_sqlite_insert(insert, path, 0, row, name, strlen(name), error);
    sqlite3_finalize(insert);
    sqlite3_close(database);
    return code;
}

int gput_sub_tracking_mark(const char *path, int64_t process_id, const char *name,
    enum gput_block_position position, struct gput_error *error)
{
    struct sub_tracking_mark row = {
        .process_id = process_id,
        .position = position == GPUT_BLOCK_STOP ? SUB_TRACKING_STOP : SUB_TRACKING_START,
        .timestamp_ns = clock_realtime_ns(),
    };
    sub_tracking_mark_clear_figures(&row);
    row.timestamp = sub_tracking_seconds_of_ns(row.timestamp_ns);
    enum sub_tracking_format format;
    TRY(sub_tracking_format_of(path, &format, error));
    switch (format) {
    case SUB_TRACKING_CSV:
        return mark_csv(path, &row, name, error);
    case SUB_TRACKING_SQLITE:
        return mark_sqlite(path, &row, name, error);
    default:
        return error_set(error, GPUT_ERROR_INVALID,
            "Cannot add a mark to %s: such a log belongs to the program that writes it. Use a .csv "
            "or .sqlite file.",
            path);
    }
}
