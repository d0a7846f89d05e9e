/* Analysis, comparison and combining: functions that read files and give tables back. */
#include "native.h"

#include <stdlib.h>
#include <string.h>

static const char *optional_path(PyObject *path)
{
    return path ? PyBytes_AsString(path) : NULL;
}

/* For "O&": None stays NULL. */
static int convert_optional_path(PyObject *object, void *result)
{
    if (object != Py_None)
        return PyUnicode_FSConverter(object, result);
    *(PyObject **)result = NULL;
    return 1;
}

static int parse_split(const char *word, struct gput_analysis_options *options)
{
    if (!word)
        return 0;
    if (strcmp(word, "process") == 0)
        options->split = GPUT_SPLIT_PROCESS;
    else if (strcmp(word, "thread") == 0)
        options->split = GPUT_SPLIT_THREAD;
    else if (strcmp(word, "source") == 0)
        options->grouping = GPUT_GROUP_SOURCE;
    else if (strcmp(word, "domain") == 0)
        options->grouping = GPUT_GROUP_DOMAIN;
    else {
        PyErr_Format(PyExc_ValueError,
            "\"%s\" is not a valid split. Valid values are process, thread, source, domain", word);
        return -1;
    }
    return 0;
}

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
    PyObject *tracking = NULL, *sub_tracking = NULL, *result = NULL;
    int details = 0;
    const char *split = NULL;
    struct gput_analysis_options options = gput_analysis_options_default();
    options.cores = gput_usable_cores();
    if (!PyArg_ParseTuple(args, "O&O&|pz", PyUnicode_FSConverter, &tracking, convert_optional_path,
            &sub_tracking, &details, &split))
        return NULL;
    struct native_warnings *warnings = native_warnings_create();
    if (warnings && parse_split(split, &options) == 0) {
        options.tracking_file = PyBytes_AsString(tracking);
        options.sub_tracking_file = optional_path(sub_tracking);
        options.details = details;
        options.warn = native_warnings_add;
        options.user = warnings;
        struct gput_analysis *analysis;
        struct gput_error error;
        int code;
        Py_BEGIN_ALLOW_THREADS;
        code = gput_analysis_create(&options, &analysis, &error);
        Py_END_ALLOW_THREADS;
        PyObject *tables = code == GPUT_OK ? tables_of(module, analysis) : native_raise(&error);
        if (tables)
            result = Py_BuildValue("NN", tables, native_warnings_collect(warnings));
        if (code == GPUT_OK)
            gput_analysis_destroy(analysis);
    } else if (!warnings) {
        PyErr_NoMemory();
    }
    native_warnings_destroy(warnings);
    Py_DECREF(tracking);
    Py_XDECREF(sub_tracking);
    return result;
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

/* ---- Comparison ---- */

/* Reads [(name, path), …]; `keep` holds the bytes that the sessions point to. */
static struct gput_comparison_session *read_sessions(
    PyObject *list, Py_ssize_t *count, PyObject *keep)
{
    *count = PyList_Size(list);
    if (*count < 0)
        return NULL;
    struct gput_comparison_session *sessions = calloc((size_t)*count + 1, sizeof *sessions);
    if (!sessions) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t i = 0; i < *count; i++) {
        PyObject *pair = PyList_GetItem(list, i), *path = NULL;
        if (!PyTuple_Check(pair))
            PyErr_SetString(PyExc_TypeError, "pairs of name and path are needed");
        else if (PyArg_ParseTuple(pair, "sO&", &sessions[i].name, PyUnicode_FSConverter, &path)) {
            sessions[i].path = PyBytes_AsString(path);
            int failed = PyList_Append(keep, path);
            Py_DECREF(path);
            if (failed == 0)
                continue;
        }
        free(sessions);
        return NULL;
    }
    return sessions;
}

/* In place of the format of a picture: tables. */
#define TABLES (-1)

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

/* Appends what the library warned of. */
static int put_warnings(PyObject *list, struct native_warnings *warnings)
{
    PyObject *said = native_warnings_collect(warnings);
    Py_ssize_t end = PyList_Size(list);
    int failed = said ? PyList_SetSlice(list, end, end, said) : -1;
    Py_XDECREF(said);
    return failed;
}

/* compare([(name, path), …], statistic, format, said, is_inline=False) -> bytes or {name: Table};
 * warnings go to the list `said`, also when it raises. */
static PyObject *compare(PyObject *module, PyObject *args)
{
    PyObject *list, *said, *result = NULL;
    const char *statistic;
    int format, is_inline = 0;
    if (!PyArg_ParseTuple(args, "O!siO!|p", &PyList_Type, &list, &statistic, &format, &PyList_Type,
            &said, &is_inline))
        return NULL;
    PyObject *keep = PyList_New(0);
    struct native_warnings *warnings = keep ? native_warnings_create() : NULL;
    Py_ssize_t count = 0;
    struct gput_comparison_session *sessions = warnings ? read_sessions(list, &count, keep) : NULL;
    if (sessions) {
        struct gput_comparison *comparison;
        struct gput_error error;
        int code;
        struct gput_comparison_options options = gput_comparison_options_default();
        options.warn = native_warnings_add;
        options.user = warnings;
        Py_BEGIN_ALLOW_THREADS;
        code = gput_comparison_create(sessions, (size_t)count, &options, &comparison, &error);
        Py_END_ALLOW_THREADS;
        if (put_warnings(said, warnings) == 0)
            result = code == GPUT_OK
                         ? render_comparison(module, comparison, statistic, format, is_inline)
                         : native_raise(&error);
        if (code == GPUT_OK)
            gput_comparison_destroy(comparison);
    } else if (keep && !warnings) {
        PyErr_NoMemory();
    }
    free(sessions);
    native_warnings_destroy(warnings);
    Py_XDECREF(keep);
    return result;
}

/* ---- Combining ---- */

/* False with an exception. */
static bool combine_files(const char *output, const char *const *paths, size_t count,
    const struct gput_sub_tracking_options *options)
{
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_sub_tracking_combine(output, paths, count, options, &error);
    Py_END_ALLOW_THREADS;
    if (code == GPUT_ERROR_EXISTS)
        error.code = GPUT_ERROR_INVALID; /* a ValueError, as it always was in Python */
    if (code != GPUT_OK)
        native_raise(&error);
    return code == GPUT_OK;
}

/* combine(output, [path, …], mix) -> warnings */
static PyObject *combine(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *output = NULL, *list, *result = NULL;
    struct gput_sub_tracking_options options = gput_sub_tracking_options_default();
    struct native_call call;
    const char *const *paths;
    size_t count;
    int mix = 0;
    if (!PyArg_ParseTuple(
            args, "O&O!|p", PyUnicode_FSConverter, &output, &PyList_Type, &list, &mix))
        return NULL;
    if (native_call_begin(&call)) {
        options.mix = mix;
        options.warn = native_warnings_add;
        options.user = call.warnings;
        if (held_paths(call.held, list, &paths, &count) &&
            combine_files(PyBytes_AsString(output), paths, count, &options))
            result = native_warnings_collect(call.warnings);
        native_call_end(&call, result);
    }
    Py_DECREF(output);
    return result;
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

int native_add_analysis(PyObject *module)
{
    if (PyModule_AddIntConstant(module, "TABLES", TABLES) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
