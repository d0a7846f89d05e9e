/* The type gpu_tracker._native.Recording: a power recording, read from its folder. */
#include "native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The Python object of a power recording. */
struct recording {
    PyObject_HEAD struct gput_energy_recording *recording;
};

/* Recording(folder): reads the files of the folder without the GIL. */
static int recording_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"folder", NULL};
    struct recording *self = (struct recording *)object;
    PyObject *folder;
    struct gput_error error;
    int code;
    if (self->recording) {
        PyErr_SetString(PyExc_RuntimeError, "A recording can be opened only once.");
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&", names, PyUnicode_FSConverter, &folder))
        return -1;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_energy_recording_load(PyBytes_AsString(folder), &self->recording, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(folder);
    if (code == GPUT_OK)
        return 0;
    native_raise(&error);
    return -1;
}

static void recording_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    gput_energy_recording_destroy(((struct recording *)object)->recording);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* The recording. NULL with an exception if __init__ was never called. */
static const struct gput_energy_recording *opened(PyObject *object)
{
    const struct gput_energy_recording *recording = ((struct recording *)object)->recording;
    if (!recording)
        PyErr_SetString(PyExc_RuntimeError, "The recording was not opened.");
    return recording;
}

/* A number, or None in place of NaN. */
static PyObject *number_or_none(double number)
{
    return isnan(number) ? Py_NewRef(Py_None) : PyFloat_FromDouble(number);
}

/* A name as str. Names of metrics come from names of files, which need not be UTF-8. */
static PyObject *text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

/* A name in the bytes that the file had. */
static PyObject *bytes_of(PyObject *name)
{
    return PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape");
}

/* Reads two dates as a window of time. Returns false with an exception. */
static bool parse_window(const struct gput_energy_recording *recording, const char *start,
    const char *end, struct gput_energy_window *window)
{
    struct gput_error error;
    if (gput_energy_recording_parse_window(recording, start, end, window, &error) == GPUT_OK)
        return true;
    native_raise(&error);
    return false;
}

/* Raises an error of a function that takes names of metrics. "Not found" there means that the
 * recording has no such metric, which is a ValueError. Its message lists the metrics that exist. */
static PyObject *raise_of_metric(struct gput_error *error)
{
    if (error->code == GPUT_ERROR_NOT_FOUND)
        error->code = GPUT_ERROR_INVALID;
    return native_raise(error);
}

/* ---- Figures ---- */

/* The tuple (group, name, GPU or None) of a metric. */
static PyObject *name_of(const struct gput_energy_recording *recording, size_t i)
{
    struct gput_energy_metric metric = gput_energy_metric_default();
    struct gput_error error;
    const char *name = gput_energy_recording_metric_name(recording, i);
    if (gput_energy_recording_metric(recording, name, NULL, &metric, &error) != GPUT_OK)
        return native_raise(&error);
    PyObject *device = metric.device ? text_of(metric.device) : Py_NewRef(Py_None);
    PyObject *full = text_of(name);
    return device && full ? Py_BuildValue("(sNN)", metric.group, full, device) : NULL;
}

/* The attribute `metrics`: the name of each metric, see name_of(). */
static PyObject *recording_metrics(PyObject *object, void *Py_UNUSED(closure))
{
    const struct gput_energy_recording *recording = opened(object);
    size_t count = recording ? gput_energy_recording_metric_count(recording) : 0;
    PyObject *list = recording ? PyList_New((Py_ssize_t)count) : NULL;
    for (size_t i = 0; list && i < count; i++) {
        PyObject *name = name_of(recording, i);
        if (!name || PyList_SetItem(list, (Py_ssize_t)i, name) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* The attribute `warning`: what could not be read, or None. */
static PyObject *recording_warning(PyObject *object, void *Py_UNUSED(closure))
{
    const struct gput_energy_recording *recording = opened(object);
    const char *warning = recording ? gput_energy_recording_warning(recording) : NULL;
    return !recording ? NULL : warning ? text_of(warning) : Py_NewRef(Py_None);
}

/* The figures of a metric as a dictionary. */
static PyObject *metric_of(const struct gput_energy_metric *metric)
{
    return Py_BuildValue("{szszsNsNsNsdsnsn}", "group", metric->group, "unit", metric->unit,
        "total", number_or_none(metric->total), "average", number_or_none(metric->average), "max",
        number_or_none(metric->max), "seconds", metric->seconds, "points",
        (Py_ssize_t)metric->points, "segments", (Py_ssize_t)metric->segments);
}

/* metric(name, start, end) -> a dictionary of its figures */
static PyObject *recording_metric(PyObject *object, PyObject *args)
{
    const struct gput_energy_recording *recording = opened(object);
    const char *start = NULL, *end = NULL;
    struct gput_energy_window window;
    struct gput_energy_metric metric = gput_energy_metric_default();
    struct gput_error error;
    PyObject *name;
    if (!recording || !PyArg_ParseTuple(args, "U|zz", &name, &start, &end) ||
        !parse_window(recording, start, end, &window) || !(name = bytes_of(name)))
        return NULL;
    int code =
        gput_energy_recording_metric(recording, PyBytes_AsString(name), &window, &metric, &error);
    Py_DECREF(name);
    return code == GPUT_OK ? metric_of(&metric) : raise_of_metric(&error);
}

/* select(name) -> a list of names: for a metric by GPU those of all its GPUs */
static PyObject *recording_select(PyObject *object, PyObject *args)
{
    const struct gput_energy_recording *recording = opened(object);
    PyObject *name, *list = NULL;
    if (!recording || !PyArg_ParseTuple(args, "U", &name) || !(name = bytes_of(name)))
        return NULL;
    size_t count = gput_energy_recording_select(recording, PyBytes_AsString(name), NULL, 0);
    const char **names = calloc(count + 1, sizeof *names);
    if (names) {
        gput_energy_recording_select(recording, PyBytes_AsString(name), names, count);
        list = PyList_New((Py_ssize_t)count);
    } else {
        PyErr_NoMemory();
    }
    for (size_t i = 0; list && i < count; i++) {
        PyObject *text = text_of(names[i]);
        if (!text || PyList_SetItem(list, (Py_ssize_t)i, text) < 0)
            Py_CLEAR(list);
    }
    free(names);
    Py_DECREF(name);
    return list;
}

typedef double window_function(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window);

/* Calls a function of a window of time, and returns its number or None. */
static PyObject *over_window(PyObject *object, PyObject *args, window_function *function)
{
    const struct gput_energy_recording *recording = opened(object);
    const char *start = NULL, *end = NULL;
    struct gput_energy_window window;
    if (!recording || !PyArg_ParseTuple(args, "|zz", &start, &end) ||
        !parse_window(recording, start, end, &window))
        return NULL;
    return number_or_none(function(recording, &window));
}

static PyObject *recording_seconds(PyObject *object, PyObject *args)
{
    return over_window(object, args, gput_energy_recording_seconds);
}

/* window(name, start, end) -> (first, last) date of what was recorded, or None */
static PyObject *recording_window(PyObject *object, PyObject *args)
{
    const struct gput_energy_recording *recording = opened(object);
    const char *start = NULL, *end = NULL;
    struct gput_energy_window window;
    PyObject *name, *held = NULL;
    char first[32], last[32];
    if (!recording || !PyArg_ParseTuple(args, "O|zz", &name, &start, &end) ||
        !parse_window(recording, start, end, &window) ||
        (name != Py_None && !(held = bytes_of(name))))
        return NULL;
    window = gput_energy_recording_window(recording, held ? PyBytes_AsString(held) : NULL, &window);
    Py_XDECREF(held);
    if (window.start_us > window.end_us)
        return Py_NewRef(Py_None);
    gput_energy_recording_date(window.start_us, first, sizeof first);
    gput_energy_recording_date(window.end_us, last, sizeof last);
    return Py_BuildValue("(ss)", first, last);
}

/* text(start, end) -> the summary as text */
static PyObject *recording_text(PyObject *object, PyObject *args)
{
    const struct gput_energy_recording *recording = opened(object);
    const char *start = NULL, *end = NULL;
    struct gput_energy_window window;
    struct gput_error error;
    char *text;
    int code;
    if (!recording || !PyArg_ParseTuple(args, "|zz", &start, &end) ||
        !parse_window(recording, start, end, &window))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_energy_recording_render(recording, &window, GPUT_FORMAT_TEXT, &text, NULL, &error);
    Py_END_ALLOW_THREADS;
    return code == GPUT_OK ? native_steal_text(text) : native_raise(&error);
}

/* summary(start, end) -> {name: Table} */
static PyObject *recording_summary(PyObject *object, PyObject *args)
{
    const struct gput_energy_recording *recording = opened(object);
    const char *start = NULL, *end = NULL;
    struct gput_energy_window window;
    struct gput_error error;
    struct gput_tables *tables;
    int code;
    if (!recording || !PyArg_ParseTuple(args, "|zz", &start, &end) ||
        !parse_window(recording, start, end, &window))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_energy_recording_summary_tables(recording, &window, &tables, &error);
    Py_END_ALLOW_THREADS;
    if (code != GPUT_OK)
        return native_raise(&error);
    return native_steal_tables(PyType_GetModule(Py_TYPE(object)), tables);
}

/* ---- Curves ---- */

/* What a caller asks for when it wants curves. The names point into the bytes objects in `held`. */
struct curves {
    const struct gput_energy_recording *recording;
    struct gput_energy_window window;
    PyObject *held; /* a list of bytes objects */
    const char **names;
    size_t count;
};

/* Frees the memory of the names. */
static void curves_finish(struct curves *curves)
{
    free(curves->names);
    Py_XDECREF(curves->held);
}

/* Keeps the names of a list in the recording's encoding. Returns false with an exception. */
static bool hold_names(struct curves *curves, PyObject *list)
{
    Py_ssize_t count = PyList_Size(list);
    curves->held = PyList_New(0);
    curves->names = calloc((size_t)count + 1, sizeof *curves->names);
    if (!curves->names)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; curves->held && curves->names && i < count; i++) {
        PyObject *name = bytes_of(PyList_GetItem(list, i));
        int code = name ? PyList_Append(curves->held, name) : -1;
        Py_XDECREF(name);
        if (code < 0)
            return false;
        curves->names[curves->count++] = PyBytes_AsString(name);
    }
    return curves->held && curves->names;
}

/* Reads the arguments ([name, …], start, end). After an exception curves_finish() need not be
 * called. */
static bool curves_init(struct curves *curves, PyObject *object, PyObject *args)
{
    PyObject *list;
    const char *start = NULL, *end = NULL;
    *curves = (struct curves){.recording = opened(object)};
    if (!curves->recording || !PyArg_ParseTuple(args, "O!|zz", &PyList_Type, &list, &start, &end) ||
        !parse_window(curves->recording, start, end, &curves->window))
        return false;
    if (hold_names(curves, list))
        return true;
    curves_finish(curves);
    return false;
}

/* curves([name, …], start, end) -> {name: Table}: the points of each curve */
static PyObject *recording_curves(PyObject *object, PyObject *args)
{
    struct curves curves;
    struct gput_tables *tables;
    struct gput_error error;
    int code;
    if (!curves_init(&curves, object, args))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_energy_recording_tables(
        curves.recording, curves.names, curves.count, &curves.window, &tables, &error);
    Py_END_ALLOW_THREADS;
    curves_finish(&curves);
    if (code != GPUT_OK)
        return raise_of_metric(&error);
    return native_steal_tables(PyType_GetModule(Py_TYPE(object)), tables);
}

/* draw([name, …], start, end) -> a picture of the curves as SVG */
static PyObject *recording_draw(PyObject *object, PyObject *args)
{
    struct curves curves;
    struct gput_error error;
    char *text;
    int code;
    if (!curves_init(&curves, object, args))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_energy_recording_render_curves(curves.recording, curves.names, curves.count,
        &curves.window, GPUT_FORMAT_SVG, &text, NULL, &error);
    Py_END_ALLOW_THREADS;
    curves_finish(&curves);
    return code == GPUT_OK ? native_steal_text(text) : raise_of_metric(&error);
}

static PyMethodDef recording_methods[] = {
    {"select", recording_select, METH_VARARGS,
        "select(name) -> the names of the metrics that it stands for: of one by GPU those of all "
        "GPUs."},
    {"metric", recording_metric, METH_VARARGS,
        "metric(name, start, end) -> its figures; None: there is no point."},
    {"seconds", recording_seconds, METH_VARARGS, "seconds(start, end): how long was recorded."},
    {"window", recording_window, METH_VARARGS,
        "window(name or None, start, end) -> (first, last): the dates that the metric, or "
        "anything, "
        "was recorded from and to; None: it was not."},
    {"text", recording_text, METH_VARARGS, "text(start, end): the summary as text."},
    {"summary", recording_summary, METH_VARARGS, "summary(start, end) -> {name: Table}"},
    {"curves", recording_curves, METH_VARARGS, "curves([name, …], start, end) -> {name: Table}"},
    {"draw", recording_draw, METH_VARARGS, "draw([name, …], start, end) -> a picture (SVG)."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef recording_getset[] = {
    {"metrics", recording_metrics, NULL,
        "[(group, name, device), …]; of a GPU the name ends in a colon and the GPU, else device is "
        "None.",
        NULL},
    {"warning", recording_warning, NULL, "What had to be skipped, or None.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot recording_slots[] = {
    {Py_tp_doc, "Recording(folder): a recording of power."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, recording_init},
    {Py_tp_dealloc, recording_dealloc},
    {Py_tp_methods, recording_methods},
    {Py_tp_getset, recording_getset},
    {0, NULL},
};

static PyType_Spec recording_spec = {
    .name = "gpu_tracker._native.Recording",
    .basicsize = sizeof(struct recording),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = recording_slots,
};

int native_add_energy(PyObject *module)
{
    PyObject *type = native_add_type(module, &recording_spec, "Recording");
    Py_XDECREF(type);
    return type ? 0 : -1;
}
