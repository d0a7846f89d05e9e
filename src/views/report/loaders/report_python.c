/* Profiles of Python: dumps of cProfile and sessions of pyinstrument, as stacks that are as long as
 * functions took in their callers, and a table of the functions. */
#include "views/report/loaders/report_python.h"

#include "analysis/training/python/python_profiles.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/order.h"
#include "base/table.h"
#include "files/import/cprofile.h"
#include "files/import/pyinstrument.h"
#include "views/report/document/report_calls.h"
#include "views/report/loaders/report_loader.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIN_SHARE (1.0 / 5000)
#define NO_NAME UINT32_MAX

/* A function as it is called by another one. */
struct callee {
    uint32_t caller, function;
    double seconds, left; /* left: of what no stack has yet */
};

struct callers {
    const struct cprofile *profile;
    struct report_calls *calls;
    struct callee *callees; /* by caller, of each the longest first; owned */
    size_t *first;          /* of each function, and after the last one; owned */
    uint32_t *names;        /* of each function in the calls, or NO_NAME; owned */
    double *shares; /* of each function in the stack, of its first call there; or 0; owned */
    size_t count;
    double min_seconds;
};

/* Orders callees by their caller, the longest first. */
static int by_caller(const void *left, const void *right)
{
    const struct callee *a = left, *b = right;
    ORDER_BY(a->caller, b->caller);
    ORDER_BY(b->seconds, a->seconds);
    return ORDER(a->function, b->function);
}

/* What of a function's time no function called. The callers of a recursive one count what is within
 * its own time again: its time is shared by primitive calls then, which is exact where all of them
 * came from outside, else a guess. */
static double seconds_from_outside(const struct profiled_function *function, bool *is_guess)
{
    const struct call_counts *counts = &function->counts;
    double seconds = counts->cumulative_seconds, calls = (double)counts->total_calls;
    double primitive = (double)counts->primitive_calls;
    bool is_recursive = counts->primitive_calls < counts->total_calls;
    for (size_t i = 0; i < function->caller_count; i++) {
        const struct call_counts *from = &function->callers[i].counts;
        calls -= fmax((double)from->primitive_calls, (double)from->total_calls);
        seconds -= from->cumulative_seconds;
    }
    *is_guess = is_recursive && calls > 0 && calls < primitive;
    if (!is_recursive)
        return seconds;
    return calls > 0 ? counts->cumulative_seconds * fmin(1, calls / primitive) : 0;
}

/* Returns the time of all functions together. */
static double whole_of(const struct cprofile *profile)
{
    double seconds = 0;
    for (size_t i = 0; i < profile->function_count; i++)
        seconds += profile->functions[i].counts.total_seconds;
    return seconds;
}

/* What was called from outside is "called" by a function after the last one: the profiler sees
 * only what began after itself. */
static void list_callees(struct callers *callers)
{
    const struct cprofile *profile = callers->profile;
    uint32_t outside = (uint32_t)profile->function_count;

    /* Factor by which guesses are multiplied, so that the sum is that of the profile: */
    double known = 0, guessed = 0;
    for (size_t i = 0; i < profile->function_count; i++) {
        bool is_guess;
        double seconds = seconds_from_outside(&profile->functions[i], &is_guess);
        *(is_guess ? &guessed : &known) += seconds;
    }
    double factor = guessed > 0 ? fmax(0, whole_of(profile) - known) / guessed : 1;

    for (uint32_t i = 0; i < profile->function_count; i++) {
        const struct profiled_function *function = &profile->functions[i];
        bool is_guess;
        double rest = seconds_from_outside(function, &is_guess) * (is_guess ? factor : 1);
        for (size_t j = 0; j < function->caller_count; j++) {
            const struct caller *caller = &function->callers[j];
            double seconds = caller->counts.cumulative_seconds;
            callers->callees[callers->count++] =
                (struct callee){caller->function, i, seconds, seconds};
        }
        callers->callees[callers->count++] = (struct callee){outside, i, rest, rest};
    }
    qsort(callers->callees, callers->count, sizeof *callers->callees, by_caller);
    for (size_t i = 0, function = 0; function <= (size_t)outside + 1; function++) {
        while (i < callers->count && callers->callees[i].caller < function)
            i++;
        callers->first[function] = i;
    }
}

/* Lists which functions each function calls. False without memory. */
static bool prepare(struct callers *callers)
{
    size_t functions = callers->profile->function_count, edges = functions;
    for (size_t i = 0; i < functions; i++)
        edges += callers->profile->functions[i].caller_count;
    callers->callees = malloc((edges + 1) * sizeof *callers->callees);
    callers->first = malloc((functions + 2) * sizeof *callers->first);
    callers->names = malloc((functions + 1) * sizeof *callers->names);
    callers->shares = calloc(functions + 1, sizeof *callers->shares);
    for (size_t i = 0; callers->names && i < functions; i++)
        callers->names[i] = NO_NAME;
    return callers->callees && callers->first && callers->names && callers->shares;
}

/* Appends the name of a function: "json/encoder.py:183(encode)". */
static void append_function(const struct cprofile *profile, uint32_t function, struct str *name)
{
    CLEANUP_STR struct str text = {0};
    cprofile_append_name(profile, function, &text);
    const char *whole = str_text(&text), *at = whole + strcspn(whole, ":");
    for (int parts = 0; whole[0] == '/' && at > whole && (at[-1] != '/' || ++parts < 2);)
        at--;
    str_append(name, whole[0] == '/' ? at : whole);
    name->failed |= text.failed;
}

static int add_callees(struct callers *callers, uint32_t function, double start, double end,
    unsigned depth, struct gput_error *error);

/* Adds a function, and below it what it called, each as long as its share of the time. */
static int add_call(struct callers *callers, uint32_t function, double start, double end,
    unsigned depth, struct gput_error *error)
{
    double whole = callers->profile->functions[function].counts.cumulative_seconds;
    double before = callers->shares[function];
    struct report_call call = {.start = start, .stop = end};

    /* The number of the name of a function, which is made when it is asked for. */
    uint32_t *name = &call.name;
    struct str text = {0};
    *name = callers->names[function];
    if (*name == NO_NAME) {
        append_function(callers->profile, function, &text);
        *name = text.failed ? NAMES_NONE
                            : names_add(&callers->calls->names, str_text(&text), text.length);
        str_finish(&text);
        callers->names[function] = *name;
        TRY(*name == NAMES_NONE ? error_memory(error) : GPUT_OK);
    }

    TRY(report_calls_add(callers->calls, &call, error));
    if (depth >= REPORT_MAX_DEPTH || !(whole > 0))
        return GPUT_OK;
    if (!(before > 0))
        callers->shares[function] = (end - start) / whole;
    TRY(add_callees(callers, function, start, end, depth + 1, error));
    callers->shares[function] = before;
    return GPUT_OK;
}

/* What a function called from `start` to `end`, by its share of all of its time. In a recursion the
 * share is that of the outer call, as long as something is left that no stack has yet. What is
 * called by itself is not followed: its time is that of the outer call. */
static int add_callees(struct callers *callers, uint32_t function, double start, double end,
    unsigned depth, struct gput_error *error)
{
    for (size_t i = callers->first[function]; i < callers->first[function + 1]; i++) {
        struct callee *callee = &callers->callees[i];
        double seconds = fmin(callee->seconds * callers->shares[function], callee->left);
        seconds = fmin(seconds, end - start);
        if (!(seconds >= callers->min_seconds) || start + seconds > REPORT_LAST_SECOND ||
            callee->function == function)
            continue;
        callee->left -= seconds;
        TRY(add_call(callers, callee->function, start, start + seconds, depth, error));
        start += seconds;
    }
    return GPUT_OK;
}

/* Adds a call for each stack that took at least a five-thousandth of the whole, below those that
 * no function called, the longest first. Errors: GPUT_ERROR_MEMORY, GPUT_ERROR_IO. */
static int add_callers(
    struct report_calls *calls, const struct cprofile *profile, struct gput_error *error)
{
    struct callers callers = {.profile = profile, .calls = calls};
    int code = GPUT_OK;
    if (!prepare(&callers)) {
        code = error_memory(error);
    } else {
        list_callees(&callers);
        callers.min_seconds = fmax(whole_of(profile) * MIN_SHARE, 1e-9);
        callers.shares[profile->function_count] = 1;
        code = add_callees(&callers, (uint32_t)profile->function_count, 0, INFINITY, 0, error);
    }
    free(callers.callees);
    free(callers.first);
    free(callers.names);
    free(callers.shares);
    return code;
}

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
        append_function(profile, i, &name);
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
    TRY(add_callers(calls, &profile, error));
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

int report_python_add_functions(struct report_session *session, struct gput_error *error)
{
    struct gput_python_options options = gput_python_options_default();
    CLEANUP(python_profiles_finish) struct python_profiles profiles = {0};
    CLEANUP(sum_finish) struct sum sum = {0};
    CLEANUP(functions_finish) struct functions functions = {0};
    options.paths = &session->path;
    options.n_paths = 1;
    TRY(python_profiles_find(&options, &profiles, error));

    /* Add up the profiles of a folder: those of cProfile, or of pyinstrument where there is none.
     */
    bool has_dumps = false;
    struct gput_error skipped;
    for (size_t i = 0; i < profiles.count; i++)
        has_dumps = has_dumps || !profiles.profiles[i].pyinstrument;
    for (size_t i = 0; i < profiles.count; i++) {
        if (profiles.profiles[i].pyinstrument == has_dumps)
            continue;
        int code = add_file(&sum, &profiles.profiles[i], &skipped);
        if (code == GPUT_ERROR_MEMORY)
            return error_memory(error);
        if (code != GPUT_OK)
            report_session_warn(session, skipped.message);
    }

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
