#include "base/file.h"
#include "blocks/block_sink.h"
#include "store/sub_tracking_csv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

struct csv_sink {
    struct block_sink base;
    int fd;
    struct sub_tracking_csv_layout layout;
    _Atomic int broken; /* errno of a line that was written in part: nothing may follow it */
};

static int csv_begin(struct block_sink *base, int fd, struct gput_error *error)
{
    struct csv_sink *sink = (struct csv_sink *)base;
    sink->fd = fd;
    struct str header = {0};
    int code = GPUT_OK;
    if (fcntl(fd, F_SETFL, O_APPEND) != 0)
        code = error_set_errno(error, errno, "Cannot write %s", base->path);
    else if (!sub_tracking_csv_layout_init(&sink->layout, base->columns))
        code = error_memory(error);
    else
        sub_tracking_csv_append_header(&header, &sink->layout);
    if (code == GPUT_OK && header.failed)
        code = error_memory(error);
    if (code == GPUT_OK)
        code = file_write_fd(fd, base->path, header.data, header.length, error);
    str_finish(&header);
    if (code != GPUT_OK) {
        close(fd);
        sub_tracking_csv_layout_finish(&sink->layout);
    }
    return code;
}

/*
 * One write a line: the file is open for appending, so that lines of several threads do not mix,
 * and what was written is the kernel's, whatever becomes of the program.
 */
static int write_line(struct csv_sink *sink, const struct str *line, struct gput_error *error)
{
    int broken = atomic_load_explicit(&sink->broken, memory_order_relaxed);
    if (broken)
        return error_set_errno(error, broken, "Cannot write %s", sink->base.path);
    ssize_t done;
    do
        done = write(sink->fd, line->data, line->length);
    while (done < 0 && errno == EINTR);
    if (done == (ssize_t)line->length)
        return GPUT_OK;
    if (done > 0) {
        done = write(sink->fd, line->data + done, line->length - (size_t)done) -
               (ssize_t)(line->length - (size_t)done);
        if (done == 0)
            return GPUT_OK;
        atomic_store(&sink->broken, ENOSPC);
        return error_set_errno(error, ENOSPC, "Cannot write %s", sink->base.path);
    }
    return error_set_errno(error, errno, "Cannot write %s", sink->base.path);
}

static int csv_mark(struct block_sink *base, struct block_sink_thread *thread,
    const struct block_name *name, enum sub_tracking_position position, struct gput_error *error)
{
    struct csv_sink *sink = (struct csv_sink *)base;
    struct sub_tracking_row row;
    block_sink_fill_row(base, thread, position, &row);
    str_clear(&thread->line);
    sub_tracking_csv_append_row(&thread->line, &sink->layout, &row, name->text, name->length);
    if (thread->line.failed)
        return error_memory(error);
    return write_line(sink, &thread->line, error);
}

static int csv_finish(struct block_sink *base, struct gput_error *error)
{
    struct csv_sink *sink = (struct csv_sink *)base;
    sub_tracking_csv_layout_finish(&sink->layout);
    if (close(sink->fd) != 0)
        return error_set_errno(error, errno, "Cannot write %s", base->path);
    return GPUT_OK;
}

static void csv_forget(struct block_sink *base)
{
    csv_finish(base, NULL);
}

const struct block_sink_methods block_sink_csv = {
    .bytes = sizeof(struct csv_sink),
    .begin = csv_begin,
    .mark = csv_mark,
    .finish = csv_finish,
    .forget = csv_forget,
};
