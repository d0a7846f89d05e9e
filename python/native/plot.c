/* Functions of the extension module that draw sessions and write reports of them in HTML. */
#include "native.h"

#include <math.h>

/* ---- Arguments ---- */

/* Reads a list of paths as sessions. `names` are those of the first sessions, "" for one without a
 * name. It may be NULL. */
static bool held_named_sessions(PyObject *held, PyObject *paths, PyObject *names,
    const struct gput_report_session *const **list, size_t *count)
{
    const char *const *texts = NULL, *const *held_names = NULL;
    size_t named = 0;
    if (!held_paths(held, paths, &texts, count) || !held_texts(held, names, &held_names, &named))
        return false;
    struct gput_report_session *items = held_memory(held, (Py_ssize_t)*count, sizeof *items);
    const struct gput_report_session **pointers =
        items ? held_memory(held, (Py_ssize_t)*count, sizeof *pointers) : NULL;
    for (size_t i = 0; pointers && i < *count; i++) {
        items[i] = gput_report_session_default();
        items[i].path = texts[i];
        if (i < named && held_names[i][0])
            items[i].name = held_names[i];
        pointers[i] = &items[i];
    }
    *list = pointers;
    return pointers != NULL;
}

static bool held_sessions(
    PyObject *held, PyObject *paths, const struct gput_report_session *const **list, size_t *count)
{
    return held_named_sessions(held, paths, NULL, list, count);
}

/* Reads a list of numbers. None becomes NaN, a missing value. */
static const double *held_numbers(PyObject *held, PyObject *list, size_t *count)
{
    PyObject *tuple = held_tuple(held, list);
    Py_ssize_t length = tuple ? PyTuple_Size(tuple) : -1;
    double *numbers = length < 0 ? NULL : held_memory(held, length, sizeof *numbers);
    for (Py_ssize_t i = 0; numbers && i < length; i++) {
        PyObject *item = PyTuple_GetItem(tuple, i);
        numbers[i] = item == Py_None ? NAN : PyFloat_AsDouble(item);
        if (PyErr_Occurred())
            return NULL;
    }
    *count = numbers ? (size_t)length : 0;
    return numbers;
}

/* Reads a curve: (figure, label, unit, seconds, values). */
static bool read_curve(PyObject *held, PyObject *item, struct gput_plot_curve *curve)
{
    PyObject *seconds, *values, *tuple = held_tuple(held, item);
    size_t count;
    *curve = gput_plot_curve_default();
    if (!tuple || !PyArg_ParseTuple(tuple, "sssOO", &curve->figure, &curve->label, &curve->unit,
                      &seconds, &values))
        return false;
    curve->seconds = held_numbers(held, seconds, &curve->n_points);
    curve->values = curve->seconds ? held_numbers(held, values, &count) : NULL;
    if (curve->values && count != curve->n_points)
        PyErr_SetString(PyExc_ValueError, "A curve needs a value for each time.");
    return curve->values && count == curve->n_points;
}

/* Reads a list of curves. */
static bool held_curves(
    PyObject *held, PyObject *list, const struct gput_plot_curve *const **curves, size_t *count)
{
    PyObject *tuple = held_tuple(held, list);
    Py_ssize_t length = tuple ? PyTuple_Size(tuple) : -1;
    struct gput_plot_curve *items = length < 0 ? NULL : held_memory(held, length, sizeof *items);
    const struct gput_plot_curve **pointers =
        items ? held_memory(held, length, sizeof *pointers) : NULL;
    for (Py_ssize_t i = 0; pointers && i < length; i++) {
        if (!read_curve(held, PyTuple_GetItem(tuple, i), &items[i]))
            return false;
        pointers[i] = &items[i];
    }
    *curves = pointers;
    *count = pointers ? (size_t)length : 0;
    return pointers != NULL;
}

/* ---- Plots ---- */

/* Reads the arguments of plot(). Returns false with an exception. */
static bool read_plot_options(PyObject *held, PyObject *args, PyObject *keywords,
    struct gput_plot_options *options, const char **output)
{
    static char *names[] = {"sessions", "output", "marks", "curves", "figures", "blocks",
        "is_inline", "start", "end", "width_mm", "height_mm", "title", NULL};
    PyObject *sessions, *path = Py_None, *marks = Py_None, *curves = Py_None, *figures = Py_None;
    int blocks = 0, is_inline = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$OOOppddddz", names, &sessions, &path,
            &marks, &curves, &figures, &blocks, &is_inline, &options->start_seconds,
            &options->end_seconds, &options->width_mm, &options->height_mm, &options->title))
        return false;
    options->blocks = blocks;
    options->is_inline = is_inline;
    return held_optional_path(held, path, output) &&
           held_sessions(held, sessions, &options->sessions, &options->n_sessions) &&
           (marks == Py_None || held_paths(held, marks, &options->sub_tracking_files,
                                    &options->n_sub_tracking_files)) &&
           (curves == Py_None || held_curves(held, curves, &options->curves, &options->n_curves)) &&
           held_texts(held, figures, &options->figures, &options->n_figures);
}

/* Draws to a file, or without a path as SVG in memory. */
static PyObject *draw(const struct gput_plot_options *options, const char *output)
{
    struct gput_error error;
    char *svg = NULL;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = output ? gput_plot_write(options, output, &error)
                  : gput_plot_render(options, GPUT_FORMAT_SVG, &svg, NULL, &error);
    Py_END_ALLOW_THREADS;
    if (code != GPUT_OK)
        return native_raise(&error);
    return output ? Py_NewRef(Py_None) : native_steal_text(svg);
}

/* plot(sessions, output, *, …) -> (None, or the SVG without an output, warnings) */
static PyObject *plot(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    struct gput_plot_options options = gput_plot_options_default();
    PyObject *result = NULL;
    struct native_call call;
    const char *output = NULL;
    if (!native_call_begin(&call))
        return NULL;
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (read_plot_options(call.held, args, keywords, &options, &output))
        result = draw(&options, output);
    if (result)
        result = Py_BuildValue("NN", result, native_warnings_collect(call.warnings));
    return native_call_end(&call, result);
}

/* ---- Reports ---- */

/* Reads the arguments of report(). Returns false with an exception. */
static bool read_report_options(PyObject *held, PyObject *args, PyObject *keywords,
    struct gput_report_options *options, const char **output)
{
    static char *names[] = {"sessions", "output", "marks", "title", "page", NULL};
    PyObject *sessions, *path, *marks = Py_None, *page = Py_None;
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "OO|$OzO", names, &sessions, &path, &marks, &options->title, &page))
        return false;
    return held_path(held, path, output) && held_optional_path(held, page, &options->page) &&
           held_sessions(held, sessions, &options->sessions, &options->n_sessions) &&
           (marks == Py_None || held_paths(held, marks, &options->sub_tracking_files,
                                    &options->n_sub_tracking_files));
}

/* report(sessions, output, *, …) -> warnings: writes an HTML report */
static PyObject *report(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    struct gput_report_options options = gput_report_options_default();
    PyObject *result = NULL;
    struct native_call call;
    const char *output = NULL;
    if (!native_call_begin(&call))
        return NULL;
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (read_report_options(call.held, args, keywords, &options, &output)) {
        struct gput_error error;
        int code;
        Py_BEGIN_ALLOW_THREADS;
        code = gput_report_write(&options, output, &error);
        Py_END_ALLOW_THREADS;
        result = code == GPUT_OK ? native_warnings_collect(call.warnings) : native_raise(&error);
    }
    return native_call_end(&call, result);
}

/* ---- Tables of reports ---- */

/* Reads the arguments of report_tables(). Returns false with an exception. */
static bool read_tables_options(PyObject *held, PyObject *args, PyObject *keywords,
    struct gput_report_options *options, PyObject **take)
{
    static char *keys[] = {"sessions", "take", "marks", "names", NULL};
    PyObject *sessions, *marks = Py_None, *names = NULL;
    return PyArg_ParseTupleAndKeywords(
               args, keywords, "OO|$OO", keys, &sessions, take, &marks, &names) &&
           held_named_sessions(held, sessions, names, &options->sessions, &options->n_sessions) &&
           (marks == Py_None || held_paths(held, marks, &options->sub_tracking_files,
                                    &options->n_sub_tracking_files));
}

/* report_tables(sessions, take, *, …) -> warnings. Each part of a table is passed to `take`. */
static PyObject *report_tables(PyObject *module, PyObject *args, PyObject *keywords)
{
    struct gput_report_options options = gput_report_options_default();
    PyObject *result = NULL;
    struct native_taking taking = {.module = module};
    struct native_call call;
    if (!native_call_begin(&call))
        return NULL;
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (read_tables_options(call.held, args, keywords, &options, &taking.take)) {
        struct gput_error error;
        int code;
        Py_BEGIN_ALLOW_THREADS;
        code = gput_report_tables(&options, native_take_part, &taking, &error);
        Py_END_ALLOW_THREADS;
        if (code == GPUT_OK)
            result = native_warnings_collect(call.warnings);
        else if (!PyErr_Occurred()) /* no exception of `take` is set */
            native_raise(&error);
    }
    return native_call_end(&call, result);
}

/* Finds the files that belong to sessions. No files of marks are given: those are found, too. */
static PyObject *report_files(PyObject *module, PyObject *sessions)
{
    struct gput_report_options options = gput_report_options_default();
    PyObject *result = NULL;
    struct native_call call;
    if (!native_call_begin(&call))
        return NULL;
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (held_sessions(call.held, sessions, &options.sessions, &options.n_sessions)) {
        struct gput_error error;
        struct gput_tables *tables;
        int code;
        Py_BEGIN_ALLOW_THREADS;
        code = gput_report_files(&options, &tables, &error);
        Py_END_ALLOW_THREADS;
        result = code == GPUT_OK ? native_steal_tables(module, tables) : native_raise(&error);
    }
    if (result)
        result = Py_BuildValue("NN", result, native_warnings_collect(call.warnings));
    return native_call_end(&call, result);
}

static PyMethodDef functions[] = {
    {"plot", WITH_KEYWORDS(plot),
        "plot(sessions, output, *, …) -> (None, or without output the SVG, and warnings)"},
    {"report", WITH_KEYWORDS(report), "report(sessions, output, *, …) -> warnings"},
    {"report_tables", WITH_KEYWORDS(report_tables),
        "report_tables(sessions, take, *, marks, names) -> warnings; take({name: Table}) for each "
        "part"},
    {"report_files", report_files, METH_O, "report_files(sessions) -> ({name: Table}, warnings)"},
    {NULL, NULL, 0, NULL},
};

int native_add_plot(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
