#include "views/report/report_plan.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/names.h"
#include "base/order.h"
#include "base/sized.h"
#include "base/str.h"
#include "base/table.h"
#include "base/text.h"
#include "files/catalogue/catalogue.h"
#include "files/marks/block_log.h"
#include "files/results/results_read.h"
#include "files/spool_note.h"
#include "files/tracking/tracking_identity.h"
#include "model/results_columns.h"
#include "views/report/document/report_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Fewer bytes may be the beginning of anything. */
#define MIN_BEGINNING 8
#define BEGINNING 64

/* A database has a magic string at the start of its header, which has the size of its pages and
 * their number. https://www.sqlite.org/fileformat.html */
#define DATABASE_MAGIC "SQLite format 3"
#define PAGE_SIZE_AT 16
#define PAGE_COUNT_AT 28
#define HEADER_READ 32

/* Whether a file begins as a tracking file, also where it is cut within these lines. */
static bool begins_as_tracking_file(const char *bytes, size_t length)
{
    static const char *const begins[] = {"ram_unit,gpu_ram_unit,", "main_ram,descendants_ram,"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t compared = length < strlen(begins[i]) ? length : strlen(begins[i]);
        if (compared >= MIN_BEGINNING && memcmp(bytes, begins[i], compared) == 0)
            return true;
    }
    return false;
}

/* The number that so many bytes are, the highest first. */
static uint32_t big_endian(const char *bytes, size_t count)
{
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

/* How many bytes a database says that it has; 0: not known. */
static uint64_t database_size(const char *bytes)
{
    uint32_t page = big_endian(bytes + PAGE_SIZE_AT, 2);
    return (uint64_t)(page == 1 ? 65536 : page) * big_endian(bytes + PAGE_COUNT_AT, 4);
}

/* Whether a database is shorter than its header says. */
static bool is_cut_database(
    const char *path, const char *bytes, size_t length, struct gput_error *reason)
{
    struct stat info;
    if (length < HEADER_READ || memcmp(bytes, DATABASE_MAGIC, sizeof DATABASE_MAGIC) != 0 ||
        !text_ends_with(path, ".sqlite") || stat(path, &info) != 0 ||
        (uint64_t)info.st_size >= database_size(bytes))
        return false;
    error_set(reason, GPUT_ERROR_FORMAT,
        "the database is truncated: it should have %" PRIu64 " bytes and has %" PRIu64 ".",
        database_size(bytes), (uint64_t)info.st_size);
    return true;
}

/* Whether a file lacks what its name promises. One with the name of a database and not its header
 * was truncated or overwritten, whoever wrote it. A CSV that begins with zero bytes is of a machine
 * that went down. */
static bool is_no_content(
    const char *path, const char *bytes, size_t length, struct gput_error *reason)
{
    bool is_database =
        length >= HEADER_READ && memcmp(bytes, DATABASE_MAGIC, sizeof DATABASE_MAGIC) == 0;
    if (text_ends_with(path, ".sqlite") && !is_database)
        error_set(reason, GPUT_ERROR_FORMAT, "it does not have the header of a database.");
    else if (text_ends_with(path, ".csv") && bytes[0] == '\0')
        error_set(reason, GPUT_ERROR_FORMAT, "it begins with zero bytes.");
    else
        return false;
    return true;
}

/* Whether a file is a report of ours, by the first key that these have, and cannot be read. */
static bool is_damaged_report(
    const char *path, const char *bytes, size_t length, struct gput_error *reason)
{
    struct gput_error damage;
    struct gput_results results = {0};
    if (bytes[0] != '{' || !memmem(bytes, length, "\"max_ram\"", strlen("\"max_ram\"")))
        return false;
    bool is_damaged = results_read(path, &results, NULL, &damage) == GPUT_ERROR_FORMAT;
    results_finish(&results);
    if (is_damaged)
        error_copy(reason, &damage);
    return is_damaged;
}

/*
 * Whether a file begins as a session's: its tracker was killed as it wrote, the disk was full, or
 * a part of it was copied. `reason` is why a loader refused it, and what is wrong with it where
 * that says more.
 */
static bool is_damaged(const char *path, struct gput_error *reason)
{
    char bytes[BEGINNING];
    size_t length = file_read_beginning(path, bytes, sizeof bytes);
    return length > 0 &&
           (begins_as_tracking_file(bytes, length) || is_no_content(path, bytes, length, reason) ||
               is_cut_database(path, bytes, length, reason) ||
               (text_ends_with(path, BLOCK_LOG_EXTENSION) &&
                   report_marks_loader.probe(path, false, reason) == GPUT_ERROR_FORMAT) ||
               is_damaged_report(path, bytes, length, reason));
}

/* A folder of sessions may have folders of sessions in it, one for each node or rank. */
#define MAX_DEPTH 3

void gput_report_session_init(struct gput_report_session *session, size_t size)
{
    static const struct gput_report_session nothing;
    sized_init(session, size, &nothing, sizeof nothing);
}

void gput_report_options_init(struct gput_report_options *options, size_t size)
{
    static const struct gput_report_options usual = {.stop_fd = -1};
    sized_init(options, size, &usual, sizeof usual);
}

/* ---- What there is ---- */

/* Adds a session, which has the path from then on. NULL without memory. */
static struct report_planned *add_session(struct report_plan *plan,
    const struct gput_report_session *given, const struct report_loader *loader, char *path)
{
    if (!ARRAY_EXTEND(plan->sessions, plan->count)) {
        free(path);
        return NULL;
    }
    plan->sessions[plan->count] =
        (struct report_planned){.given = *given, .loader = loader, .path = path};
    return &plan->sessions[plan->count++];
}

/* Adds a session with a file of a known kind. */
static int add_path(struct report_plan *plan, const struct gput_report_session *given,
    const char *path, size_t folder, const struct report_loader *loader, struct gput_error *error)
{
    char *copy = strdup(path);
    struct report_planned *session = copy ? add_session(plan, given, loader, copy) : NULL;
    if (!session)
        return error_memory(error);
    session->folder = folder;
    return GPUT_OK;
}

static int add_folder(struct report_plan *plan, const struct gput_report_session *given,
    const char *path, int depth, struct gput_error *error);

/* Notes and says that a file is no session of the plan, and why. */
static int leave_out(struct report_plan *plan, const char *path, size_t folder,
    const struct gput_error *reason, struct gput_error *error)
{
    char text[sizeof reason->message + 512], *copy = strdup(path);
    if (!copy || !ARRAY_EXTEND(plan->left_out, plan->left_out_count)) {
        free(copy);
        return error_memory(error);
    }
    plan->left_out[plan->left_out_count++] = (struct report_left_out){copy, folder};
    text_fit(text, sizeof text, "%s is skipped: %s", path, reason->message);
    if (plan->warn)
        plan->warn(plan->user, text);
    return GPUT_OK;
}

static bool is_empty(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

/* Whether a file in a folder that is empty or may not be read can be a session or marks, by its
 * name alone. */
static bool is_named_as_session(const char *path)
{
    return text_ends_with(path, ".csv") || text_ends_with(path, ".sqlite") ||
           text_ends_with(path, BLOCK_LOG_EXTENSION);
}

/* Whether a file is a pickle of gpu_tracker, which is read where it is named itself: the command
 * asks Python for its content. */
static bool is_our_pickle(const char *path, struct gput_error *reason)
{
    char start[256] = "";
    CLEANUP_FILE FILE *file = fopen(path, "re");
    size_t length = file ? fread(start, 1, sizeof start, file) : 0;
    if (start[0] != '\x80' || !memmem(start, length, "gpu_tracker", sizeof "gpu_tracker" - 1))
        return false;
    error_set(reason, GPUT_ERROR_FORMAT, "it is a pickle, which is read where it is named itself.");
    return true;
}

static int leave_out_empty(
    struct report_plan *plan, const char *path, size_t folder, struct gput_error *error)
{
    struct gput_error reason;
    error_set(&reason, GPUT_ERROR_FORMAT, "it is empty.");
    return leave_out(plan, path, folder, &reason, error);
}

/* Adds what is in a folder. A file of no kind is not of the session, and left alone. */
static int add_entry(struct report_plan *plan, const struct gput_report_session *given,
    const char *path, size_t folder, int depth, struct gput_error *error)
{
    const struct report_loader *loader;
    struct gput_error reason;
    struct stat info, link;
    if (stat(path, &info) != 0 || (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)))
        return GPUT_OK;
    if (text_ends_with(path, SPOOL_NOTE_EXTENSION)) {
        /* Leave out a file that is still elsewhere. */
        struct spool_note note;
        if (spool_note_read(path, &note))
            error_set(&reason, GPUT_ERROR_GONE,
                "its file stayed where it was spooled, on %s in %.400s, or is still written there.",
                note.host, note.folder);
        else
            error_set(&reason, GPUT_ERROR_FORMAT, "it does not say where its file was spooled.");
        return leave_out(plan, path, folder, &reason, error);
    }
    if (is_empty(path))
        return is_named_as_session(path) ? leave_out_empty(plan, path, folder, error) : GPUT_OK;
    int code = report_loader_of(path, &loader, &reason);
    if (code == GPUT_OK)
        return add_path(plan, given, path, folder, loader, error);
    if (code == GPUT_ERROR_MEMORY || code == GPUT_ERROR_FILES)
        return error_copy(error, &reason);
    bool is_lost = S_ISDIR(info.st_mode) || is_named_as_session(path);
    if (code == GPUT_ERROR_PERMISSION)
        return is_lost ? leave_out(plan, path, folder, &reason, error) : GPUT_OK;
    if (S_ISREG(info.st_mode) && (is_damaged(path, &reason) || is_our_pickle(path, &reason)))
        return leave_out(plan, path, folder, &reason, error);
    /* A link to a folder can lead to one that it is in. */
    bool is_link = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    bool is_entered = S_ISDIR(info.st_mode) && depth < MAX_DEPTH && !is_link;
    return is_entered ? add_folder(plan, given, path, depth, error) : GPUT_OK;
}

/* Adds what is in a folder. All of it is of one folder, which may have sessions of its own below.
 */
static int add_folder(struct report_plan *plan, const struct gput_report_session *given,
    const char *path, int depth, struct gput_error *error)
{
    struct dirent **entries;
    int count = scandir(path, &entries, file_is_visible, versionsort);
    size_t folder = ++plan->folders;
    int code =
        count < 0 ? error_set_errno(error, errno, "Cannot read the folder %s", path) : GPUT_OK;
    for (int i = 0; i < count; i++) {
        struct str inner = {0};
        str_printf(&inner, "%s/%s", path, entries[i]->d_name);
        if (code == GPUT_OK)
            code = inner.failed ? error_memory(error)
                                : add_entry(plan, given, inner.data, folder, depth + 1, error);
        str_finish(&inner);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return code;
}

/* Adds what the caller named: a file, a folder that is one session, or a folder of sessions. */
static int add_given(struct report_plan *plan, const struct gput_report_session *session,
    bool is_only, struct gput_error *error)
{
    const struct report_loader *loader;
    struct gput_error reason;
    struct gput_report_session given = gput_report_session_default();
    TRY(sized_read(&given, sizeof given, session, error));
    if (!given.path)
        return add_session(plan, &given, NULL, NULL) ? GPUT_OK : error_memory(error);
    if (!is_only && text_ends_with(given.path, TRACKING_IDENTITY_EXTENSION))
        return GPUT_OK; /* "runs/" and all in it: read with its tracking file */
    struct spool_note note;
    char found[PATH_MAX], text[2 * PATH_MAX + 128];
    const char *path = given.path;
    if (spool_note_of(path, &note) && spool_note_find(&note, path, found)) {
        text_fit(text, sizeof text,
            "%s is empty: its rows stayed where they were spooled, and are read from %s.", path,
            found);
        if (plan->warn)
            plan->warn(plan->user, text);
        path = found;
    } else if (spool_note_of(path, &note) && is_only) {
        return error_set(error, GPUT_ERROR_GONE,
            "%.300s is empty: its rows stayed where they were spooled, on %s in %.300s.", path,
            note.host, note.folder);
    }
    if (is_empty(path))
        return is_only ? error_set(error, GPUT_ERROR_FORMAT, "%s is empty.", given.path)
                       : leave_out_empty(plan, given.path, 0, error);
    int code = report_loader_of(path, &loader, &reason);
    if (code == GPUT_OK)
        return add_path(plan, &given, path, 0, loader, error);

    /* A folder that is not a kind itself is one of sessions, if there is any in it. */
    struct stat info;
    size_t before = plan->count;
    bool is_folder = stat(given.path, &info) == 0 && S_ISDIR(info.st_mode);
    if (is_folder)
        TRY(add_folder(plan, &given, given.path, 0, error));
    return plan->count > before ? GPUT_OK : error_copy(error, &reason);
}

/* ---- Which files are of one session ---- */

/* Gives a session a sub-tracking file. Takes `path`; NULL: out of memory. */
static int add_marks(struct report_planned *session, char *path, struct gput_error *error)
{
    if (!path || !ARRAY_EXTEND(session->marks, session->n_marks)) {
        free(path);
        return error_memory(error);
    }
    session->marks[session->n_marks++] = path;
    return GPUT_OK;
}

/* Fills in the files of a plan, those that were left out last, and finds their sessions. NULL
 * without memory. */
static struct catalogue_file *make_catalogue(const struct report_plan *plan)
{
    size_t count = plan->count + plan->left_out_count;
    struct catalogue_file *files = calloc(count + 1, sizeof *files);
    for (size_t i = 0; files && i < plan->count; i++) {
        /* Describe a planned file to the catalogue. Of kinds that have files of their own nothing
         * is read: they match no other. */
        const struct report_loader *loader = plan->sessions[i].loader;
        enum catalogue_kind kind = loader == &report_tracking_loader  ? CATALOGUE_SAMPLES
                                   : loader == &report_results_loader ? CATALOGUE_REPORT
                                   : loader == &report_marks_loader   ? CATALOGUE_MARKS
                                                                      : CATALOGUE_OTHER;
        const char *path = plan->sessions[i].path ? plan->sessions[i].path : "";
        long rank = report_rank_of(file_base_name(path));
        catalogue_file_init(&files[i], path, kind, plan->sessions[i].folder);
        if (rank != REPORT_NO_RANK)
            files[i].rank = (double)rank;
        if (kind == CATALOGUE_SAMPLES)
            catalogue_read_samples(&files[i]);
        else if (kind == CATALOGUE_REPORT)
            catalogue_read_results(&files[i]);
        else if (kind == CATALOGUE_MARKS)
            catalogue_read_marks(&files[i]);
    }
    for (size_t i = 0; files && i < plan->left_out_count; i++)
        catalogue_file_init(&files[plan->count + i], plan->left_out[i].path, CATALOGUE_UNREADABLE,
            plan->left_out[i].folder);
    if (files && catalogue_unite(files, count, NULL) != GPUT_OK) {
        free(files);
        return NULL;
    }
    return files;
}

/* Warns that a file is a copy, and notes it. */
static int note_copy(
    struct report_plan *plan, struct report_planned *copy, size_t session, struct gput_error *error)
{
    CLEANUP_STR struct str text = {0};
    if (!ARRAY_EXTEND(plan->copies, plan->copy_count))
        return error_memory(error);
    str_printf(&text, "%s is skipped: it is the same session as %s.", copy->path,
        plan->sessions[session].path);
    if (plan->warn)
        plan->warn(plan->user, str_text(&text));
    plan->copies[plan->copy_count++] =
        (struct report_copy){STEAL(copy->path), copy->loader, session};
    return GPUT_OK;
}

/* Puts the files of each session together: those that are not the first ones of their sessions
 * leave gaps, which are closed. */
static int join(struct report_plan *plan, struct gput_error *error)
{
    CLEANUP_FREE struct catalogue_file *files = make_catalogue(plan);
    if (!files)
        return error_memory(error);
    for (size_t i = 0; i < plan->count; i++) {
        struct report_planned *part = &plan->sessions[i], *owner = &plan->sessions[files[i].of];
        if (files[i].of == i)
            continue;
        if (part->loader == &report_marks_loader)
            TRY(add_marks(owner, STEAL(part->path), error));
        else if (part->loader == &report_results_loader && !files[i].is_copy && !owner->results &&
                 !owner->given.results && owner->loader != &report_results_loader)
            owner->results = STEAL(part->path);
        else
            TRY(note_copy(plan, part, files[i].of, error));
        part->loader = NULL;
    }
    CLEANUP_FREE size_t *places = malloc((plan->count + 1) * sizeof *places);
    size_t kept = 0;
    if (!places)
        return error_memory(error);
    for (size_t i = 0; i < plan->count; i++) {
        places[i] = kept;
        if (files[i].of == i)
            plan->sessions[kept++] = plan->sessions[i];
    }
    plan->count = kept;
    for (size_t i = 0; i < plan->copy_count; i++)
        plan->copies[i].session = places[plan->copies[i].session];

    /* Warn of marks that were named and match none of several sessions: they become a session
     * without figures. */
    size_t sessions = 0;
    for (size_t i = 0; i < plan->count; i++)
        sessions += plan->sessions[i].loader == &report_tracking_loader;
    for (size_t i = 0; plan->warn && sessions > 1 && i < plan->count; i++) {
        const struct report_planned *marks = &plan->sessions[i];
        char text[1024];
        if (marks->loader != &report_marks_loader || marks->folder != 0)
            continue;
        text_fit(text, sizeof text,
            "It is not clear which session the marks in %s belong to: they are shown as a session "
            "of their own. Give --stf once for each session, in the same order.",
            marks->path);
        plan->warn(plan->user, text);
    }
    return GPUT_OK;
}

/* ---- Marks that are named ---- */

/* Finds the session of a sub-tracking file by its name. NULL: it is not clear. */
static struct report_planned *owner_by_name(struct report_plan *plan, const char *path)
{
    CLEANUP_FREE struct catalogue_file *files = calloc(plan->count + 1, sizeof *files);
    for (size_t i = 0; files && i < plan->count; i++)
        catalogue_file_init(&files[i], plan->sessions[i].path ? plan->sessions[i].path : "",
            plan->sessions[i].loader == &report_tracking_loader ? CATALOGUE_SAMPLES
                                                                : CATALOGUE_OTHER,
            plan->sessions[i].folder);
    size_t owner = files ? catalogue_find_by_name(files, plan->count, path, 0) : plan->count;
    return owner < plan->count ? &plan->sessions[owner] : NULL;
}

/* ---- Names ---- */

/* Whether a session alone has the name that it was given. A folder with a name can have several
 * sessions, which are next to one another. */
static bool is_named_alone(const struct report_plan *plan, size_t index)
{
    const struct report_planned *session = &plan->sessions[index];
    const char *name = session->given.name;
    return name && (index == 0 || session[-1].given.name != name) &&
           (index + 1 == plan->count || session[1].given.name != name);
}

/* Names the sessions: as the caller does, else by their files, with the path where another file has
 * the same name. */
static int name_sessions(struct report_plan *plan, struct gput_error *error)
{
    CLEANUP(names_finish) struct names names = {0};
    CLEANUP_FREE size_t *counts = calloc(plan->count, sizeof *counts);
    for (size_t i = 0; counts && i < plan->count; i++) {
        const char *path = plan->sessions[i].path, *name = path ? file_base_name(path) : "";
        uint32_t number = names_add(&names, name, strlen(name));
        if (number == NAMES_NONE)
            return error_memory(error);
        counts[number]++;
    }
    if (!counts)
        return error_memory(error);
    for (size_t i = 0; i < plan->count; i++) {
        struct report_planned *session = &plan->sessions[i];
        const char *name = session->path ? file_base_name(session->path) : "session";
        bool is_shared = session->path && counts[names_find(&names, name, strlen(name))] > 1;
        session->is_named = is_named_alone(plan, i);
        session->name = session->is_named ? session->given.name : is_shared ? session->path : name;
    }
    return GPUT_OK;
}

/* ---- Ranks ---- */

struct ranked {
    long rank;
    struct report_planned session;
};

static int by_rank(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return ORDER(a->rank, b->rank);
}

int report_plan_make(
    const struct gput_report_options *options, struct report_plan *plan, struct gput_error *error)
{
    *plan = (struct report_plan){.warn = options->warn, .user = options->user};
    if (options->n_sessions == 0)
        return error_set(
            error, GPUT_ERROR_INVALID, "There is nothing to report on: name a session.");
    for (size_t i = 0; i < options->n_sessions; i++)
        TRY(add_given(plan, options->sessions[i], options->n_sessions == 1, error));
    if (plan->count == 0)
        return error_set(
            error, GPUT_ERROR_FORMAT, "There is nothing to report on: all files are empty.");
    TRY(join(plan, error));

    /* Give the sub-tracking files that the caller named to their sessions. */
    for (size_t i = 0; i < options->n_sub_tracking_files; i++) {
        const char *path = options->sub_tracking_files[i];
        struct report_planned *session = plan->count == 1 ? &plan->sessions[0]
                                         : plan->count == options->n_sub_tracking_files
                                             ? &plan->sessions[i]
                                             : owner_by_name(plan, path);
        if (!session)
            return error_set(error, GPUT_ERROR_INVALID,
                "Which session %s belongs to is not clear: there are %zu sessions and %zu "
                "sub-tracking files. Name one for each session, in the same order.",
                path, plan->count, options->n_sub_tracking_files);
        TRY(add_marks(session, strdup(path), error));
    }

    TRY(name_sessions(plan, error));

    /* Put the ranks of one job into the order of their numbers: a shell gives "r10" before "r2".
     * Sessions that the caller named stay in the order given. */
    CLEANUP_FREE long *ranks = NULL;
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->sessions[i].is_named)
            return GPUT_OK;
    }
    TRY(report_plan_ranks(plan, &ranks, error));
    if (!ranks)
        return GPUT_OK;
    CLEANUP_FREE struct ranked *sorted = malloc(plan->count * sizeof *sorted);
    if (!sorted)
        return error_memory(error);
    for (size_t i = 0; i < plan->count; i++)
        sorted[i] = (struct ranked){ranks[i], plan->sessions[i]};
    qsort(sorted, plan->count, sizeof *sorted, by_rank);
    for (size_t i = 0; i < plan->count; i++)
        plan->sessions[i] = sorted[i].session;
    return GPUT_OK;
}

int report_plan_ranks(const struct report_plan *plan, long **ranks, struct gput_error *error)
{
    const char **names = malloc((plan->count + 1) * sizeof *names);
    *ranks = malloc((plan->count + 1) * sizeof **ranks);
    bool are_ranks = false;
    if (names && *ranks) {
        for (size_t i = 0; i < plan->count; i++) {
            const struct report_planned *session = &plan->sessions[i];
            names[i] = session->is_named || !session->path ? session->name : session->path;
        }
        are_ranks = report_ranks_of(names, plan->count, *ranks);
    }
    int code = names && *ranks ? GPUT_OK : error_memory(error);
    free(names);
    if (!are_ranks) {
        free(*ranks);
        *ranks = NULL;
    }
    return code;
}

void report_plan_finish(struct report_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct report_planned *session = &plan->sessions[i];
        for (size_t j = 0; j < session->n_marks; j++)
            free(session->marks[j]);
        free(session->marks);
        free(session->results);
        free(session->path);
    }
    for (size_t i = 0; i < plan->left_out_count; i++)
        free(plan->left_out[i].path);
    free(plan->left_out);
    for (size_t i = 0; i < plan->copy_count; i++)
        free(plan->copies[i].path);
    free(plan->copies);
    free(plan->sessions);
    *plan = (struct report_plan){0};
}

/* ---- As tables ---- */

int gput_report_files(
    const struct gput_report_options *given, struct gput_tables **tables, struct gput_error *error)
{
    struct gput_report_options options = gput_report_options_default();
    CLEANUP(report_plan_finish) struct report_plan plan = {0};
    *tables = NULL;
    TRY(sized_read(&options, sizeof options, given, error));
    TRY(report_plan_make(&options, &plan, error));

    struct gput_tables *building = tables_create();
    if (!building)
        return error_memory(error);
    struct gput_table *sessions = tables_add(building, "sessions");
    table_add_column(sessions, "session", GPUT_COLUMN_INT);
    table_add_columns_of(sessions, GPUT_COLUMN_TEXT, "path", "kind", "results", "copy_of", NULL);
    struct gput_table *marks = tables_add(building, "marks");
    table_add_column(marks, "session", GPUT_COLUMN_INT);
    table_add_column(marks, "path", GPUT_COLUMN_TEXT);
    struct gput_table *left_out = tables_add(building, "left_out");
    table_add_column(left_out, "path", GPUT_COLUMN_TEXT);
    for (size_t i = 0; i < plan.count; i++) {
        const struct report_planned *session = &plan.sessions[i];
        table_put_int(sessions, (int64_t)i + 1);
        table_put_text(sessions, session->path);
        table_put_text(sessions, session->loader ? session->loader->kind : NULL);
        table_put_text(sessions, session->results);
        table_put_text(sessions, NULL);
        for (size_t j = 0; j < session->n_marks; j++) {
            table_put_int(marks, (int64_t)i + 1);
            table_put_text(marks, session->marks[j]);
        }
    }
    for (size_t i = 0; i < plan.copy_count; i++) {
        const struct report_copy *copy = &plan.copies[i];
        table_put_int(sessions, (int64_t)(plan.count + i) + 1);
        table_put_text(sessions, copy->path);
        table_put_text(sessions, copy->loader->kind);
        table_put_text(sessions, NULL);
        table_put_text(sessions, plan.sessions[copy->session].path);
    }
    for (size_t i = 0; i < plan.left_out_count; i++)
        table_put_text(left_out, plan.left_out[i].path);
    return tables_finish_building(building, tables, error);
}
