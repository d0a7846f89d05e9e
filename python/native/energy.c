/* gpu_tracker._native.Recording: a recording of power, read. */
#include "native.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct recording {
    PyObject_HEAD struct gput_energy_recording *recording;
};

static int recording_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"folder", NULL};
    struct recording *self = (struct recording *)object;
    PyObject *folder;
    struct gput_error error;
    int code;
    if (self->recording) {
        PyErr_SetString(PyExc_RuntimeError, "A recording is opened once.");
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&", names, PyUnicode_FSConverter, &folder))
        return -1;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_energy_recording_open(PyBytes_AsString(folder), &self->recording, &error);
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
    gput_energy_recording_close(((struct recording *)object)->recording);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* NULL with an exception where __init__ was never called. */
static const struct gput_energy_recording *opened(PyObject *object)
{
    const struct gput_energy_recording *recording = ((struct recording *)object)->recording;
    if (!recording)
        PyErr_SetString(PyExc_RuntimeError, "The recording was not opened.");
    return recording;
}

static PyObject *number_or_none(double number)
{
    return isnan(number) ? Py_NewRef(Py_None) : PyFloat_FromDouble(number);
}

/* Metrics are named by files. */
static PyObject *text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
}

/* A name as the file had it: a bytes object. */
static PyObject *bytes_of(PyObject *name)
{
    return PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape");
}

static bool parse_window(const struct gput_energy_recording *recording, const char *start,
    const char *end, struct gput_energy_window *window)
{
    struct gput_error error;
    if (gput_energy_window_parse(recording, start, end, window, &error) == GPUT_OK)
        return true;
    native_raise(&error);
    return false;
}

/* What is not found here is no file: it is a metric, and the text says which there are. */
static PyObject *raise_of_metric(struct gput_error *error)
{
    if (error->code == GPUT_ERROR_NOT_FOUND)
        error->code = GPUT_ERROR_INVALID;
    return native_raise(error);
}

/* ---- figures ---- */

static PyObject *recording_names(PyObject *object, void *Py_UNUSED(closure))
{
    const struct gput_energy_recording *recording = opened(object);
    size_t count = recording ? gput_energy_recording_count(recording) : 0;
    PyObject *list = recording ? PyList_New((Py_ssize_t)count) : NULL;
    for (size_t i = 0; list && i < count; i++) {
        PyObject *name = text_of(gput_energy_recording_name(recording, i));
        if (!name || PyList_SetItem(list, (Py_ssize_t)i, name) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *recording_warning(PyObject *object, void *Py_UNUSED(closure))
{
    const struct gput_energy_recording *recording = opened(object);
    const char *warning = recording ? gput_energy_recording_warning(recording) : NULL;
    return !recording ? NULL : warning ? text_of(warning) : Py_NewRef(Py_None);
}

static PyObject *metric_of(const struct gput_energy_metric *metric)
{
    return Py_BuildValue("{szszsNsNsNsdsnsn}", "group", metric->group, "unit", metric->unit,
        "total", number_or_none(metric->total), "average", number_or_none(metric->average), "max",
        number_or_none(metric->max), "seconds", metric->seconds, "points",
        (Py_ssize_t)metric->points, "segments", (Py_ssize_t)metric->segments);
}

static PyObject *recording_metric(PyObject *object, PyObject *args)
{
    const struct gput_energy_recording *recording = opened(object);
    const char *start = NULL, *end = NULL;
    struct gput_energy_window window;
    struct gput_energy_metric metric;
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

typedef double window_function(
    const struct gput_energy_recording *recording, const struct gput_energy_window *window);

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

static PyObject *recording_total(PyObject *object, PyObject *args)
{
    return over_window(object, args, gput_energy_recording_total);
}

static PyObject *recording_render(PyObject *object, PyObject *args)
{
    const struct gput_energy_recording *recording = opened(object);
    const char *start = NULL, *end = NULL;
    struct gput_energy_window window;
    struct gput_error error;
    char *text;
    int format, code;
    if (!recording || !PyArg_ParseTuple(args, "i|zz", &format, &start, &end) ||
        !parse_window(recording, start, end, &window))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code =
        gput_energy_recording_render(recording, &window, (enum gput_format)format, &text, &error);
    Py_END_ALLOW_THREADS;
    return code == GPUT_OK ? native_take_text(text) : native_raise(&error);
}

/* ---- curves ---- */

/* What is asked of curves: the names, held by bytes objects. */
struct curves {
    const struct gput_energy_recording *recording;
    struct gput_energy_window window;
    PyObject *held; /* a list */
    const char **names;
    size_t count;
};

static void curves_finish(struct curves *curves)
{
    free(curves->names);
    Py_XDECREF(curves->held);
}

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

/* ([name, …], start, end). With an exception there is nothing to finish. */
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
    return native_take_tables(PyType_GetModule(Py_TYPE(object)), tables);
}

static PyObject *recording_draw(PyObject *object, PyObject *args)
{
    struct curves curves;
    struct gput_error error;
    char *text;
    int code;
    if (!curves_init(&curves, object, args))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_energy_curves_draw(
        curves.recording, curves.names, curves.count, &curves.window, &text, &error);
    Py_END_ALLOW_THREADS;
    curves_finish(&curves);
    return code == GPUT_OK ? native_take_text(text) : raise_of_metric(&error);
}

static PyMethodDef recording_methods[] = {
    {"metric", recording_metric, METH_VARARGS,
        "metric(name, start, end) -> its figures; None: there is no point."},
    {"seconds", recording_seconds, METH_VARARGS, "seconds(start, end): how long was recorded."},
    {"total", recording_total, METH_VARARGS, "total(start, end): joules of the machine, or None."},
    {"render", recording_render, METH_VARARGS,
        "render(format, start, end): the summary as text or JSON."},
    {"curves", recording_curves, METH_VARARGS, "curves([name, …], start, end) -> {name: Table}"},
    {"draw", recording_draw, METH_VARARGS, "draw([name, …], start, end) -> a picture (SVG)."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef recording_getset[] = {
    {"names", recording_names, NULL, "The metrics.", NULL},
    {"warning", recording_warning, NULL, "What had to be left out, or None.", NULL},
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
