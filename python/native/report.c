/* Makes Python dictionaries and lists of a report. */
#include "native.h"

#define MAX_DEPTH 16

/* What the visitor has made so far. `open` are the dictionaries and lists that it is in, the
 * outermost first. */
struct building {
    PyObject *open[MAX_DEPTH];
    size_t depth;
    PyObject *whole;
};

/* A value of a report as a Python object. Objects and lists are empty at first. */
static PyObject *value_of(const struct gput_results_value *value)
{
    switch (value->kind) {
    case GPUT_VALUE_BOOL:
        return PyBool_FromLong(value->integer != 0);
    case GPUT_VALUE_INT:
        return PyLong_FromLongLong(value->integer);
    case GPUT_VALUE_DOUBLE:
        return PyFloat_FromDouble(value->number);
    case GPUT_VALUE_TEXT:
        return PyUnicode_FromString(value->text);
    case GPUT_VALUE_OBJECT:
        return PyDict_New();
    case GPUT_VALUE_LIST:
        return PyList_New(0);
    default:
        return Py_NewRef(Py_None);
    }
}

/* Adds a value to the innermost dictionary or list that is open. The caller keeps its reference. */
static int add(struct building *building, const char *key, PyObject *made)
{
    if (building->depth == 0) {
        building->whole = Py_NewRef(made);
        return 0;
    }
    PyObject *parent = building->open[building->depth - 1];
    return key ? PyDict_SetItemString(parent, key, made) : PyList_Append(parent, made);
}

/* Called for each value of a report, and at the end of each object and list. */
static int on_value(
    void *user, const struct gput_results_value *value, struct gput_error *Py_UNUSED(error))
{
    struct building *building = user;
    if (value->kind == GPUT_VALUE_END) {
        building->depth--;
        return GPUT_OK;
    }
    PyObject *made = value_of(value);
    int code = made ? add(building, value->key, made) : -1;
    Py_XDECREF(made); /* the dictionary or list that it was added to holds it */
    if (code == 0 && (value->kind == GPUT_VALUE_OBJECT || value->kind == GPUT_VALUE_LIST)) {
        if (building->depth == MAX_DEPTH) {
            PyErr_SetString(PyExc_RecursionError, "A report is nested too deeply.");
            code = -1;
        } else {
            building->open[building->depth++] = made;
        }
    }
    return code == 0 ? GPUT_OK : GPUT_ERROR_STATE;
}

/* A visit that fails leaves an exception of Python or an error of the library. */
PyObject *native_report(
    const struct gput_results *results, const struct gput_results_render_options *options)
{
    struct building building = {0};
    struct gput_error error;
    if (gput_results_visit(results, options, on_value, &building, &error) == GPUT_OK)
        return building.whole;
    Py_XDECREF(building.whole);
    return PyErr_Occurred() ? NULL : native_raise(&error);
}
