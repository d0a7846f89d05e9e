#include <gputracker/history.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/sized.h"
#include "base/text.h"
#include "files/history/history_database.h"
#include "files/history/history_files.h"
#include "files/history/history_folder.h"
#include "files/history/history_job.h"
#include "files/history/history_row.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of one row, however long its texts are. */
#define MAX_ROW_BYTES (1 << 20)

/* The ending of the file of a row that waits. */
#define ROW_EXTENSION ".json"

CLEANUP_DEFINE(struct history_database, history_database_close)

/* ---- On and off ---- */

bool gput_history_is_on(const char *folder)
{
    CLEANUP(history_folder_finish) struct history_folder names = {0};
    return history_folder_init(&names, folder, NULL) == GPUT_OK && access(names.mark, F_OK) == 0;
}

int gput_history_turn(const char *folder, bool on, struct gput_error *error)
{
    CLEANUP(history_folder_finish) struct history_folder names = {0};
    TRY(history_folder_init(&names, folder, error));
    if (on) {
        TRY(history_folder_make(folder, error));
        return history_folder_write(names.mark, "", 0, error);
    }
    if (unlink(names.mark) != 0 && errno != ENOENT)
        return error_set_errno(error, errno, "Cannot remove %s", names.mark);
    return GPUT_OK;
}

/* ---- Adding ---- */

void gput_history_entry_init(struct gput_history_entry *entry, size_t size)
{
    const struct gput_history_entry defaults = {.size = sizeof defaults};
    sized_init(entry, size, &defaults, sizeof defaults);
}

/* Sets the sizes of the files that say how much there was to do. One that is gone, or is no file,
 * has none, and then their sum is not known. */
static int set_inputs(struct history_row *row, const char *const *size_of, struct gput_error *error)
{
    CLEANUP(doc_destroy_pointer) struct doc *sizes = doc_create_object();
    double sum = 0;
    for (size_t i = 0; size_of[i]; i++) {
        struct stat info;
        bool is_file = stat(size_of[i], &info) == 0 && S_ISREG(info.st_mode);
        const char *name = file_base_name(size_of[i]);
        if (is_file)
            doc_add_int(sizes, name, info.st_size);
        else
            doc_add_null(sizes, name);
        sum += is_file ? (double)info.st_size : NAN;
    }
    row->values[HISTORY_INPUT].number = sum;
    return history_row_set_doc(row, HISTORY_INPUTS, sizes, error);
}

/* Sets the list of the session's files, as absolute paths. */
static int set_files(struct history_row *row, const char *const *files, struct gput_error *error)
{
    CLEANUP(doc_destroy_pointer) struct doc *list = doc_create_array();
    for (size_t i = 0; files[i]; i++) {
        CLEANUP_FREE char *path = realpath(files[i], NULL);
        doc_add_string(list, NULL, path ? path : files[i]);
    }
    return history_row_set_doc(row, HISTORY_FILES, list, error);
}

/* Sets what the caller says of the session. */
static int fill_entry(
    struct history_row *row, const struct gput_history_entry *given, struct gput_error *error)
{
    struct gput_history_entry entry = gput_history_entry_default();
    TRY(sized_read(&entry, sizeof entry, given, error));
    if (!history_row_set_text(row, HISTORY_NAME, entry.name) ||
        !history_row_set_text(row, HISTORY_ARGUMENTS, entry.arguments))
        return error_memory(error);
    if (entry.size_of && entry.size_of[0])
        TRY(set_inputs(row, entry.size_of, error));
    if (entry.files && entry.files[0])
        TRY(set_files(row, entry.files, error));
    return GPUT_OK;
}

/* Writes a row to a file of its own, for the next reader. */
static int add_to_files(
    const struct history_folder *folder, const struct history_row *row, struct gput_error *error)
{
    CLEANUP_STR struct str text = {0}, path = {0};
    history_row_write(row, &text);
    /* The file of a row that waits has the id of its session, as far as that can be in a name. */
    const char *session_id = history_text(row, HISTORY_SESSION_ID);
    str_printf(&path, "%s/", folder->rows);
    for (const char *at = session_id; *at; at++) {
        bool is_plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                        (*at >= 'A' && *at <= 'Z') || *at == '-';
        str_append_char(&path, is_plain ? *at : '_');
    }
    str_append(&path, ROW_EXTENSION);
    if (text.failed || path.failed)
        return error_memory(error);
    TRY(history_folder_make(folder->rows, error));
    return history_folder_write(path.data, text.data, text.length, error);
}

/* Adds a row to the database, if that is possible at once. */
static int add_to_database(
    const struct history_folder *folder, const struct history_row *row, struct gput_error *error)
{
    CLEANUP(history_database_close_pointer) struct history_database *database = NULL;
    TRY(history_database_open(folder->database, &database, error));
    return history_database_add(database, row, error);
}

int gput_history_add(const char *path, const struct gput_results *results,
    const struct gput_history_entry *entry, struct gput_error *error)
{
    CLEANUP(history_folder_finish) struct history_folder folder = {0};
    CLEANUP(history_row_finish) struct history_row row;
    struct gput_error why;
    history_row_init(&row);
    TRY(history_row_fill(&row, results, error));
    TRY(fill_entry(&row, entry, error));
    if (!history_text(&row, HISTORY_SESSION_ID))
        return error_set(error, GPUT_ERROR_INVALID, "These results are of no session.");
    TRY(history_folder_init(&folder, path, error));
    TRY(history_folder_make(path, error));
    bool is_rank = strcmp(results->identity.ranks_of, "main") == 0;
    enum history_job_part part;
    TRY(history_job_add(&folder, &row, is_rank ? results->identity.rank : NAN,
        results->identity.restarts, &part, error));
    if (part == HISTORY_WAITS)
        return GPUT_OK;
    if (!folder.is_network && add_to_database(&folder, &row, &why) == GPUT_OK)
        return GPUT_OK;
    return add_to_files(&folder, &row, error);
}

/* ---- Rows that wait ---- */

/* Reads a row that waits. Errors: those of files, GPUT_ERROR_FORMAT. */
static int read_waiting(const char *path, struct history_row *row, struct gput_error *error)
{
    CLEANUP_STR struct str text = {0};
    TRY(file_read_regular(path, MAX_ROW_BYTES, &text, error));
    return history_row_read(row, str_text(&text), text.length, path, error);
}

/* The names of the rows that wait. The caller frees each, and the array; returns how many. */
static size_t list_waiting(const struct history_folder *folder, struct dirent ***entries)
{
    int count = scandir(folder->rows, entries, file_is_visible, file_by_name);
    if (count >= 0)
        return (size_t)count;
    *entries = NULL;
    return 0;
}

/* Called for each waiting row and its file. */
typedef int waiting_visitor(
    void *user, const char *path, const struct history_row *row, struct gput_error *error);

/* Visits the rows that wait. One that cannot be read is named, and stays. */
static int visit_waiting(const struct history_folder *folder,
    const struct gput_history_query *query, waiting_visitor *visit, void *user,
    struct gput_error *error)
{
    struct dirent **entries;
    size_t count = list_waiting(folder, &entries);
    int code = GPUT_OK;
    for (size_t i = 0; i < count; i++) {
        CLEANUP(history_row_finish) struct history_row row;
        CLEANUP_STR struct str path = {0};
        struct gput_error why;
        history_row_init(&row);
        str_printf(&path, "%s/%s", folder->rows, entries[i]->d_name);
        bool is_row = text_ends_with(entries[i]->d_name, ROW_EXTENSION);
        free(entries[i]);
        if (code != GPUT_OK || !is_row)
            continue;
        int read = path.failed ? error_memory(&why) : read_waiting(path.data, &row, &why);
        if (read == GPUT_OK)
            code = visit(user, path.data, &row, error);
        else if (read != GPUT_ERROR_NOT_FOUND && query->warn) /* another reader took it */
            query->warn(query->user, why.message);
    }
    free(entries);
    return code;
}

/* The rows that a reader adds, and their files. */
struct gathered {
    struct history_database *database;
    char **paths; /* and each of them; owned */
    size_t count;
};

static void gathered_finish(struct gathered *gathered)
{
    for (size_t i = 0; i < gathered->count; i++)
        free(gathered->paths[i]);
    free(gathered->paths);
}

/* Adds a row that waited in a file to the database, and remembers the file. */
static int add_waiting(
    void *user, const char *path, const struct history_row *row, struct gput_error *error)
{
    struct gathered *gathered = user;
    CLEANUP_FREE char *copy = strdup(path);
    TRY(history_database_add(gathered->database, row, error));
    if (!copy || !ARRAY_EXTEND(gathered->paths, gathered->count))
        return error_memory(error);
    gathered->paths[gathered->count++] = STEAL(copy);
    return GPUT_OK;
}

/* Adds the rows that wait to the database, all or none of them, and then removes their files: those
 * that came meanwhile stay. A row whose file was not removed is known by its session's id. */
static int gather(const struct history_folder *folder, const struct gput_history_query *query,
    struct gput_error *error)
{
    CLEANUP(history_database_close_pointer) struct history_database *database = NULL;
    CLEANUP(gathered_finish) struct gathered gathered = {0};
    if (access(folder->rows, F_OK) != 0)
        return GPUT_OK;
    history_job_forget_old(folder);
    TRY(history_database_open_patiently(folder->database, folder->is_network, &database, error));
    gathered.database = database;
    TRY(history_database_begin(database, error));
    TRY(visit_waiting(folder, query, add_waiting, &gathered, error));
    TRY(history_database_commit(database, error));
    for (size_t i = 0; i < gathered.count; i++)
        unlink(gathered.paths[i]);
    rmdir(folder->rows);
    history_database_shorten_log(database);
    return GPUT_OK;
}

/* ---- Reading ---- */

void gput_history_query_init(struct gput_history_query *query, size_t size)
{
    const struct gput_history_query defaults = {.size = sizeof defaults, .since_seconds = NAN};
    sized_init(query, size, &defaults, sizeof defaults);
}

/* Makes the filter of a query. Errors: GPUT_ERROR_INVALID (a column to sort by). */
static int filter_of(
    const struct gput_history_query *query, struct history_filter *filter, struct gput_error *error)
{
    enum history_column_id sort =
        query->sort ? history_column_find(query->sort) : HISTORY_START_SECONDS;
    if (sort == HISTORY_COLUMN_COUNT || history_columns[sort].type == GPUT_COLUMN_TEXT)
        return error_set(error, GPUT_ERROR_INVALID,
            "Sessions cannot be sorted by %s: it is no figure of theirs.", query->sort);
    *filter = (struct history_filter){.name = query->name,
        .since_seconds = query->since_seconds,
        .numbers = query->numbers,
        .n_numbers = query->n_numbers,
        .last = query->last,
        .sort = sort,
        .is_whole_name = query->is_whole_name};
    return GPUT_OK;
}

/* A reader of rows, and their destination. */
struct reading {
    struct history_part part;
    struct history_filter filter;
};

static int put_row(
    void *user, int64_t number, const struct history_row *row, struct gput_error *error)
{
    struct reading *reading = user;
    if (reading->filter.is_whole_name && !history_filter_passes(&reading->filter, row))
        return GPUT_OK;
    return history_part_put(&reading->part, number, row, error);
}

/* Passes on a row that could not be added to the database; it has no number yet. */
static int put_waiting(
    void *user, const char *path, const struct history_row *row, struct gput_error *error)
{
    struct reading *reading = user;
    (void)path;
    if (reading->filter.n_numbers || !history_filter_passes(&reading->filter, row))
        return GPUT_OK;
    return history_part_put(&reading->part, 0, row, error);
}

/* Says what could not be done, and how the history is read without it. */
static void warn(const struct gput_history_query *query, const char *what, const char *why)
{
    char text[1024];
    text_fit(text, sizeof text, "%s: %s", what, why);
    if (query->warn)
        query->warn(query->user, text);
}

/* Reads the rows of the database and those that wait. */
static int read_all(const struct history_folder *folder, const struct gput_history_query *query,
    struct reading *reading, struct gput_error *error)
{
    struct gput_error why;
    bool is_damaged, are_waiting = false;
    if (gather(folder, query, &why) != GPUT_OK) {
        warn(query, "Sessions of the history that have no number yet", why.message);
        are_waiting = true;
    }
    int code = history_database_read(
        folder->database, &reading->filter, put_row, reading, &is_damaged, error);
    if (code == GPUT_ERROR_FORMAT || code == GPUT_ERROR_UNSUPPORTED) {
        warn(query, "The database of the history is left out", error->message);
        code = GPUT_OK;
    } else if (code == GPUT_OK && is_damaged) {
        warn(query, folder->database,
            "the database is damaged: rows are missing that could not be read");
    }
    if (code == GPUT_OK && are_waiting)
        code = visit_waiting(folder, query, put_waiting, reading, error);
    return code;
}

/* Reads the query of a program, and the names of the folder, which has to be there. */
static int begin_query(const char *path, const struct gput_history_query *given,
    struct gput_history_query *query, struct history_folder *folder, struct gput_error *error)
{
    struct stat info;
    *query = gput_history_query_default();
    TRY(sized_read(query, sizeof *query, given, error));
    TRY(history_folder_init(folder, path, error));
    if (stat(path, &info) != 0)
        return error_set_errno(error, errno, "Cannot read the history in %s", path);
    return GPUT_OK;
}

int gput_history_read(const char *path, const struct gput_history_query *given,
    gput_table_receiver *receive, void *user, struct gput_error *error)
{
    CLEANUP(history_folder_finish) struct history_folder folder = {0};
    struct gput_history_query query;
    TRY(begin_query(path, given, &query, &folder, error));
    struct reading reading;
    struct gput_error own;
    error = error ? error : &own; /* what fails may be a warning, in its words */
    TRY(filter_of(&query, &reading.filter, error));
    TRY(history_part_begin(&reading.part, receive, user, error));
    int code = read_all(&folder, &query, &reading, error);
    if (code == GPUT_OK)
        code = history_part_end(&reading.part, error);
    history_part_finish(&reading.part);
    return code;
}

int gput_history_read_files(const char *const *paths, size_t count,
    const struct gput_history_query *given, gput_table_receiver *receive, void *user,
    struct gput_error *error)
{
    struct gput_history_query query = gput_history_query_default();
    struct history_part part;
    struct history_filter filter;
    struct gput_error own;
    error = error ? error : &own; /* what fails may be a warning, in its words */
    TRY(sized_read(&query, sizeof query, given, error));
    TRY(filter_of(&query, &filter, error));
    TRY(history_part_begin(&part, receive, user, error));
    int code = history_files_read(paths, count, &query, &filter, &part, error);
    if (code == GPUT_OK)
        code = history_part_end(&part, error);
    history_part_finish(&part);
    return code;
}

/* ---- Forgetting ---- */

int gput_history_forget(const char *path, const struct gput_history_query *given,
    uint64_t *n_removed, struct gput_error *error)
{
    CLEANUP(history_folder_finish) struct history_folder folder = {0};
    CLEANUP(history_database_close_pointer) struct history_database *database = NULL;
    struct gput_history_query query;
    *n_removed = 0;
    TRY(begin_query(path, given, &query, &folder, error));
    struct history_filter filter;
    TRY(filter_of(&query, &filter, error));
    filter.is_whole_name = false;
    TRY(gather(&folder, &query, error));
    if (access(folder.database, F_OK) != 0)
        return GPUT_OK;
    TRY(history_database_open_patiently(folder.database, folder.is_network, &database, error));
    return history_database_forget(database, &filter, n_removed, error);
}
