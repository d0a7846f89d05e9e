#include "files/history/history_files.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/doc.h"
#include "base/file.h"
#include "base/order.h"
#include "base/ordered_jobs.h"
#include "base/table.h"
#include "base/text.h"
#include "files/catalogue/catalogue.h"
#include "files/results/results_read.h"
#include "files/tracking/tracking_identity.h"
#include "files/tracking/tracking_reader.h"
#include "model/results_identity.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Folders in folders that are read. */
#define MAX_DEPTH 16

/* More threads than this would wait for the disk. */
#define MAX_THREADS 8

/* Files that a thread reads before it asks for more. */
#define FILES_AT_ONCE 256

/* Further facts of a file. */
struct entry {
    double key; /* to sort by; NaN: not known */
    double start;
    struct gput_error *failure; /* why it cannot be read; owned */
    bool lacks_memory;
    bool is_named; /* by the caller: it has to be a session */
    bool passes;   /* the filter */
};

/* The files of sessions, and who reads them. */
struct found {
    const struct gput_history_query *query;
    const struct history_filter *filter;
    struct catalogue_file *files; /* their paths are owned */
    struct entry *entries;
    size_t count;
    struct results_reader readers[MAX_THREADS];
    unsigned n_readers;
};

/* Frees the list of files and the readers. */
static void found_finish(struct found *found)
{
    for (size_t i = 0; i < found->count; i++) {
        free((char *)(uintptr_t)found->files[i].path);
        free(found->entries[i].failure);
    }
    free(found->files);
    free(found->entries);
    for (unsigned i = 0; i < found->n_readers; i++)
        results_reader_finish(&found->readers[i]);
}

/* ---- Finding files ---- */

/* Adds a file, and takes its path. */
static int add_file(struct found *found, char *path, enum catalogue_kind kind, bool is_named,
    struct gput_error *error)
{
    if (!path || !ARRAY_EXTEND(found->files, found->count) ||
        !ARRAY_EXTEND(found->entries, found->count)) {
        free(path);
        return error_memory(error);
    }
    catalogue_file_init(&found->files[found->count], path, kind, 0);
    found->entries[found->count++] = (struct entry){.key = NAN, .start = NAN, .is_named = is_named};
    return GPUT_OK;
}

/* Adds a file, unless its name says that it is none of a session. A manifest stands for the file
 * that it is next to, which may be gone. */
static int add_path(struct found *found, const char *path, bool is_named, struct gput_error *error)
{
    if (text_ends_with(path, TRACKING_IDENTITY_EXTENSION))
        return add_file(
            found, tracking_identity_described(path), CATALOGUE_SAMPLES, is_named, error);
    if (text_ends_with(path, ".sqlite") || (is_named && text_ends_with(path, ".csv")))
        return add_file(found, strdup(path), CATALOGUE_SAMPLES, is_named, error);
    return text_ends_with(path, ".csv")
               ? GPUT_OK
               : add_file(found, strdup(path), CATALOGUE_REPORT, is_named, error);
}

/* Adds the files in a folder and below it. */
static int add_folder(struct found *found, const char *path, int depth, struct gput_error *error)
{
    struct dirent **list;
    int count = scandir(path, &list, file_is_visible, file_by_name), code = GPUT_OK;
    if (count < 0)
        return error_set_errno(error, errno, "Cannot read the folder %s", path);
    for (int i = 0; i < count; i++) {
        CLEANUP_STR struct str name = {0};
        struct stat info = {.st_mode = DTTOIF(list[i]->d_type)};
        str_printf(&name, "%s%s%s", path, text_ends_with(path, "/") ? "" : "/", list[i]->d_name);
        bool is_unknown = list[i]->d_type == DT_UNKNOWN;
        free(list[i]);
        if (name.failed && code == GPUT_OK)
            code = error_memory(error);
        if (code != GPUT_OK || (is_unknown && lstat(name.data, &info) != 0))
            continue;
        if (S_ISREG(info.st_mode))
            code = add_path(found, name.data, false, error);
        if (!S_ISDIR(info.st_mode) || depth == MAX_DEPTH)
            continue;
        code = add_folder(found, name.data, depth + 1, error);
        if (code == GPUT_OK || code == GPUT_ERROR_MEMORY)
            continue;
        if (code != GPUT_ERROR_NOT_FOUND && found->query->warn) /* it may be gone meanwhile */
            found->query->warn(found->query->user, error->message);
        code = GPUT_OK;
    }
    free(list);
    return code;
}

/* ---- Reading files ---- */

/* Reads what a tracking file, or the manifest next to it, says of its session. Errors:
 * GPUT_ERROR_UNSUPPORTED (it says nothing), those of tracking files. */
static int read_manifest(const char *path, struct gput_results *results, struct gput_error *error)
{
    results_forget(results);
    if (text_ends_with(path, ".sqlite")) {
        struct tracking_reader *reader;
        TRY(tracking_reader_salvage(path, &reader, error));
        int code = tracking_identity_of(reader, path, results, error);
        tracking_reader_close(reader);
        TRY(code);
    } else {
        tracking_identity_read(path, results);
    }
    return results->identity.start[0]
               ? GPUT_OK
               : error_set(error, GPUT_ERROR_UNSUPPORTED, "%s names no session.", path);
}

/* Reads all that a file says of its session. */
static int read_all(struct results_reader *reader, const struct catalogue_file *file,
    struct gput_results *results, struct gput_error *error)
{
    return file->kind == CATALOGUE_SAMPLES
               ? read_manifest(file->path, results, error)
               : results_reader_read(reader, file->path, results, NULL, error);
}

/* The figure that sessions are sorted by. */
static double key_of(enum history_column_id sort, const struct gput_results *results)
{
    CLEANUP(history_row_finish) struct history_row row;
    history_row_init(&row);
    return history_row_fill(&row, results, NULL) == GPUT_OK ? history_number(&row, sort) : NAN;
}

/* Reads as much of a file as says whether its session is chosen, and where it is in order. */
static void read_file(struct found *found, struct results_reader *reader, size_t at)
{
    struct catalogue_file *file = &found->files[at];
    struct entry *entry = &found->entries[at];
    struct gput_results results = {0};
    struct gput_error why;
    enum history_column_id sort = found->filter->sort;
    bool is_short =
        file->kind != CATALOGUE_SAMPLES && (sort == HISTORY_START_SECONDS || sort == HISTORY_WALL);
    int code = is_short ? results_reader_read_identity(reader, file->path, &results, &why)
                        : read_all(reader, file, &results, &why);
    if (code == GPUT_OK) {
        catalogue_file_set(file, &results);
        entry->start = results_identity_seconds(results.identity.start);
        entry->key = sort == HISTORY_START_SECONDS ? entry->start
                     : sort == HISTORY_WALL        ? results.elapsed_seconds
                                                   : key_of(sort, &results);
        entry->passes =
            history_filter_passes_session(found->filter, results.identity.command, entry->start);
    } else {
        file->kind = CATALOGUE_OTHER;
        bool is_others = code == GPUT_ERROR_UNSUPPORTED || code == GPUT_ERROR_INVALID;
        if (entry->is_named || (!is_others && code != GPUT_ERROR_NOT_FOUND)) {
            entry->failure = malloc(sizeof why);
            if (entry->failure)
                *entry->failure = why;
            entry->lacks_memory = !entry->failure || code == GPUT_ERROR_MEMORY;
        }
    }
    results_finish(&results);
}

/* A part of the files, for one thread. */
struct batch {
    struct found *found;
    size_t first;
};

static void read_batch(void *job, unsigned thread)
{
    const struct batch *batch = job;
    struct found *found = batch->found;
    for (size_t i = batch->first; i < found->count && i < batch->first + FILES_AT_ONCE; i++)
        read_file(found, &found->readers[thread], i);
}

/* Files are small, and opening one takes as long as reading it: several threads do it at once. */
static int read_files(struct found *found, struct gput_error *error)
{
    static const struct job_class class = {.size = sizeof(struct batch), .run = read_batch};
    cpu_set_t allowed;
    struct ordered_jobs *jobs;
    size_t n_batches = found->count / FILES_AT_ONCE + 1;
    unsigned cores =
        sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? (unsigned)CPU_COUNT(&allowed) : 1;
    unsigned threads = cores < MAX_THREADS ? cores : MAX_THREADS;
    threads = n_batches < threads ? (unsigned)n_batches : threads;
    while (found->n_readers < threads)
        TRY(results_reader_init(&found->readers[found->n_readers++], error));
    TRY(ordered_jobs_create(threads, 1, &class, &jobs, error));
    for (size_t first = 0; first < found->count;) {
        struct batch *batch = ordered_jobs_space(jobs);
        if (batch) {
            *batch = (struct batch){found, first};
            ordered_jobs_give(jobs);
            first += FILES_AT_ONCE;
        } else {
            ordered_jobs_take(jobs);
            ordered_jobs_release(jobs);
        }
    }
    while (ordered_jobs_take(jobs))
        ordered_jobs_release(jobs);
    ordered_jobs_destroy(jobs);
    for (size_t i = 0; i < found->count; i++) {
        const struct entry *entry = &found->entries[i];
        if (entry->lacks_memory)
            return error_memory(error);
        if (entry->failure && entry->is_named)
            return error_copy(error, entry->failure);
        if (entry->failure && found->query->warn)
            found->query->warn(found->query->user, entry->failure->message);
    }
    return GPUT_OK;
}

/* ---- Sessions ---- */

/* A session by its files: the first one in order knows the most of it. */
struct session {
    double key, start;
    size_t first;
};

/* Orders files by session, then by how much they know. */
static int by_session(const void *left, const void *right)
{
    const struct catalogue_file *a = *(struct catalogue_file *const *)left;
    const struct catalogue_file *b = *(struct catalogue_file *const *)right;
    ORDER_BY(a->of, b->of);
    ORDER_BY(a->kind, b->kind);
    ORDER_BY(a->is_copy, b->is_copy);
    return ORDER(a, b);
}

/* Orders sessions; those whose figure is not known are the first. */
static int by_key(const void *left, const void *right)
{
    const struct session *a = left, *b = right;
    ORDER_BY(!isnan(a->key), !isnan(b->key));
    if (!isnan(a->key))
        ORDER_BY(a->key, b->key);
    ORDER_BY(!isnan(a->start), !isnan(b->start));
    if (!isnan(a->start))
        ORDER_BY(a->start, b->start);
    return ORDER(a->first, b->first);
}

/* Lists the sessions that pass the filter, in their order. */
static size_t list_sessions(
    const struct found *found, struct catalogue_file **order, struct session *sessions)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++)
        order[i] = &found->files[i];
    qsort(order, found->count, sizeof *order, by_session);
    for (size_t i = 0; i < found->count; i++) {
        const struct entry *entry = &found->entries[order[i] - found->files];
        bool is_first = i == 0 || order[i]->of != order[i - 1]->of;
        if (is_first && order[i]->kind != CATALOGUE_OTHER && entry->passes)
            sessions[count++] = (struct session){entry->key, entry->start, i};
    }
    qsort(sessions, count, sizeof *sessions, by_key);
    return count;
}

/* Sets the list of a session's files. */
static int set_files(struct history_row *row, struct catalogue_file *const *files, size_t count,
    struct gput_error *error)
{
    CLEANUP(doc_destroy_pointer) struct doc *list = doc_create_array();
    for (size_t i = 0; i < count && files[i]->of == files[0]->of; i++)
        doc_add_string(list, NULL, files[i]->path);
    return history_row_set_doc(row, HISTORY_FILES, list, error);
}

/* Puts the row of a session, unless its file has changed meanwhile or is damaged after all. */
static int put_session(struct found *found, int64_t number, struct catalogue_file *const *files,
    size_t count, struct history_part *part, struct gput_error *error)
{
    CLEANUP(history_row_finish) struct history_row row;
    struct gput_results results = {0};
    struct gput_error why;
    history_row_init(&row);
    int code = read_all(&found->readers[0], files[0], &results, &why);
    if (code != GPUT_OK) {
        if (found->query->warn)
            found->query->warn(found->query->user, why.message);
        results_finish(&results);
        return GPUT_OK;
    }
    code = history_row_fill(&row, &results, error);
    if (code == GPUT_OK && !history_row_set_text(&row, HISTORY_NAME, results.identity.command))
        code = error_memory(error);
    results_finish(&results);
    TRY(code);
    TRY(set_files(&row, files, count, error));
    return history_part_put(part, number, &row, error);
}

int history_files_read(const char *const *paths, size_t count,
    const struct gput_history_query *query, const struct history_filter *filter,
    struct history_part *part, struct gput_error *error)
{
    CLEANUP(found_finish) struct found found = {.query = query, .filter = filter};
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        bool is_folder = stat(paths[i], &info) == 0 && S_ISDIR(info.st_mode);
        TRY(is_folder ? add_folder(&found, paths[i], 0, error)
                      : add_path(&found, paths[i], true, error));
    }
    TRY(read_files(&found, error));
    TRY(catalogue_unite(found.files, found.count, error));
    CLEANUP_FREE struct catalogue_file **order = malloc((found.count + 1) * sizeof *order);
    CLEANUP_FREE struct session *sessions = malloc((found.count + 1) * sizeof *sessions);
    if (!order || !sessions)
        return error_memory(error);
    size_t n_sessions = list_sessions(&found, order, sessions);
    size_t first = filter->last && filter->last < n_sessions ? n_sessions - filter->last : 0;
    for (size_t i = first; i < n_sessions; i++) {
        size_t at = sessions[i].first;
        TRY(put_session(&found, (int64_t)i + 1, order + at, found.count - at, part, error));
    }
    return GPUT_OK;
}

/* Rows of a table that a reader gets at once. */
#define PART_ROWS 1000

/* Makes the table of the next part. */
static int make_table(struct history_part *part, struct gput_error *error)
{
    part->tables = tables_create();
    part->n_rows = 0;
    if (!part->tables)
        return error_memory(error);
    part->table = tables_add(part->tables, "sessions");
    table_add_column(part->table, "number", GPUT_COLUMN_INT);
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        const struct column column = {.name = history_columns[id].name,
            .unit = history_columns[id].unit,
            .meaning = history_columns[id].meaning,
            .type = history_columns[id].type};
        table_add_columns(part->table, "", NULL, &column, 1);
    }
    return GPUT_OK;
}

int history_part_begin(
    struct history_part *part, gput_table_receiver *receive, void *user, struct gput_error *error)
{
    *part = (struct history_part){.receive = receive, .user = user};
    return make_table(part, error);
}

/* Passes the part to the receiver. */
static int pass(struct history_part *part, struct gput_error *error)
{
    struct gput_tables *tables;
    TRY(tables_finish_building(STEAL(part->tables), &tables, error));
    return part->receive(part->user, tables, error);
}

int history_part_put(struct history_part *part, int64_t number, const struct history_row *row,
    struct gput_error *error)
{
    if (part->n_rows == PART_ROWS) {
        TRY(pass(part, error));
        TRY(make_table(part, error));
    }
    if (number > 0)
        table_put_int(part->table, number);
    else
        table_put_missing(part->table);
    for (int id = 0; id < HISTORY_COLUMN_COUNT; id++) {
        double value = history_columns[id].type == GPUT_COLUMN_TEXT ? NAN : row->values[id].number;
        if (history_columns[id].type == GPUT_COLUMN_TEXT)
            table_put_text(part->table, row->values[id].text);
        else if (!isfinite(value))
            table_put_missing(part->table);
        else if (history_columns[id].type == GPUT_COLUMN_INT)
            table_put_int(part->table, (int64_t)value);
        else
            table_put_double(part->table, value);
    }
    part->n_rows++;
    part->n_seen++;
    return GPUT_OK;
}

int history_part_end(struct history_part *part, struct gput_error *error)
{
    return pass(part, error);
}

void history_part_finish(struct history_part *part)
{
    gput_tables_destroy(part->tables);
    part->tables = NULL;
}
