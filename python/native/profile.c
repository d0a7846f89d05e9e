/*
 * Functions of the extension module for training profiles, Python profiles and traces of PyTorch's
 * profiler. They read files, or rows that Python already has, and return tables.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* Reads a list of moments. None stands for no such list. */
static bool read_moments(PyObject *held, PyObject *list, struct gput_profile_options *options)
{
    PyObject *tuple = list == Py_None ? NULL : held_tuple(held, list);
    if (!tuple)
        return list == Py_None;
    Py_ssize_t length = PyTuple_Size(tuple);
    int64_t *moments = held_memory(held, length, sizeof *moments);
    for (Py_ssize_t i = 0; moments && i < length; i++)
        if (!native_to_int64(PyTuple_GetItem(tuple, i), &moments[i]))
            return false;
    options->moments = moments;
    options->n_moments = (size_t)length;
    return moments != NULL;
}

/* Reads a list of (start, end) pairs. None stands for no such list. */
static bool read_intervals(PyObject *held, PyObject *list, struct gput_profile_options *options)
{
    PyObject *tuple = list == Py_None ? NULL : held_tuple(held, list);
    if (!tuple)
        return list == Py_None;
    Py_ssize_t length = PyTuple_Size(tuple);
    struct gput_profile_interval *intervals = held_memory(held, length, sizeof *intervals);
    for (Py_ssize_t i = 0; intervals && i < length; i++) {
        PyObject *pair = held_tuple(held, PyTuple_GetItem(tuple, i));
        long long start, end;
        if (!pair || !PyArg_ParseTuple(pair, "LL", &start, &end))
            return false;
        intervals[i] = (struct gput_profile_interval){start, end};
    }
    options->intervals = intervals;
    options->n_intervals = (size_t)length;
    return intervals != NULL;
}

/* Reads a list of (low, high) pairs. None stands for no such list. */
static bool read_ranges(PyObject *held, PyObject *list, struct gput_profile_options *options)
{
    PyObject *tuple = list == Py_None ? NULL : held_tuple(held, list);
    if (!tuple)
        return list == Py_None;
    Py_ssize_t length = PyTuple_Size(tuple);
    struct gput_profile_range *ranges = held_memory(held, length, sizeof *ranges);
    for (Py_ssize_t i = 0; ranges && i < length; i++) {
        PyObject *pair = held_tuple(held, PyTuple_GetItem(tuple, i));
        if (!pair || !PyArg_ParseTuple(pair, "dd", &ranges[i].low, &ranges[i].high))
            return false;
    }
    options->ranges = ranges;
    options->n_ranges = (size_t)length;
    return ranges != NULL;
}

/* ---- Rows that Python has ---- */

/* Reads a list of columns as tuples. There must be `count` columns, all of one length. */
static bool hold_columns(
    PyObject *held, PyObject *columns, PyObject **tuples, Py_ssize_t count, Py_ssize_t *length)
{
    PyObject *all = held_tuple(held, columns);
    if (!all)
        return false;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *column = i < PyTuple_Size(all) ? PyTuple_GetItem(all, i) : NULL;
        tuples[i] = column ? held_tuple(held, column) : NULL;
        if (tuples[i] && i == 0)
            *length = PyTuple_Size(tuples[0]);
        if (!tuples[i] || PyTuple_Size(tuples[i]) != *length) {
            if (!PyErr_Occurred())
                PyErr_Format(PyExc_ValueError, "%zd columns of one length are needed", count);
            return false;
        }
    }
    return true;
}

/* The text in a row of a column. Sets `ok` to false with an exception. */
static const char *text_at(PyObject *column, Py_ssize_t row, bool *ok)
{
    const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(column, row), NULL);
    *ok = *ok && text;
    return text;
}

/* The whole number in a row of a column. Sets `ok` to false with an exception. */
static int64_t int64_at(PyObject *column, Py_ssize_t row, bool *ok)
{
    int64_t value = 0;
    *ok = *ok && native_to_int64(PyTuple_GetItem(column, row), &value);
    return value;
}

/* The number in a row of a column. Sets `ok` to false with an exception. */
static double double_at(PyObject *column, Py_ssize_t row, bool *ok)
{
    double value = *ok ? PyFloat_AsDouble(PyTuple_GetItem(column, row)) : 0;
    *ok = *ok && !(value == -1 && PyErr_Occurred());
    return value;
}

#define ROW_COLUMNS 6 /* the columns of a reading, and those of an event */

/* Makes a reading of a row of its columns. */
static void add_reading(PyObject *const *at, Py_ssize_t row, void *out, bool *ok)
{
    struct gput_profile_reading *reading = out;
    *reading = (struct gput_profile_reading){.time_us = int64_at(at[0], row, ok),
        .value = double_at(at[1], row, ok),
        .metric = text_at(at[2], row, ok),
        .dimension = text_at(at[3], row, ok),
        .node = text_at(at[4], row, ok),
        .type = text_at(at[5], row, ok)};
}

/* Makes an event of a row of its columns. */
static void add_event(PyObject *const *at, Py_ssize_t row, void *out, bool *ok)
{
    struct gput_profile_event *event = out;
    *event = (struct gput_profile_event){.start_us = int64_at(at[0], row, ok),
        .end_us = int64_at(at[1], row, ok),
        .step = int64_at(at[2], row, ok),
        .metric = text_at(at[3], row, ok),
        .process = text_at(at[4], row, ok),
        .node = text_at(at[5], row, ok)};
}

/* Makes an array of rows from columns, row by row with `take`. Returns NULL with an exception. */
static void *hold_rows(PyObject *held, PyObject *columns, size_t size,
    void (*take)(PyObject *const *at, Py_ssize_t row, void *out, bool *ok), size_t *count)
{
    PyObject *at[ROW_COLUMNS];
    Py_ssize_t length = 0;
    bool ok = hold_columns(held, columns, at, ROW_COLUMNS, &length);
    char *rows = ok ? held_memory(held, length, size) : NULL;
    for (Py_ssize_t i = 0; rows && ok && i < length; i++)
        take(at, i, rows + (size_t)i * size, &ok);
    *count = (size_t)length;
    return ok ? rows : NULL;
}

/* Reads the rows of a profile: (start_us, columns of readings, columns of events). */
static bool read_rows(PyObject *held, PyObject *tuple, struct gput_profile_rows *rows)
{
    PyObject *readings, *events;
    long long start_us;
    if (!PyArg_ParseTuple(tuple, "LOO", &start_us, &readings, &events))
        return false;
    rows->start_us = start_us;
    rows->readings =
        hold_rows(held, readings, sizeof *rows->readings, add_reading, &rows->n_readings);
    rows->events = rows->readings
                       ? hold_rows(held, events, sizeof *rows->events, add_event, &rows->n_events)
                       : NULL;
    return rows->events != NULL;
}

/* ---- Profiles ---- */

static const char *const profile_views[] = {[GPUT_PROFILE_JOB] = "job",
    [GPUT_PROFILE_STEPS] = "steps",
    [GPUT_PROFILE_PHASES] = "phases",
    [GPUT_PROFILE_UTILIZATION] = "utilization",
    [GPUT_PROFILE_DEVICES] = "devices",
    [GPUT_PROFILE_DATALOADER] = "dataloader",
    [GPUT_PROFILE_METRICS] = "metrics",
    [GPUT_PROFILE_READINGS] = "readings",
    [GPUT_PROFILE_FRAMEWORK] = "framework",
    [GPUT_PROFILE_EVENTS] = "events",
    NULL};
static const char *const groupings[] = {[GPUT_PROFILE_BY_TRAINING_PHASE] = "training_phase",
    [GPUT_PROFILE_BY_FRAMEWORK_METRIC] = "framework_metric",
    [GPUT_PROFILE_BY_PROCESS] = "process",
    NULL};
static const char *const kineto_views[] = {[GPUT_KINETO_BREAKDOWN] = "breakdown",
    [GPUT_KINETO_KERNELS] = "kernels",
    [GPUT_KINETO_IDLE] = "idle",
    [GPUT_KINETO_DIFF] = "diff",
    NULL};

/* Looks up a word in a list. Returns false with an exception that lists the valid words. */
static bool find_word(const char *const *words, const char *word, const char *noun, int *place)
{
    char list[160] = "";
    for (*place = 0; words[*place]; ++*place) {
        if (strcmp(words[*place], word) == 0)
            return true;
        strcat(strcat(list, *place > 0 ? ", " : ""), words[*place]);
    }
    PyErr_Format(
        PyExc_ValueError, "\"%s\" is not a valid %s. Valid values are %s", word, noun, list);
    return false;
}

/* A function of the library that makes tables, and what to call it with. */
struct work {
    int (*run)(
        const void *options, int view, struct gput_tables **tables, struct gput_error *error);
    const void *options;
    int view;
};

/* Does the work without the GIL, and returns (tables, warnings). */
static PyObject *give_tables(
    PyObject *module, const struct work *work, struct native_warnings *warnings)
{
    struct gput_tables *tables;
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = work->run(work->options, work->view, &tables, &error);
    Py_END_ALLOW_THREADS;
    if (code != GPUT_OK)
        return native_raise(&error);
    PyObject *dictionary = native_steal_tables(module, tables);
    return dictionary ? Py_BuildValue("NN", dictionary, native_warnings_collect(warnings)) : NULL;
}

static int run_profile(
    const void *options, int view, struct gput_tables **tables, struct gput_error *error)
{
    return gput_profile_tables((enum gput_profile_view)view, options, tables, error);
}

/* Reads the arguments of profile() into options and rows. Returns false with an exception. */
static bool read_profile_options(PyObject *held, PyObject *args, PyObject *keywords, int *view,
    struct gput_profile_options *options, struct gput_profile_rows *rows)
{
    static char *names[] = {"view", "source", "start", "end", "by_step", "by", "by_phase",
        "by_dimension", "each_step", "resources", "phases", "metrics", "ranges", "moments",
        "intervals", NULL};
    PyObject *source, *start = Py_None, *end = Py_None, *resources = Py_None, *phases = Py_None,
                      *metrics = Py_None, *ranges = Py_None, *moments = Py_None,
                      *intervals = Py_None;
    const char *word, *by = groupings[0];
    int by_step = 0, by_phase = 0, by_dimension = 0, each_step = 0, grouping;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sO|$OOpspppOOOOOO", names, &word, &source,
            &start, &end, &by_step, &by, &by_phase, &by_dimension, &each_step, &resources, &phases,
            &metrics, &ranges, &moments, &intervals))
        return false;
    if (!find_word(profile_views, word, "view", view) ||
        !find_word(groupings, by, "grouping", &grouping))
        return false;
    options->unit = by_step ? GPUT_TIMELINE_STEP : GPUT_TIMELINE_TIME;
    options->by = (enum gput_profile_by)grouping;
    options->by_phase = by_phase;
    options->by_dimension = by_dimension;
    options->each_step = each_step;
    /* A tuple has rows that Python holds; anything else is a path. */
    if (PyTuple_Check(source)) {
        options->rows = rows;
        if (!read_rows(held, source, rows))
            return false;
    } else if (!held_path(held, source, &options->path)) {
        return false;
    }
    return native_to_bound(start, &options->start) && native_to_bound(end, &options->end) &&
           held_texts(held, resources, &options->resources, &options->n_resources) &&
           held_texts(held, phases, &options->phases, &options->n_phases) &&
           held_texts(held, metrics, &options->metrics, &options->n_metrics) &&
           read_ranges(held, ranges, options) && read_moments(held, moments, options) &&
           read_intervals(held, intervals, options);
}

/* profile(view, source, *, …) -> ({name: Table}, warnings). The source is a path or rows. */
static PyObject *profile(PyObject *module, PyObject *args, PyObject *keywords)
{
    struct gput_profile_options options = gput_profile_options_default();
    struct gput_profile_rows rows = {0};
    struct work work = {run_profile, &options, 0};
    PyObject *result = NULL;
    struct native_call call;
    if (!native_call_begin(&call))
        return NULL;
    options.cores = gput_usable_cores();
    options.temporary_folder = secure_getenv("TMPDIR");
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (read_profile_options(call.held, args, keywords, &work.view, &options, &rows))
        result = give_tables(module, &work, call.warnings);
    return native_call_end(&call, result);
}

/* profile_start(path) -> the moment that relative times of a profile count from */
static PyObject *profile_start(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *path;
    int64_t start_us;
    struct gput_error error;
    int code;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_profile_start(PyBytes_AsString(path), &start_us, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    return code == GPUT_OK ? PyLong_FromLongLong(start_us) : native_raise(&error);
}

static PyObject *list_of(const int64_t *numbers, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *number = PyLong_FromLongLong(numbers[i]);
        if (!number || PyList_SetItem(list, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* assign_steps(rows) -> the step that each event belongs to */
static PyObject *assign_steps(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *source, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &source))
        return NULL;
    struct gput_profile_rows rows = {0};
    struct gput_error error;
    PyObject *held = PyList_New(0);
    bool read = held && read_rows(held, source, &rows);
    int64_t *steps = read ? held_memory(held, (Py_ssize_t)rows.n_events, sizeof *steps) : NULL;
    if (steps && gput_profile_assign_steps(&rows, steps, &error) != GPUT_OK)
        native_raise(&error);
    else if (steps)
        result = list_of(steps, rows.n_events);
    Py_XDECREF(held);
    return result;
}

/* ---- Python profiles ---- */

/* Reads the arguments that both functions of Python profiles have. Returns false with an
 * exception. */
static bool read_python_options(
    PyObject *held, PyObject *args, PyObject *keywords, struct gput_python_options *options)
{
    static char *names[] = {"paths", "start", "end", "by_step", "start_phase", "end_phase",
        "start_mode", "end_mode", "node", "framework", NULL};
    PyObject *paths, *start = Py_None, *end = Py_None;
    int by_step = 0;
    const char **texts[] = {&options->start_phase, &options->end_phase, &options->start_mode,
        &options->end_mode, &options->node, &options->framework};
    PyObject *objects[6] = {Py_None, Py_None, Py_None, Py_None, Py_None, Py_None};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OOpOOOOOO", names, &paths, &start, &end,
            &by_step, &objects[0], &objects[1], &objects[2], &objects[3], &objects[4], &objects[5]))
        return false;
    for (int i = 0; i < 6; i++)
        if (objects[i] != Py_None && !(*texts[i] = PyUnicode_AsUTF8AndSize(objects[i], NULL)))
            return false;
    options->unit = by_step ? GPUT_TIMELINE_STEP : GPUT_TIMELINE_TIME;
    bool ok = true;
    if (start != Py_None)
        options->start = PyFloat_AsDouble(start);
    if (end != Py_None && !PyErr_Occurred())
        options->end = PyFloat_AsDouble(end);
    ok = !PyErr_Occurred();
    return ok && held_paths(held, paths, &options->paths, &options->n_paths);
}

static int run_python_profiles(
    const void *options, int view, struct gput_tables **tables, struct gput_error *error)
{
    (void)view;
    return gput_python_profile_tables(options, tables, error);
}

static int run_python_functions(
    const void *options, int view, struct gput_tables **tables, struct gput_error *error)
{
    (void)view;
    return gput_python_function_tables(options, tables, error);
}

/* Reads the arguments and makes the tables of Python profiles that `run` makes. */
static PyObject *of_python(PyObject *module, PyObject *args, PyObject *keywords,
    int (*run)(const void *, int, struct gput_tables **, struct gput_error *))
{
    struct gput_python_options options = gput_python_options_default();
    struct work work = {run, &options, 0};
    PyObject *result = NULL;
    struct native_call call;
    if (!native_call_begin(&call))
        return NULL;
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (read_python_options(call.held, args, keywords, &options))
        result = give_tables(module, &work, call.warnings);
    return native_call_end(&call, result);
}

static PyObject *python_profiles(PyObject *module, PyObject *args, PyObject *keywords)
{
    return of_python(module, args, keywords, run_python_profiles);
}

static PyObject *python_functions(PyObject *module, PyObject *args, PyObject *keywords)
{
    return of_python(module, args, keywords, run_python_functions);
}

/* ---- Traces of PyTorch's profiler ---- */

static int run_kineto(
    const void *options, int view, struct gput_tables **tables, struct gput_error *error)
{
    return gput_kineto_tables((enum gput_kineto_view)view, options, tables, error);
}

/* kineto(view, paths, limit) -> ({name: Table}, warnings) */
static PyObject *kineto(PyObject *module, PyObject *args)
{
    struct gput_kineto_options options = gput_kineto_options_default();
    struct work work = {run_kineto, &options, 0};
    Py_ssize_t limit = 0;
    PyObject *paths, *result = NULL;
    const char *word;
    if (!PyArg_ParseTuple(args, "sO|n", &word, &paths, &limit) ||
        !find_word(kineto_views, word, "view", &work.view))
        return NULL;
    struct native_call call;
    if (!native_call_begin(&call))
        return NULL;
    options.limit = limit > 0 ? (size_t)limit : 0;
    options.cores = gput_usable_cores();
    options.temporary_folder = secure_getenv("TMPDIR");
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (held_paths(call.held, paths, &options.paths, &options.n_paths))
        result = give_tables(module, &work, call.warnings);
    return native_call_end(&call, result);
}

static PyMethodDef functions[] = {
    {"profile", WITH_KEYWORDS(profile),
        "profile(view, path or rows, *, …) -> ({name: Table}, warnings); rows: (start_us, columns "
        "of readings, columns "
        "of events)"},
    {"profile_start", profile_start, METH_VARARGS,
        "profile_start(path) -> microseconds since the epoch"},
    {"assign_steps", assign_steps, METH_VARARGS, "assign_steps(rows) -> the step of each event"},
    {"python_profiles", WITH_KEYWORDS(python_profiles),
        "python_profiles(paths, *, …) -> ({name: Table}, warnings)"},
    {"python_functions", WITH_KEYWORDS(python_functions),
        "python_functions(paths, *, …) -> ({name: Table}, warnings)"},
    {"kineto", kineto, METH_VARARGS, "kineto(view, paths, limit) -> ({name: Table}, warnings)"},
    {NULL, NULL, 0, NULL},
};

int native_add_profile(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
