#include "analysis/blocks/block_writer.h"

#include "analysis/blocks/block_path.h"
#include "base/file_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int remove_file(
    const char *path, const struct block_writer_methods *methods, struct gput_error *error)
{
    if (methods->remove)
        return methods->remove(path, error);
    if (unlink(path) != 0 && errno != ENOENT)
        return error_set_errno(error, errno, "Cannot overwrite %s", path);
    return GPUT_OK;
}

/* Creates an empty file. An existing one is removed, not truncated: another process may have it
 * mapped. */
static int create_file(const char *path, const struct block_writer_methods *methods, bool overwrite,
    int *fd, struct gput_error *error)
{
    if (overwrite)
        TRY(remove_file(path, methods, error));
    *fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*fd >= 0)
        return GPUT_OK;
    if (errno == EEXIST)
        return error_set_exists(error, path);
    return error_set_errno(error, errno, "Cannot create %s", path);
}

static unsigned columns_of(const struct gput_blocks_options *options)
{
    return (options->thread_ids ? SUB_TRACKING_COLUMNS_DISTINGUISH_CALLS : 0u) |
           (options->exact ? SUB_TRACKING_COLUMNS_EXACT : 0u) |
           (options->exact && options->block_peaks ? SUB_TRACKING_COLUMN_BLOCK_PEAK : 0u) |
           (options->exact && options->counters ? SUB_TRACKING_COLUMNS_COUNTERS : 0u) |
           (options->exact && options->gpu_time ? SUB_TRACKING_COLUMN_GPU : 0u);
}

static void free_writer(struct block_writer *writer)
{
    block_figures_close(&writer->figures);
    free(writer->path);
    free(writer->absolute);
    free(writer);
}

/* What cannot be read is unknown in each mark. */
static void open_figures(struct block_figures *figures, const struct gput_blocks_options *options)
{
    const char *procfs_root = options->procfs_root ? options->procfs_root : "/proc";
    const char *sysfs_root = options->sysfs_root ? options->sysfs_root : "/sys";
    block_figures_open_peak(figures);
    if (options->energy)
        block_figures_open_energy(figures, sysfs_root);
    if (options->gpu_time)
        own_gpu_time_open(procfs_root, sysfs_root, &figures->gpu_time, NULL);
    if (options->block_peaks)
        block_figures_open_block_peaks(figures, NULL);
    figures->has_counters = options->counters;
}

static int create_writer(const char *path, const struct gput_blocks_options *options,
    struct block_writer **writer, struct gput_error *error)
{
    const struct block_writer_methods *methods;
    TRY(block_writer_methods_find(path, &methods, error));
    struct block_writer *created = calloc(1, methods->bytes);
    if (!created)
        return error_memory(error);
    created->methods = methods;
    created->process_id = options->process_id ? options->process_id : getpid();
    created->exact = options->exact;
    created->columns = columns_of(options);
    created->limit_bytes = options->limit_bytes;
    atomic_init(&created->thread_ids_decided, options->thread_ids);
    created->path = strdup(path);
    created->absolute = block_path_absolute(path);
    if (!created->path || !created->absolute) {
        free_writer(created);
        return error_memory(error);
    }
    if (options->exact)
        open_figures(&created->figures, options);
    *writer = created;
    return GPUT_OK;
}

static int open_writer(const char *path, const struct gput_blocks_options *options,
    struct block_writer **writer, struct gput_error *error)
{
    struct block_writer *created;
    TRY(create_writer(path, options, &created, error));
    int fd;
    int code = create_file(path, created->methods, options->overwrite, &fd, error);
    if (code == GPUT_OK) {
        code = created->methods->begin(created, fd, error);
        if (code != GPUT_OK)
            remove_file(path, created->methods, NULL);
    }
    if (code != GPUT_OK) {
        free_writer(created);
        return code;
    }
    *writer = created;
    return GPUT_OK;
}

int block_writer_open(const char *path, const struct gput_blocks_options *options,
    struct block_writer **writer, struct gput_error *error)
{
    struct file_limit limit;
    *writer = NULL;
    file_limit_block_signal(&limit);
    int code = open_writer(path, options, writer, error);
    file_limit_unblock_signal(&limit);
    return code;
}

static int join_writer(const char *path, const struct gput_blocks_options *options,
    struct block_writer **writer, struct gput_error *error)
{
    struct block_writer *created;
    TRY(create_writer(path, options, &created, error));
    int code = created->methods->join ? created->methods->join(created, error)
                                      : error_set(error, GPUT_ERROR_STATE,
                                            "%s belongs to the process that began it.", path);
    if (code != GPUT_OK) {
        free_writer(created);
        return code;
    }
    atomic_store(&created->thread_ids_decided, true);
    *writer = created;
    return GPUT_OK;
}

int block_writer_join(const char *path, const struct gput_blocks_options *options,
    struct block_writer **writer, struct gput_error *error)
{
    struct file_limit limit;
    *writer = NULL;
    file_limit_block_signal(&limit);
    int code = join_writer(path, options, writer, error);
    file_limit_unblock_signal(&limit);
    return code;
}

int block_writer_close(struct block_writer *writer, struct gput_error *error)
{
    struct file_limit limit;
    file_limit_block_signal(&limit);
    int code = writer->methods->finish(writer, error);
    file_limit_unblock_signal(&limit);
    free_writer(writer);
    return code;
}

void block_writer_abandon(struct block_writer *writer)
{
    if (!writer->methods->forget)
        return;
    writer->methods->forget(writer);
    free_writer(writer);
}

void block_writer_end_thread(struct block_writer *writer, struct block_writer_thread *thread)
{
    if (writer && writer->methods->leave)
        writer->methods->leave(writer, thread);
    block_figures_end_thread(writer ? &writer->figures : NULL, &thread->figures);
    block_log_free_cursor(&thread->cursor);
    thread->plain_log = NULL;
    str_finish(&thread->line);
    block_losses_finish(&thread->losses);
}
