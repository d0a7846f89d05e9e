/* Profiles of Python: dumps of cProfile and sessions of pyinstrument, as stacks that are as long as
 * functions took in their callers, and a table of the functions. */
#include "views/report/loaders/report_python.h"

#include "analysis/training/python/python_profiles.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/order.h"
#include "base/table.h"
#include "files/import/pyinstrument.h"
#include "views/report/loaders/report_callers.h"
#include "views/report/loaders/report_loader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_BYTES ((size_t)1 << 30)
#define MAX_FUNCTIONS 200

/* marshal's dict, whose first key is a tuple (or which is empty): no JSON begins so. */
static bool is_cprofile(const char *text, size_t length)
{
    return length > 1 && (text[0] & 0x7f) == '{' && memchr("()0", text[1] & 0x7f, 3) != NULL;
}

static bool is_pyinstrument(const char *text, size_t length)
{
    const char *at = text + strspn(text, " \t\r\n");
    return *at == '{' && memmem(text, length, "\"root_frame\"", 12) != NULL;
}

/* ---- The table ---- */

struct function {
    uint32_t name;
    double own_seconds, cumulative_seconds;
    int64_t calls; /* negative: not counted */
};

struct functions {
    struct names names;
    struct function *items; /* owned */
    size_t count;
};

static void functions_finish(struct functions *functions)
{
    names_finish(&functions->names);
    free(functions->items);
}

static int longest_first(const void *left, const void *right)
{
    const struct function *a = left, *b = right;
    ORDER_BY(b->own_seconds, a->own_seconds);
    return ORDER(a->name, b->name);
}

/* Adds a table of the functions, those with the most time of their own first. */
static int put_functions(
    struct report_session *session, struct functions *functions, struct gput_error *error)
{
    struct gput_tables *made = tables_create();
    CLEANUP(gput_tables_destroy_pointer) struct gput_tables *tables = NULL;
    if (!made)
        return error_memory(error);
    bool are_counted = functions->count > 0 && functions->items[0].calls >= 0;
    struct gput_table *table = tables_add(made, "functions");
    table_add_column(table, "function", GPUT_COLUMN_TEXT);
    if (are_counted)
        table_add_column(table, "calls", GPUT_COLUMN_INT);
    table_add_columns_of(table, GPUT_COLUMN_DOUBLE, "own_seconds", "with_callees_seconds", NULL);
    if (functions->count > 1)
        qsort(functions->items, functions->count, sizeof *functions->items, longest_first);
    for (size_t i = 0; i < functions->count && i < MAX_FUNCTIONS; i++) {
        const struct function *function = &functions->items[i];
        table_put_text(table, names_text(&functions->names, function->name));
        if (are_counted)
            table_put_int(table, function->calls);
        table_put_double(table, function->own_seconds);
        table_put_double(table, function->cumulative_seconds);
    }
    TRY(tables_finish_building(made, &tables, error));
    report_session_add_table(
        session, "python_functions", "Functions by their own time", gput_tables_get(tables, 0));
    return GPUT_OK;
}

/* Adds a function with its times. */
static int add_function(struct functions *functions, const char *name,
    const struct function *function, struct gput_error *error)
{
    uint32_t number = names_add(&functions->names, name, strlen(name));
    if (number == NAMES_NONE || !ARRAY_EXTEND(functions->items, functions->count))
        return error_memory(error);
    functions->items[functions->count] = *function;
    functions->items[functions->count++].name = number;
    return GPUT_OK;
}

/* ---- pyinstrument ---- */

struct frames {
    struct report_calls *calls;
    struct gput_error *error;
    int code;
};

/* A frame that was in its caller from `start` on for so long; those that it called follow. */
static void add_frame(void *user, const char *name, double start, double seconds)
{
    struct frames *frames = user;
    uint32_t number = names_add(&frames->calls->names, name, strlen(name));
    if (!(seconds >= 0) || start + seconds > REPORT_LAST_SECOND)
        return; /* a damaged one */
    if (frames->code == GPUT_OK && number == NAMES_NONE)
        frames->code = error_memory(frames->error);
    const struct report_call call = {.name = number, .start = start, .stop = start + seconds};
    if (frames->code == GPUT_OK)
        frames->code = report_calls_add(frames->calls, &call, frames->error);
}

/* Lists the functions of a profile of pyinstrument. */
static int list_pyinstrument(
    const struct pyinstrument *sum, struct functions *functions, struct gput_error *error)
{
    for (uint32_t i = 0; i < sum->count; i++) {
        struct function function = {.own_seconds = sum->times[i].self_seconds,
            .cumulative_seconds = sum->times[i].total_seconds,
            .calls = -1};
        TRY(add_function(functions, names_text(&sum->functions, i), &function, error));
    }
    return GPUT_OK;
}

/* Adds a profile of pyinstrument, its frames as calls. */
static int add_pyinstrument(struct report_calls *calls, const struct str *content,
    struct functions *functions, struct gput_error *error)
{
    struct frames frames = {.calls = calls, .error = error};
    CLEANUP(pyinstrument_finish)
    struct pyinstrument sum = {.visit = add_frame, .user = &frames};
    TRY(pyinstrument_add(&sum, str_text(content), content->length, calls->session->path, error));
    TRY(frames.code);
    return list_pyinstrument(&sum, functions, error);
}

/* ---- cProfile ---- */

/* Lists the functions of a profile of cProfile. */
static int list_cprofile(
    const struct cprofile *profile, struct functions *functions, struct gput_error *error)
{
    CLEANUP_STR struct str name = {0};
    for (uint32_t i = 0; i < profile->function_count; i++) {
        const struct call_counts *counts = &profile->functions[i].counts;
        struct function function = {.own_seconds = counts->total_seconds,
            .cumulative_seconds = counts->cumulative_seconds,
            .calls = counts->total_calls < 0 ? 0 : counts->total_calls};
        str_clear(&name);
        report_callers_name(profile, i, &name);
        if (name.failed)
            return error_memory(error);
        if (profile->functions[i].counted)
            TRY(add_function(functions, str_text(&name), &function, error));
    }
    return GPUT_OK;
}

/* Adds a profile of cProfile, with calls made up of who called whom. */
static int add_cprofile(struct report_calls *calls, const struct str *content,
    struct functions *functions, struct gput_error *error)
{
    CLEANUP(cprofile_finish) struct cprofile profile = {0};
    TRY(cprofile_add(&profile, str_text(content), content->length, calls->session->path, error));
    TRY(report_callers_add(calls, &profile, error));
    return list_cprofile(&profile, functions, error);
}

/* ---- Many, in the folder of a training profile ---- */

struct sum {
    struct cprofile cprofile;
    struct pyinstrument pyinstrument;
    size_t count;
};

static void sum_finish(struct sum *sum)
{
    cprofile_finish(&sum->cprofile);
    pyinstrument_finish(&sum->pyinstrument);
}

/* Adds a profile to the sum of all. */
static int add_file(struct sum *sum, const struct python_profile *profile, struct gput_error *error)
{
    CLEANUP_STR struct str content = {0};
    TRY(file_read_bounded(profile->path, MAX_BYTES, &content, error));
    const char *text = str_text(&content);
    TRY(profile->pyinstrument
            ? pyinstrument_add(&sum->pyinstrument, text, content.length, profile->path, error)
            : cprofile_add(&sum->cprofile, text, content.length, profile->path, error));
    sum->count++;
    return GPUT_OK;
}

/* Adds up the profiles of a folder: those of cProfile, or of pyinstrument where there is none. */
static int add_files(struct report_session *session, const struct python_profiles *profiles,
    struct sum *sum, struct gput_error *error)
{
    bool has_dumps = false;
    struct gput_error skipped;
    for (size_t i = 0; i < profiles->count; i++)
        has_dumps = has_dumps || !profiles->profiles[i].pyinstrument;
    for (size_t i = 0; i < profiles->count; i++) {
        if (profiles->profiles[i].pyinstrument == has_dumps)
            continue;
        int code = add_file(sum, &profiles->profiles[i], &skipped);
        if (code == GPUT_ERROR_MEMORY)
            return error_memory(error);
        if (code != GPUT_OK)
            report_session_warn(session, skipped.message);
    }
    return GPUT_OK;
}

int report_python_add_functions(struct report_session *session, struct gput_error *error)
{
    struct gput_python_options options = gput_python_options_default();
    CLEANUP(python_profiles_finish) struct python_profiles profiles = {0};
    CLEANUP(sum_finish) struct sum sum = {0};
    CLEANUP(functions_finish) struct functions functions = {0};
    options.paths = &session->path;
    options.n_paths = 1;
    TRY(python_profiles_find(&options, &profiles, error));
    TRY(add_files(session, &profiles, &sum, error));
    if (sum.count == 0)
        return GPUT_OK;
    TRY(list_cprofile(&sum.cprofile, &functions, error));
    TRY(list_pyinstrument(&sum.pyinstrument, &functions, error));
    return put_functions(session, &functions, error);
}

/* ---- The loader ---- */

/* Adds a profile of Python, of either kind, as a session of its own. */
static int load(struct report_session *session, struct gput_error *error)
{
    CLEANUP_STR struct str content = {0};
    CLEANUP(functions_finish) struct functions functions = {0};
    CLEANUP(report_calls_finish) struct report_calls calls;
    report_calls_init(&calls, session);
    report_session_time(session, 0); /* lengths, not moments */
    TRY(file_read_bounded(session->path, MAX_BYTES, &content, error));
    if (names_add(&calls.processes, "Python", 6) == NAMES_NONE)
        return error_memory(error);
    TRY(is_cprofile(str_text(&content), content.length)
            ? add_cprofile(&calls, &content, &functions, error)
            : add_pyinstrument(&calls, &content, &functions, error));
    TRY(report_calls_end(&calls, NULL, error));
    return put_functions(session, &functions, error);
}

/* Whether a file is a profile of Python, by its beginning. */
static int probe(const char *path, bool is_folder, struct gput_error *error)
{
    char text[65536];
    int fd = is_folder ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return report_session_refuse(path, error);
    text[got] = '\0';
    if (pyinstrument_is_saved(text, (size_t)got))
        return pyinstrument_refuse_saved(path, error);
    bool is_profile = is_cprofile(text, (size_t)got) || is_pyinstrument(text, (size_t)got);
    return is_profile ? GPUT_OK : report_session_refuse(path, error);
}

const struct report_loader report_python_loader = {"python", probe, load};
