#include "files/marks/sub_tracking_writer.h"

#include "base/file.h"
#include "base/file_target.h"
#include "base/space_reserve.h"
#include "base/wall_clock.h"
#include "files/marks/sub_tracking_columns.h"
#include "files/marks/sub_tracking_csv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Another program has locked the file for so long at most. */
#define LOCK_PAUSE_NS 1000000
#define LOCK_TRIES 10000
/* A whole file is written in parts of this size. */
#define BUFFER_BYTES ((size_t)256 * 1024)
/* Space for the rows that say how many calls were lost. */
#define RESERVE_BYTES 4096
#define LOST_ROWS_BYTES 256

struct csv_writer {
    struct sub_tracking_writer base;
    int fd;
    struct sub_tracking_csv_layout layout;
    struct str text; /* not yet written; live: scratch */

    /* Of a live file: */
    off_t end;         /* size after the last line; 0: not known, other processes append, too */
    size_t line_bytes; /* of the last line written; 0: there is none */
    off_t torn_at;     /* offset of a partly written line that could not be removed */
    size_t torn_bytes; /* of it */
    struct sub_tracking_lost lost;
    uint64_t lost_written; /* calls that the file says are lost */
    off_t lost_at;         /* offset of the rows that say so; 0: there are none */
    size_t lost_bytes;     /* of them */
    struct space_reserve reserve;
};

/* Writes what is waiting. */
static int write_text(struct csv_writer *writer, struct gput_error *error)
{
    struct str *text = &writer->text;
    if (text->failed) {
        str_finish(text); /* the next mark may have memory again */
        return error_memory(error);
    }
    int code = file_write_fd(writer->fd, writer->base.path, str_text(text), text->length, error);
    str_clear(text);
    return code;
}

/* Begins with the header. Lines of a live file are appended; another process may do so, too. */
static int begin_file(struct csv_writer *writer, struct gput_error *error)
{
    struct sub_tracking_writer *base = &writer->base;
    if (base->is_live && fcntl(writer->fd, F_SETFL, O_APPEND) != 0)
        return error_set_errno(error, errno, "Cannot write %s", base->path);
    if (!sub_tracking_csv_layout_init(&writer->layout, base->columns))
        return error_memory(error);
    sub_tracking_csv_append_header(&writer->text, &writer->layout);
    if (!base->is_live)
        return GPUT_OK;
    writer->end = (off_t)writer->text.length;
    TRY(write_text(writer, error));
    space_reserve_open(&writer->reserve, base->path, RESERVE_BYTES);
    return GPUT_OK;
}

static void free_members(struct csv_writer *writer)
{
    sub_tracking_csv_layout_finish(&writer->layout);
    str_finish(&writer->text);
}

/* Begins a new file with its header. */
static int csv_begin(struct sub_tracking_writer *base, int fd, struct gput_error *error)
{
    struct csv_writer *writer = (struct csv_writer *)base;
    writer->fd = fd;
    writer->reserve.fd = -1;
    int code = begin_file(writer, error);
    if (code != GPUT_OK) {
        close(fd);
        free_members(writer);
    }
    return code;
}

/* Joins a file whose columns no process will change any more. */
static int csv_join(struct sub_tracking_writer *base, struct gput_error *error)
{
    struct csv_writer *writer = (struct csv_writer *)base;
    writer->reserve.fd = -1;
    int code = sub_tracking_csv_layout_read(&writer->layout, base->path, error);
    if (code == GPUT_OK &&
        !(sub_tracking_csv_layout_columns(&writer->layout) & SUB_TRACKING_COLUMN_THREAD_ID))
        code = error_set(error, GPUT_ERROR_STATE, "%s was not shared.", base->path);
    if (code == GPUT_OK)
        code = file_target_open(base->path, O_WRONLY | O_APPEND, 0, &writer->fd, error);
    base->shared = code == GPUT_OK;
    if (code != GPUT_OK)
        free_members(writer);
    return code;
}

/* ---- Lines ---- */

/* Writes over bytes of the file; returns how many. */
static size_t write_over(struct csv_writer *writer, const char *bytes, size_t length, off_t offset)
{
    if (fcntl(writer->fd, F_SETFL, 0) != 0) /* with O_APPEND pwrite() ignores the offset */
        return 0;
    ssize_t done = pwrite(writer->fd, bytes, length, offset);
    fcntl(writer->fd, F_SETFL, O_APPEND);
    return done > 0 ? (size_t)done : 0;
}

/* Overwrites a partly written line by line ends, when others may have written after it: readers
 * skip empty lines. */
static bool blank_out(struct csv_writer *writer)
{
    char lines[256];
    memset(lines, '\n', sizeof lines);
    while (writer->torn_bytes > 0) {
        size_t length = writer->torn_bytes < sizeof lines ? writer->torn_bytes : sizeof lines;
        size_t done = write_over(writer, lines, length, writer->torn_at);
        if (done == 0)
            break;
        writer->torn_at += (off_t)done;
        writer->torn_bytes -= done;
    }
    return writer->torn_bytes == 0;
}

/* Removes a partly written line. False: it is still there, and nothing may be appended. */
static bool remove_torn(struct csv_writer *writer)
{
    struct stat status;
    if (writer->torn_bytes == 0)
        return true;
    if (fstat(writer->fd, &status) != 0)
        return false;
    off_t end = writer->torn_at + (off_t)writer->torn_bytes;
    if (writer->base.shared || status.st_size != end || ftruncate(writer->fd, writer->torn_at) != 0)
        return blank_out(writer);
    writer->torn_bytes = 0;
    return true;
}

/* Writes a line; returns the bytes written, with errno when these are not all. */
static size_t write_all(int fd, const struct str *line)
{
    size_t written = 0;
    while (written < line->length) {
        ssize_t done = write(fd, line->data + written, line->length - written);
        if (done < 0 && errno != EINTR)
            break;
        written += done > 0 ? (size_t)done : 0;
    }
    return written;
}

/*
 * Writes a line by one write: the file is open for appending, so that lines of several processes do
 * not mix, and a written line survives the end of the program. On a full disk a part of a line may
 * be written, which is removed. The lock is held, so that the file position is the end of our own
 * line. `left`: bytes that the line must leave below a limit of file sizes.
 */
static int write_line(
    struct csv_writer *writer, const struct str *line, size_t left, struct gput_error *error)
{
    struct file_limit limit;
    file_limit_block_signal(&limit);
    int code = GPUT_OK;
    size_t written = 0;
    struct stat status;
    bool is_above_limit = limit.held && fstat(writer->fd, &status) == 0 &&
                          (uint64_t)status.st_size + line->length + left > limit.bytes;
    if (is_above_limit)
        errno = EFBIG;
    else if (remove_torn(writer))
        written = write_all(writer->fd, line);
    writer->line_bytes = written == line->length ? written : 0;
    if (written == line->length && writer->end > 0)
        writer->end += (off_t)written;
    if (written < line->length) {
        code = error_set_errno(error, errno, "Cannot write %s", writer->base.path);
        writer->torn_bytes += written;
        if (written > 0)
            writer->torn_at = lseek(writer->fd, 0, SEEK_CUR) - (off_t)written;
        remove_torn(writer);
    }
    file_limit_unblock_signal(&limit);
    return code;
}

/* ---- Truncation by others ---- */

/* Returns where the last whole line below `size` ends; 0: there is none. */
static off_t end_of_lines(const struct csv_writer *writer, off_t size)
{
    char bytes[512];
    while (size > 0) {
        off_t from = size > (off_t)sizeof bytes ? size - (off_t)sizeof bytes : 0;
        ssize_t got = pread(writer->fd, bytes, (size_t)(size - from), from);
        const char *last = got > 0 ? memrchr(bytes, '\n', (size_t)got) : NULL;
        if (last)
            return from + (last - bytes) + 1;
        size = got == size - from ? from : 0;
    }
    return 0;
}

/* Repairs a file that another program has truncated: removes what is left of a line, and the line
 * that was appended to it. Counts a lost call until `until_ns`: at least a mark of it was there. */
static void repair(struct csv_writer *writer, int64_t until_ns)
{
    struct stat status;
    if (writer->end == 0 || writer->base.shared || fstat(writer->fd, &status) != 0 ||
        status.st_size >= writer->end)
        return;
    /* All of the file was there before the last line was written, when it was truncated after that.
     * When it was truncated just before, the line has been appended to what was left of another,
     * and the file position shows it. */
    off_t whole = status.st_size, at = lseek(writer->fd, 0, SEEK_CUR);
    if (writer->line_bytes > 0 && at >= 0 && at != writer->end &&
        at - (off_t)writer->line_bytes < whole)
        whole = at - (off_t)writer->line_bytes;
    off_t end = end_of_lines(writer, whole);
    writer->line_bytes = 0;
    struct sub_tracking_lost call = {.calls = 1,
        .at_least = true,
        .process_id = writer->base.process_id,
        .since_ns = until_ns,
        .until_ns = until_ns};
    sub_tracking_lost_add(&writer->lost, &call);
    bool has_rows = writer->lost_at > 0 && writer->lost_at + (off_t)writer->lost_bytes <= end;
    writer->torn_at = has_rows ? writer->lost_at : end; /* rows of the count so far are replaced */
    writer->torn_bytes = has_rows ? writer->lost_bytes : 0;
    if (has_rows)
        blank_out(writer);
    writer->lost_at = 0;
    writer->torn_at = end;
    writer->torn_bytes = (size_t)(status.st_size - end);
    remove_torn(writer);
    writer->end = end;
    if (end == 0) {
        /* Write the header again, when nothing is left of the file. */
        struct str header = {0};
        sub_tracking_csv_append_header(&header, &writer->layout);
        writer->end = 0;
        if (!header.failed && ftruncate(writer->fd, 0) == 0 &&
            write_line(writer, &header, 0, NULL) == GPUT_OK)
            writer->end = (off_t)header.length;
        str_finish(&header);
    }
}

/* ---- Lost calls ---- */

/* Has the file say how many calls were lost: in two rows, which are written over when there are
 * more. With the lock held. */
static void write_lost(struct csv_writer *writer)
{
    struct sub_tracking_mark rows[2];
    char name[SUB_TRACKING_LOST_NAME_SIZE];
    size_t length = sub_tracking_lost_rows(&writer->lost, rows, name);
    struct str text = {0};
    bool is_written = false;
    for (int i = 0; i < 2; i++)
        sub_tracking_csv_append_row(&text, &writer->layout, &rows[i], name, length);
    if (writer->lost_at > 0 && !text.failed && text.length == writer->lost_bytes) {
        is_written = write_over(writer, text.data, text.length, writer->lost_at) == text.length;
    } else if (!text.failed) {
        space_reserve_close(&writer->reserve);
        is_written = write_line(writer, &text, 0, NULL) == GPUT_OK;
        writer->lost_bytes = text.length;
        writer->lost_at = is_written ? lseek(writer->fd, 0, SEEK_CUR) - (off_t)text.length : 0;
    }
    if (is_written)
        writer->lost_written = writer->lost.calls;
    str_finish(&text);
}

/* Counts lost calls, and says so in the file if there is space. */
static void csv_add_lost(struct sub_tracking_writer *base, const struct sub_tracking_lost *lost)
{
    struct csv_writer *writer = (struct csv_writer *)base;
    pthread_mutex_lock(&base->lock);
    sub_tracking_lost_add(&writer->lost, lost);
    write_lost(writer);
    pthread_mutex_unlock(&base->lock);
}

/* ---- Thread ids ---- */

/* Copies all that is in the file, with the id of the one thread that has marked so far. */
static int copy_to(struct csv_writer *writer, struct sub_tracking_writer *file)
{
    CLEANUP_NAMES struct sub_tracking_names *names = sub_tracking_names_create();
    CLEANUP_READER struct sub_tracking_reader *reader = NULL;
    struct sub_tracking_mark rows[64];
    size_t count;
    if (!names)
        return GPUT_ERROR_MEMORY;
    TRY(sub_tracking_reader_open(writer->base.target, names, &reader, NULL));
    do {
        TRY(sub_tracking_reader_next(reader, rows, 64, &count, NULL));
        for (size_t i = 0; i < count; i++)
            rows[i].thread_id = atomic_load(&writer->base.only_thread);
        TRY(sub_tracking_writer_add(file, rows, count, names, NULL));
    } while (count > 0);
    TRY(sub_tracking_writer_add_lost(file, sub_tracking_reader_lost(reader), NULL));
    return sub_tracking_writer_add_labels(file, sub_tracking_reader_labels(reader), NULL);
}

/* Adds thread ids: replaces the file atomically by one that has them. On failure it is unchanged.
 */
static void csv_add_thread_ids(struct sub_tracking_writer *base)
{
    struct csv_writer *writer = (struct csv_writer *)base;
    unsigned columns = writer->base.columns | SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS;
    struct sub_tracking_csv_layout layout;
    struct stat ours, there;
    bool is_in_place = remove_torn(writer) && fstat(writer->fd, &ours) == 0 &&
                       stat(base->target, &there) == 0 && ours.st_dev == there.st_dev &&
                       ours.st_ino == there.st_ino;
    if (!is_in_place || !sub_tracking_csv_layout_init(&layout, columns))
        return;
    struct sub_tracking_writer *file;
    int fd = -1, code = sub_tracking_writer_begin(
                     base->target, &sub_tracking_csv_writer, columns, &file, NULL);
    if (code == GPUT_OK && copy_to(writer, file) != GPUT_OK)
        sub_tracking_writer_abandon(file);
    else if (code == GPUT_OK && sub_tracking_writer_finish(file, NULL) == GPUT_OK)
        fd = open(base->target, O_RDWR | O_APPEND | O_CLOEXEC);
    if (fd < 0) {
        sub_tracking_csv_layout_finish(&layout);
        return;
    }
    close(writer->fd);
    writer->fd = fd;
    writer->line_bytes = 0;
    sub_tracking_csv_layout_finish(&writer->layout);
    writer->layout = layout;
    /* They were copied; further ones are other rows. */
    writer->lost.calls -= writer->lost_written; /* from 0 on the time is a new one, too */
    writer->lost_written = 0;
    writer->lost_at = 0;
    struct stat status;
    writer->end = fstat(fd, &status) == 0 ? status.st_size : 0;
}

/* Adds thread ids now: that replaces the file, which other processes must not have open then. */
static void csv_share(struct sub_tracking_writer *base)
{
    struct csv_writer *writer = (struct csv_writer *)base;
    sub_tracking_writer_decide_thread_ids(base);
    base->shared = sub_tracking_csv_layout_columns(&writer->layout) & SUB_TRACKING_COLUMN_THREAD_ID;
}

/* ---- Marks ---- */

/* Writes the line of a mark of that time; once more when the file turns out to be truncated. */
static int write_mark(
    struct csv_writer *writer, const struct str *line, int64_t time_ns, struct gput_error *error)
{
    size_t left = writer->lost_at > 0 ? 0 : LOST_ROWS_BYTES;
    TRY(write_line(writer, line, left, error));
    /* Whether the line is where the one before ended. The file position says so for a third of what
     * the size costs: once its times have been read, the kernel writes new ones. */
    if (writer->end == 0 || writer->base.shared || lseek(writer->fd, 0, SEEK_CUR) == writer->end)
        return GPUT_OK;
    repair(writer, time_ns);
    return write_line(writer, line, left, error);
}

/* Adds a row: to the text of a whole file, or at once to a live one. */
static int csv_add(struct sub_tracking_writer *base, struct block_log_cursor *cursor,
    const struct block_name *name, const struct sub_tracking_mark *row, struct gput_error *error)
{
    struct csv_writer *writer = (struct csv_writer *)base;
    struct str *text = &writer->text;
    (void)cursor;
    if (!base->is_live) {
        sub_tracking_csv_append_row(text, &writer->layout, row, name->text, name->length);
        return text->failed || text->length >= BUFFER_BYTES ? write_text(writer, error) : GPUT_OK;
    }
    int code = GPUT_OK;
    pthread_mutex_lock(&base->lock);
    str_clear(text);
    sub_tracking_csv_append_row(text, &writer->layout, row, name->text, name->length);
    if (text->failed) {
        str_finish(text); /* the next mark may have memory again */
        code = error_memory(error);
    } else {
        code = write_mark(writer, text, row->timestamp_ns, error);
    }
    if (code == GPUT_OK && writer->lost_written != writer->lost.calls)
        write_lost(writer);
    pthread_mutex_unlock(&base->lock);
    return code;
}

/* Passes lines on as other threads have made them. */
static int csv_pass(struct sub_tracking_writer *base, struct sub_tracking_reader *reader,
    unsigned cores, size_t *count, struct gput_error *error)
{
    struct csv_writer *writer = (struct csv_writer *)base;
    const struct csv_lines *lines = sub_tracking_csv_take_lines(reader, &writer->layout, cores);
    if (!lines)
        return GPUT_OK;
    TRY(write_text(writer, error));
    TRY(file_write_fd(writer->fd, base->path, lines->text.data, lines->text.length, error));
    *count = lines->rows;
    return sub_tracking_csv_skip_lines(reader, lines, error);
}

/* ---- The end ---- */

/* Writes what is left, with the number of lost calls, and closes the file. */
static int csv_finish(struct sub_tracking_writer *base, struct gput_error *error)
{
    struct csv_writer *writer = (struct csv_writer *)base;
    int code = base->is_live ? GPUT_OK : write_text(writer, error);
    if (base->is_live)
        repair(writer, wall_clock_ns());
    if (base->is_live && writer->lost_written != writer->lost.calls)
        write_lost(writer);
    space_reserve_close(&writer->reserve);
    if (close(writer->fd) != 0 && code == GPUT_OK)
        code = error_set_errno(error, errno, "Cannot write %s", base->path);
    free_members(writer);
    return code;
}

/* Closes the file of the parent in a child, which has nothing to say in it. */
static void csv_forget(struct sub_tracking_writer *base)
{
    struct csv_writer *writer = (struct csv_writer *)base;
    writer->lost_written = writer->lost.calls; /* the parent's, as is what was written since */
    writer->end = 0;
    csv_finish(base, NULL);
}

/* ---- A single mark ---- */

/* Makes the locked file end in a complete line: removes a row without a line end, which no reader
 * counts. */
static int end_last_line(const struct sub_tracking_csv_layout *layout, int fd, const char *path,
    off_t size, struct str *text, struct gput_error *error)
{
    char last;
    size_t torn_bytes = 0;
    if (pread(fd, &last, 1, size - 1) != 1 || last == '\n')
        return GPUT_OK;
    /* Find how many bytes a truncated row at the end has; 0 for a header. Its name may have line
     * ends, but rows that a damaged quote has joined with it stay. */
    struct csv_reader *reader;
    struct csv_record record;
    bool end = false;
    int code = GPUT_OK;
    TRY(csv_reader_open(path, &reader, error));
    for (size_t records = 0; code == GPUT_OK && !end; records++) {
        code = csv_reader_next(reader, &record, &end, error);
        if (code == GPUT_OK && !end && !record.terminated && records > 0)
            torn_bytes = sub_tracking_csv_row_joins(layout, record.text, record.end)
                             ? (size_t)(record.end - 1 -
                                        (char *)memrchr(
                                            record.text, '\n', (size_t)(record.end - record.text)))
                             : (size_t)(record.end - record.text);
    }
    csv_reader_close(reader);
    TRY(code);
    if (torn_bytes == 0)
        str_append_char(text, '\n');
    else if (ftruncate(fd, size - (off_t)torn_bytes) != 0)
        return error_set_errno(error, errno, "Cannot write %s", path);
    return GPUT_OK;
}

/* Makes the text to append to the locked file. */
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

/* Appends a mark, with a lock against other writers. Without one the write is still atomic: a file
 * system whose locks hang does not hold a script up. */
static int csv_append(const char *path, const char *name, const struct sub_tracking_mark *row,
    struct gput_error *error)
{
    int fd;
    TRY(file_target_open(path, O_RDWR | O_CREAT | O_APPEND, 0666, &fd, error));
    struct str text = {0};
    for (int tries = 0; tries < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        nanosleep(&pause, NULL);
    }
    int code = compose(fd, path, row, name, &text, error);
    if (code == GPUT_OK)
        code = file_write_fd(fd, path, text.data, text.length, error);
    str_finish(&text);
    if (close(fd) != 0 && code == GPUT_OK)
        code = error_set_errno(error, errno, "Cannot write %s", path);
    return code;
}

const struct sub_tracking_writer_methods sub_tracking_csv_writer = {
    .format = SUB_TRACKING_CSV,
    .bytes = sizeof(struct csv_writer),
    .begin = csv_begin,
    .join = csv_join,
    .share = csv_share,
    .add_thread_ids = csv_add_thread_ids,
    .add = csv_add,
    .pass = csv_pass,
    .add_lost = csv_add_lost,
    .finish = csv_finish,
    .forget = csv_forget,
    .append = csv_append,
};
