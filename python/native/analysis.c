/* Functions of the extension module that analyze a tracking file, compare sessions and combine
 * sub-tracking files. They read files and return tables. */
#include "native.h"

#include <string.h>

/* Reads the word by which the analysis splits or groups. Returns -1 with an exception when it is
 * none of those. */
static int parse_split(const char *word, struct gput_analysis_options *options)
{
    if (!word)
        return 0;
    if (strcmp(word, "process") == 0)
        options->split = GPUT_SPLIT_PROCESS;
    else if (strcmp(word, "thread") == 0)
        options->split = GPUT_SPLIT_THREAD;
    else if (strcmp(word, "rank") == 0)
        options->split = GPUT_SPLIT_RANK;
    else if (strcmp(word, "category") == 0)
        options->grouping = GPUT_GROUP_CATEGORY;
    else if (strcmp(word, "source") == 0)
        options->grouping = GPUT_GROUP_SOURCE;
    else if (strcmp(word, "domain") == 0)
        options->grouping = GPUT_GROUP_DOMAIN;
    else {
        PyErr_Format(PyExc_ValueError,
            "\"%s\" is not a valid split. Valid values are process, thread, source, domain, "
            "category, rank",
            word);
        return -1;
    }
    return 0;
}

/* The tables of an analysis as a dictionary of name to Table. */
static PyObject *tables_of(PyObject *module, const struct gput_analysis *analysis)
{
    struct gput_error error;
    struct gput_tables *tables;
    if (gput_analysis_tables(analysis, &tables, &error) != GPUT_OK)
        return native_raise(&error);
    return native_steal_tables(module, tables);
}

/* analyze(tracking_file, sub_tracking_file, details, split) -> ({name: Table}, warnings) */
static PyObject *analyze(PyObject *module, PyObject *args)
{
    PyObject *tracking, *sub_tracking, *result = NULL;
    struct gput_analysis_options options = gput_analysis_options_default();
    struct native_call call;
    const char *split = NULL;
    int details = 0;
    if (!PyArg_ParseTuple(args, "OO|pz", &tracking, &sub_tracking, &details, &split) ||
        !native_call_begin(&call))
        return NULL;
    options.cores = gput_usable_cores();
    options.details = details;
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (held_path(call.held, tracking, &options.tracking_file) &&
        held_optional_path(call.held, sub_tracking, &options.sub_tracking_file) &&
        parse_split(split, &options) == 0) {
        struct gput_analysis *analysis;
        struct gput_error error;
        int code;
        Py_BEGIN_ALLOW_THREADS;
        code = gput_analysis_create(&options, &analysis, &error);
        Py_END_ALLOW_THREADS;
        PyObject *tables = code == GPUT_OK ? tables_of(module, analysis) : native_raise(&error);
        if (tables)
            result = Py_BuildValue("NN", tables, native_warnings_collect(call.warnings));
        gput_analysis_destroy(analysis);
    }
    return native_call_end(&call, result);
}

/* load_analysis(path) -> {name: Table} */
static PyObject *load_analysis(PyObject *module, PyObject *args)
{
    PyObject *path;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    struct gput_analysis *analysis;
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_analysis_load(PyBytes_AsString(path), &analysis, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    if (code != GPUT_OK)
        return native_raise(&error);
    PyObject *tables = tables_of(module, analysis);
    gput_analysis_destroy(analysis);
    return tables;
}

/* ---- Comparisons ---- */

/* Reads a list of (name, path) pairs as the sessions to compare. `held` keeps what they point
 * to. */
static bool held_compared(
    PyObject *held, PyObject *list, const struct gput_comparison_session **sessions, size_t *count)
{
    PyObject *tuple = held_tuple(held, list);
    Py_ssize_t length = tuple ? PyTuple_Size(tuple) : -1;
    struct gput_comparison_session *items =
        length < 0 ? NULL : held_memory(held, length, sizeof *items);
    for (Py_ssize_t i = 0; items && i < length; i++) {
        PyObject *pair = PyTuple_GetItem(tuple, i), *path;
        if (!PyTuple_Check(pair)) {
            PyErr_SetString(PyExc_TypeError, "pairs of name and path are needed");
            return false;
        }
        if (!PyArg_ParseTuple(pair, "sO", &items[i].name, &path) ||
            !held_path(held, path, &items[i].path))
            return false;
    }
    *sessions = items;
    *count = items ? (size_t)length : 0;
    return items != NULL;
}

/* The format to pass to compare() for tables in place of a picture. */
#define TABLES (-1)

/* A comparison as a picture or as tables, by the statistic that is asked for. */
static PyObject *render_comparison(PyObject *module, const struct gput_comparison *comparison,
    const char *statistic, int format, int is_inline)
{
    struct gput_comparison_options options = gput_comparison_options_default();
    options.is_inline = is_inline;
    struct gput_error error;
    char *bytes;
    size_t length;
    struct gput_tables *tables;
    int code = gput_statistic_parse(statistic, &options.statistic, &error);
    if (code == GPUT_OK && format == TABLES) {
        code = gput_comparison_tables(comparison, &options, &tables, &error);
        return code == GPUT_OK ? native_steal_tables(module, tables) : native_raise(&error);
    }
    if (code == GPUT_OK)
        code = gput_comparison_render(
            comparison, &options, (enum gput_format)format, &bytes, &length, &error);
    if (code != GPUT_OK)
        return native_raise(&error);
    return native_steal_bytes(bytes, length);
}

/* Appends the library's warnings to a list. Returns -1 with an exception. */
static int put_warnings(PyObject *list, struct native_warnings *warnings)
{
    PyObject *said = native_warnings_collect(warnings);
    Py_ssize_t end = PyList_Size(list);
    int failed = said ? PyList_SetSlice(list, end, end, said) : -1;
    Py_XDECREF(said);
    return failed;
}

/* compare([(name, path), …], statistic, format, said, is_inline=False) -> bytes or {name: Table}.
 * The library's warnings are appended to the list `said`, also when the call raises an
 * exception. */
static PyObject *compare(PyObject *module, PyObject *args)
{
    PyObject *list, *said, *result = NULL;
    struct gput_comparison_options options = gput_comparison_options_default();
    const struct gput_comparison_session *sessions;
    struct native_call call;
    const char *statistic;
    size_t count;
    int format, is_inline = 0;
    if (!PyArg_ParseTuple(
            args, "OsiO!|p", &list, &statistic, &format, &PyList_Type, &said, &is_inline) ||
        !native_call_begin(&call))
        return NULL;
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (held_compared(call.held, list, &sessions, &count)) {
        struct gput_comparison *comparison;
        struct gput_error error;
        int code;
        Py_BEGIN_ALLOW_THREADS;
        code = gput_comparison_create(sessions, count, &options, &comparison, &error);
        Py_END_ALLOW_THREADS;
        if (put_warnings(said, call.warnings) == 0)
            result = code == GPUT_OK
                         ? render_comparison(module, comparison, statistic, format, is_inline)
                         : native_raise(&error);
        gput_comparison_destroy(comparison);
    }
    return native_call_end(&call, result);
}

/* ---- Combining files ---- */

/* Combines sub-tracking files into one. Returns false with an exception. */
static bool combine_files(const char *output, const char *const *paths, size_t count,
    const struct gput_sub_tracking_options *options)
{
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_sub_tracking_combine(output, paths, count, options, &error);
    Py_END_ALLOW_THREADS;
    if (code == GPUT_ERROR_EXISTS)
        error.code = GPUT_ERROR_INVALID; /* raised as ValueError, which earlier versions did too */
    if (code != GPUT_OK)
        native_raise(&error);
    return code == GPUT_OK;
}

/* combine(output, [path, …], mix) -> warnings */
static PyObject *combine(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *path, *list, *result = NULL;
    struct gput_sub_tracking_options options = gput_sub_tracking_options_default();
    struct native_call call;
    const char *const *paths;
    const char *output;
    size_t count;
    int mix = 0;
    if (!PyArg_ParseTuple(args, "OO|p", &path, &list, &mix) || !native_call_begin(&call))
        return NULL;
    options.mix = mix;
    options.cores = gput_usable_cores();
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (held_path(call.held, path, &output) && held_paths(call.held, list, &paths, &count) &&
        combine_files(output, paths, count, &options))
        result = native_warnings_collect(call.warnings);
    return native_call_end(&call, result);
}

static PyMethodDef functions[] = {
    {"analyze", analyze, METH_VARARGS,
        "analyze(tracking_file, sub_tracking_file, details, split) -> ({name: Table}, warnings)"},
    {"load_analysis", load_analysis, METH_VARARGS, "load_analysis(path) -> {name: Table}"},
    {"compare", compare, METH_VARARGS,
        "compare([(name, path), …], statistic, format, said) -> bytes or {name: Table}"},
    {"combine", combine, METH_VARARGS, "combine(output, paths, mix) -> warnings"},
    {NULL, NULL, 0, NULL},
};

/* Adds these functions, and the number that stands for tables in place of a format. */
int native_add_analysis(PyObject *module)
{
    if (PyModule_AddIntConstant(module, "TABLES", TABLES) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
