#include "files/marks/sub_tracking_writer.h"

#include "base/file.h"
#include "base/file_target.h"
#include "base/wall_clock.h"
#include "files/marks/block_path.h"
#include "files/marks/sub_tracking_columns.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Frees the writer, whose file is closed. */
static void free_writer(struct sub_tracking_writer *writer)
{
    sub_tracking_names_destroy(writer->names);
    part_file_close(&writer->part);
    free(writer->path);
    free(writer->target);
    free(writer);
}

/* Creates a writer without a file. NULL without memory. */
static struct sub_tracking_writer *make_writer(
    const char *path, const struct sub_tracking_writer_methods *methods, unsigned columns)
{
    struct sub_tracking_writer *made = calloc(1, methods->bytes);
    if (!made)
        return NULL;
    made->methods = methods;
    made->columns = columns;
    made->part.lock_fd = -1;
    made->path = strdup(path);
    if (made->path)
        return made;
    free_writer(made);
    return NULL;
}

/* ---- Whole files ---- */

/* Begins a file that is written whole, under a temporary name. */
static int begin_whole(struct sub_tracking_writer *writer, struct gput_error *error)
{
    int fd;
    if (writer->methods->add_name && !(writer->names = sub_tracking_names_create()))
        return error_memory(error);
    TRY(file_target(writer->path, &writer->target, error));
    TRY(part_file_create(writer->target, writer->path, &writer->part, &fd, error));
    return writer->methods->begin(writer, fd, error);
}

int sub_tracking_writer_begin(const char *path, const struct sub_tracking_writer_methods *methods,
    unsigned columns, struct sub_tracking_writer **writer, struct gput_error *error)
{
    *writer = NULL;
    struct sub_tracking_writer *made = make_writer(path, methods, columns);
    if (!made)
        return error_memory(error);
    made->limit_bytes = UINT64_MAX;
    int code = begin_whole(made, error);
    if (code == GPUT_OK)
        *writer = made;
    else
        free_writer(made);
    return code;
}

int sub_tracking_writer_add(struct sub_tracking_writer *writer,
    const struct sub_tracking_mark *rows, size_t count, const struct sub_tracking_names *names,
    struct gput_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct block_name name = {.number = rows[i].name,
            .length = (uint32_t)sub_tracking_names_length(names, rows[i].name),
            .text = sub_tracking_names_text(names, rows[i].name)};
        if (writer->names) {
            uint32_t before = sub_tracking_names_count(writer->names);
            name.number = sub_tracking_names_add(writer->names, name.text, name.length);
            if (name.number == SUB_TRACKING_NO_NAME)
                return error_memory(error);
            if (name.number >= before)
                TRY(writer->methods->add_name(writer, &name, error));
        }
        TRY(writer->methods->add(writer, &writer->cursor, &name, &rows[i], error));
    }
    return GPUT_OK;
}

/* Adds a start and a stop of that name. */
static int add_pair(struct sub_tracking_writer *writer, struct sub_tracking_mark rows[2],
    const char *name, struct gput_error *error)
{
    struct sub_tracking_names *names = sub_tracking_names_create();
    if (names)
        rows[0].name = rows[1].name = sub_tracking_names_add(names, name, strlen(name));
    int code = !names || rows[0].name == SUB_TRACKING_NO_NAME
                   ? error_memory(error)
                   : sub_tracking_writer_add(writer, rows, 2, names, error);
    sub_tracking_names_destroy(names);
    return code;
}

int sub_tracking_writer_add_lost(struct sub_tracking_writer *writer,
    const struct sub_tracking_lost *lost, struct gput_error *error)
{
    if (writer->methods->count_lost) {
        if (lost->calls > 0 || lost->at_least)
            writer->methods->add_lost(writer, lost);
        /* One more than the calls have: there are at least so many. */
        writer->methods->count_lost(writer, (int64_t)(2 * lost->calls + lost->at_least));
        return GPUT_OK;
    }
    if (lost->calls == 0)
        return GPUT_OK;
    struct sub_tracking_mark rows[2];
    char name[SUB_TRACKING_LOST_NAME_SIZE];
    sub_tracking_lost_rows(lost, rows, name);
    return add_pair(writer, rows, name, error);
}

int sub_tracking_writer_add_labels(struct sub_tracking_writer *writer,
    const struct sub_tracking_labels *labels, struct gput_error *error)
{
    for (size_t i = 0; i < labels->count; i++) {
        const struct sub_tracking_label *label = &labels->items[i];
        char name[SUB_TRACKING_LABEL_SIZE];
        struct sub_tracking_mark rows[2]; /* a call without a duration */
        if (label->category)
            sub_tracking_label_category(label->category, name);
        else if (label->thread_name)
            sub_tracking_label_thread(label->thread_id, label->thread_name, name);
        else
            sub_tracking_label_rank(label->rank, name);
        rows[0] = (struct sub_tracking_mark){.process_id = label->process_id};
        sub_tracking_mark_clear_figures(&rows[0]);
        rows[0].timestamp_ns = label->timestamp_ns;
        rows[0].timestamp = sub_tracking_seconds_of_ns(label->timestamp_ns);
        rows[0].thread_id = label->process_id;
        rows[1] = rows[0];
        rows[1].position = SUB_TRACKING_STOP;
        TRY(add_pair(writer, rows, name, error));
    }
    return GPUT_OK;
}

int sub_tracking_writer_finish(struct sub_tracking_writer *writer, struct gput_error *error)
{
    int code = writer->methods->finish(writer, error);
    if (code == GPUT_OK)
        code = part_file_keep(&writer->part, writer->target, writer->path, error);
    free_writer(writer);
    return code;
}

void sub_tracking_writer_abandon(struct sub_tracking_writer *writer)
{
    if (!writer)
        return;
    writer->methods->finish(writer, NULL);
    free_writer(writer);
}

/* ---- Live files ---- */

/* Creates a writer of a live file that is not open yet. NULL without memory. */
static struct sub_tracking_writer *make_live(const char *path, const struct sub_tracking_live *live)
{
    struct sub_tracking_writer *made = make_writer(path, live->methods, live->columns);
    if (!made)
        return NULL;
    made->is_live = true;
    pthread_mutex_init(&made->lock, NULL);
    made->process_id = live->process_id;
    made->limit_bytes = live->limit_bytes;
    bool has_thread_ids = live->columns & SUB_TRACKING_COLUMN_THREAD_ID;
    atomic_init(&made->thread_ids_decided, has_thread_ids || !live->methods->add_thread_ids);
    made->target = block_path_absolute(path);
    if (made->target)
        return made;
    free_writer(made);
    return NULL;
}

/* Removes an existing file of a format, with the files that belong to it. */
static int remove_file(
    const char *path, const struct sub_tracking_writer_methods *methods, struct gput_error *error)
{
    if (methods->remove)
        return methods->remove(path, error);
    if (unlink(path) != 0 && errno != ENOENT)
        return error_set_errno(error, errno, "Cannot overwrite %s", path);
    return GPUT_OK;
}

/* Creates the file. An existing one is removed, not truncated: another process may have it mapped.
 */
static int begin_live(struct sub_tracking_writer *writer, bool overwrite, struct gput_error *error)
{
    const char *path = writer->path;
    if (overwrite)
        TRY(remove_file(path, writer->methods, error));
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return error_set_exists(error, path);
    if (fd < 0)
        return error_set_errno(error, errno, "Cannot create %s", path);
    int code = writer->methods->begin(writer, fd, error);
    if (code != GPUT_OK)
        remove_file(path, writer->methods, NULL);
    return code;
}

int sub_tracking_writer_open(const char *path, const struct sub_tracking_live *live,
    struct sub_tracking_writer **writer, struct gput_error *error)
{
    struct file_limit limit;
    *writer = NULL;
    struct sub_tracking_writer *made = make_live(path, live);
    if (!made)
        return error_memory(error);
    file_limit_block_signal(&limit);
    int code = begin_live(made, live->overwrite, error);
    file_limit_unblock_signal(&limit);
    if (code == GPUT_OK)
        *writer = made;
    else
        free_writer(made);
    return code;
}

int sub_tracking_writer_join(const char *path, const struct sub_tracking_live *live,
    struct sub_tracking_writer **writer, struct gput_error *error)
{
    struct file_limit limit;
    *writer = NULL;
    if (!live->methods->join)
        return error_set(error, GPUT_ERROR_STATE, "%s belongs to the process that began it.", path);
    struct sub_tracking_writer *made = make_live(path, live);
    if (!made)
        return error_memory(error);
    file_limit_block_signal(&limit);
    int code = live->methods->join(made, error);
    file_limit_unblock_signal(&limit);
    atomic_store(&made->thread_ids_decided, true);
    if (code == GPUT_OK)
        *writer = made;
    else
        free_writer(made);
    return code;
}

int sub_tracking_writer_close(struct sub_tracking_writer *writer, struct gput_error *error)
{
    struct file_limit limit;
    file_limit_block_signal(&limit);
    int code = writer->methods->finish(writer, error);
    file_limit_unblock_signal(&limit);
    pthread_mutex_destroy(&writer->lock);
    free_writer(writer);
    return code;
}

bool sub_tracking_writer_forget(struct sub_tracking_writer *writer)
{
    if (!writer->methods->forget)
        return false;
    writer->methods->forget(writer);
    free_writer(writer);
    return true;
}

void sub_tracking_writer_lose_call(struct sub_tracking_writer *writer)
{
    int64_t now_ns = wall_clock_ns();
    struct sub_tracking_lost call = {
        .calls = 1, .process_id = writer->process_id, .since_ns = now_ns, .until_ns = now_ns};
    writer->methods->add_lost(writer, &call);
}

void sub_tracking_writer_decide_thread_ids(struct sub_tracking_writer *writer)
{
    struct file_limit limit;
    pthread_mutex_lock(&writer->lock);
    file_limit_block_signal(&limit);
    if (!atomic_load(&writer->thread_ids_decided))
        writer->methods->add_thread_ids(writer);
    file_limit_unblock_signal(&limit);
    atomic_store_explicit(&writer->thread_ids_decided, true, memory_order_release);
    pthread_mutex_unlock(&writer->lock);
}
