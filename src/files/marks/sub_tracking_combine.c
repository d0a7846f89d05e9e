#include "base/file.h"
#include "base/str.h"
#include "base/text.h"
#include "files/marks/sub_tracking_file.h"

#include "base/sized.h"

#include <gputracker/sub_tracking.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Marks are copied in batches of this many. */
#define BATCH_ROWS 1024

struct combination {
    const char *const *paths;
    size_t n_paths;
    const struct gput_sub_tracking_options *options;
    struct sub_tracking_writer *writer;
    struct sub_tracking_mark *rows;
    uint64_t bytes_done; /* of the files that are read completely */
    uint64_t bytes_total;
};

static const struct gput_sub_tracking_options usual = {.size = sizeof usual};

void gput_sub_tracking_options_init(struct gput_sub_tracking_options *options, size_t size)
{
    sized_init(options, size, &usual, sizeof usual);
}

/* ---- Preparation ---- */

/* Returns ".csv" of "a/b.csv", "" when there is none. */
static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot : "";
}

static uint64_t bytes_of(const struct sub_tracking_reader *reader)
{
    uint64_t done, total;
    sub_tracking_reader_progress(reader, &done, &total);
    return total;
}

/* Reads the header of each file: validates it, collects its columns and its size. */
static int survey(struct combination *work, unsigned *columns, struct gput_error *error)
{
    *columns = 0;
    for (size_t i = 0; i < work->n_paths; i++) {
        CLEANUP_NAMES struct sub_tracking_names *names = sub_tracking_names_create();
        CLEANUP_READER struct sub_tracking_reader *reader = NULL;
        if (!names)
            return error_memory(error);
        TRY(sub_tracking_reader_open(work->paths[i], names, &reader, error));
        work->bytes_total += bytes_of(reader);
        *columns |= sub_tracking_reader_columns(reader);
    }
    return GPUT_OK;
}

/* ---- Copying ---- */

/* Tells the caller how much of all files was read. */
static void report_progress(
    const struct combination *work, const struct sub_tracking_reader *reader)
{
    uint64_t done;
    uint64_t total;
    sub_tracking_reader_progress(reader, &done, &total);
    if (!work->options->progress || work->bytes_total == 0)
        return;
    double share = (double)(work->bytes_done + done) / (double)work->bytes_total;
    work->options->progress(work->options->user, share < 1 ? share : 1);
}

/* Copies a file. Each has its own name table, so that memory is bounded by the names of one file.
 */
static int copy_file(struct combination *work, const char *path, struct gput_error *error)
{
    CLEANUP_NAMES struct sub_tracking_names *names = sub_tracking_names_create();
    CLEANUP_READER struct sub_tracking_reader *reader = NULL;
    if (!names)
        return error_memory(error);
    TRY(sub_tracking_reader_open(path, names, &reader, error));
    /* Copy the rows of a file, and what it says besides. */
    size_t count;
    do {
        TRY(sub_tracking_reader_pass(reader, work->writer, work->options->cores, &count, error));
        if (count == 0) {
            TRY(sub_tracking_reader_next(reader, work->rows, BATCH_ROWS, &count, error));
            TRY(sub_tracking_writer_add(work->writer, work->rows, count, names, error));
        }
        if (count > 0)
            report_progress(work, reader);
    } while (count > 0);
    TRY(sub_tracking_writer_add_lost(work->writer, sub_tracking_reader_lost(reader), error));
    TRY(sub_tracking_writer_add_labels(work->writer, sub_tracking_reader_labels(reader), error));
    const char *warning = sub_tracking_reader_warning(reader);
    if (warning && work->options->warn)
        work->options->warn(work->options->user, warning);
    work->bytes_done += bytes_of(reader);
    return GPUT_OK;
}

int gput_sub_tracking_combine(const char *output, const char *const *paths, size_t n_paths,
    const struct gput_sub_tracking_options *given, struct gput_error *error)
{
    struct gput_sub_tracking_options options = usual;
    struct combination work = {.paths = paths, .n_paths = n_paths, .options = &options};
    TRY(sized_read(&options, sizeof options, given, error));
    if (n_paths == 0)
        return error_set(error, GPUT_ERROR_INVALID, "There are no sub-tracking files to combine.");
    /* Refuse an output that exists, and files whose format is not allowed. */
    struct stat status;
    enum sub_tracking_format format;
    TRY(sub_tracking_format_of(output, &format, error));
    /* An empty one is what a tracker that was killed left of its claim to the name. */
    if (lstat(output, &status) == 0 && (!S_ISREG(status.st_mode) || status.st_size > 0))
        return error_set(error, GPUT_ERROR_EXISTS,
            "Cannot create sub-tracking file %s. File already exists.", output);
    const char *extension = extension_of(output);
    for (size_t i = 0; i < work.n_paths; i++) {
        const char *path = work.paths[i];
        if (work.options->mix)
            TRY(sub_tracking_format_of(path, &format, error));
        else if (strcmp(extension_of(path), extension) != 0)
            return error_set(error, GPUT_ERROR_INVALID,
                "File %s does not end with the same extension as %s. Must end in \"%s\".", path,
                output, extension);
    }
    unsigned columns;
    TRY(survey(&work, &columns, error));
    TRY(sub_tracking_writer_create(output, columns, &work.writer, error));
    CLEANUP_FREE struct sub_tracking_mark *rows = work.rows = calloc(BATCH_ROWS, sizeof *work.rows);
    int code = rows ? GPUT_OK : error_memory(error);
    for (size_t i = 0; code == GPUT_OK && i < n_paths; i++)
        code = copy_file(&work, paths[i], error);
    if (code == GPUT_OK)
        return sub_tracking_writer_finish(work.writer, error);
    sub_tracking_writer_abandon(work.writer);
    return code;
}

/* ---- Directories ---- */

/* Skips "." and "..", and what a killed writer or a collector of regions leaves. */
static int is_wanted(const struct dirent *entry)
{
    const char *name = entry->d_name;
    return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           !text_ends_with(name, ".sqlite-wal") && !text_ends_with(name, ".sqlite-shm") &&
           !text_ends_with(name, ".sqlite-journal") && !text_ends_with(name, ".part") &&
           !text_ends_with(name, ".status") && !text_ends_with(name, ".values") &&
           !text_ends_with(name, ".fits");
}

int gput_sub_tracking_combine_directory(const char *output, const char *directory,
    const struct gput_sub_tracking_options *options, struct gput_error *error)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_wanted, file_by_name);
    if (count < 0 && errno == ENOTDIR)
        return error_set(error, GPUT_ERROR_INVALID,
            "%s is not a directory. A single path stands for a directory of sub-tracking files; "
            "to combine files, name at least two.",
            directory);
    if (count < 0)
        return error_set_errno(error, errno, "Cannot read directory %s", directory);
    int code = count == 0 ? error_set(error, GPUT_ERROR_NOT_FOUND,
                                "There are no sub-tracking files in directory %s.", directory)
                          : GPUT_OK;
    char **paths = calloc((size_t)count + 1, sizeof *paths);
    for (int i = 0; i < count; i++) {
        if (paths) {
            struct str path = {0};
            str_printf(&path, "%s%s%s", directory, text_ends_with(directory, "/") ? "" : "/",
                entries[i]->d_name);
            paths[i] = str_steal(&path);
        }
        if (!paths || !paths[i])
            code = error_memory(error);
        free(entries[i]);
    }
    free(entries);
    if (code == GPUT_OK)
        code = gput_sub_tracking_combine(
            output, (const char *const *)paths, (size_t)count, options, error);
    for (int i = 0; paths && i < count; i++)
        free(paths[i]);
    free(paths);
    return code;
}
