#include "session_arguments.h"

#include <stdio.h>
#include <string.h>

/* Raises the error of a failed call. Returns whether the call was a success. */
static bool check(int code, const struct gput_error *error)
{
    if (code != GPUT_OK)
        native_raise(error);
    return code == GPUT_OK;
}

/* The text of a str argument. NULL with an exception. */
static const char *text_of(const char *name, PyObject *value)
{
    Py_ssize_t length;
    if (!PyUnicode_Check(value)) {
        PyErr_Format(PyExc_TypeError, "%s must be str, not %R", name, value);
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(value, &length);
    if (text && strlen(text) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s has an embedded null character", name);
        return NULL;
    }
    return text;
}

/* A number as the text that gput_session_option_set() reads. NULL with an exception. */
static const char *text_of_number(PyObject *value, PyObject *held)
{
    double number = PyFloat_AsDouble(value);
    PyObject *made = number == -1 && PyErr_Occurred() ? NULL : PyFloat_FromDouble(number);
    PyObject *text = made ? PyObject_Repr(made) : NULL;
    bool is_held = text && PyList_Append(held, text) == 0;
    const char *bytes = is_held ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    Py_XDECREF(text);
    Py_XDECREF(made);
    return bytes;
}

/* Sets an option by name, by the table of options that the command line and config files use too.
 * Types are checked here, so that a number cannot be given as a text. None means "not given" for
 * options that can be left out. */
static bool read_option(
    const struct gput_session_option *option, PyObject *value, struct session_arguments *given)
{
    const char *text = NULL, *name = option->name;
    struct gput_error error;
    char number[32];
    int flag, count;
    switch (option->kind) {
    case GPUT_SESSION_OPTION_KIND_FLAG:
        flag = PyObject_IsTrue(value);
        text = flag < 0 ? NULL : flag ? "true" : "false";
        break;
    case GPUT_SESSION_OPTION_KIND_COUNT:
        if (value == Py_None)
            return true;
        if (native_read_number(value, &count)) {
            snprintf(number, sizeof number, "%d", count);
            text = number;
        }
        break;
    case GPUT_SESSION_OPTION_KIND_NUMBER:
    case GPUT_SESSION_OPTION_KIND_NUMBER_OR_TEXT:
        if (value == Py_None)
            return true;
        text = option->kind == GPUT_SESSION_OPTION_KIND_NUMBER_OR_TEXT && PyUnicode_Check(value)
                   ? text_of(name, value)
                   : text_of_number(value, given->held);
        break;
    case GPUT_SESSION_OPTION_KIND_WORD:
        text = text_of(name, value);
        break;
    case GPUT_SESSION_OPTION_KIND_TEXT:
    case GPUT_SESSION_OPTION_KIND_LIST:
        if (value == Py_None)
            return true;
        text = text_of(name, value);
        break;
    case GPUT_SESSION_OPTION_KIND_PATH:
        if (value == Py_None)
            return true;
        if (!held_optional_path(given->held, value, &text))
            return false;
        break;
    }
    return text && check(gput_session_option_set(&given->options, name, text, &error), &error);
}

/* Reads a dictionary like {"ram": "8GB", "seconds": 90}, or None for no limits. */
static bool read_limits(PyObject *limits, struct session_arguments *given)
{
    PyObject *kind, *amount;
    Py_ssize_t position = 0;
    struct gput_error error;
    if (limits == Py_None)
        return true;
    if (!PyDict_Check(limits)) {
        PyErr_SetString(PyExc_TypeError, "limits is a dict, for example {\"ram\": \"8GB\"}");
        return false;
    }
    while (PyDict_Next(limits, &position, &kind, &amount)) {
        PyObject *limit = PyUnicode_FromFormat("%S=%S", kind, amount);
        const char *text = limit ? PyUnicode_AsUTF8AndSize(limit, NULL) : NULL;
        bool is_read = text && check(gput_limits_parse(text, &given->limits, &error), &error);
        Py_XDECREF(limit);
        if (!is_read)
            return false;
    }
    return true;
}

/* Reads one keyword argument: an option of sessions, or one of the few others. */
static bool read_argument(PyObject *key, PyObject *value, struct session_arguments *given)
{
    const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
    const struct gput_session_option *option = name ? gput_session_option_find(name) : NULL;
    if (!name)
        return false;
    if (option)
        return read_option(option, value, given);
    if (strcmp(name, "limits") == 0)
        return read_limits(value, given);
    if (strcmp(name, "keep_samples") == 0)
        return native_read_number(value, &given->keep_samples);
    if (strcmp(name, "enforce") == 0) {
        int is_true = PyObject_IsTrue(value);
        given->limits.enforce = is_true > 0;
        return is_true >= 0;
    }
    PyErr_Format(PyExc_TypeError, "%s is not an argument of a session", name);
    return false;
}

/* Reads all keyword arguments. Returns false with an exception. */
static bool read_each(PyObject *args, PyObject *kwargs, struct session_arguments *given)
{
    PyObject *name, *value;
    Py_ssize_t position = 0;
    if (!given->held || !PyArg_ParseTuple(args, ""))
        return false;
    while (kwargs && PyDict_Next(kwargs, &position, &name, &value)) {
        if (!read_argument(name, value, given))
            return false;
    }
    return true;
}

/* Command lines are part of the list of processes, so asking for them also asks for that list. */
bool session_arguments_read(PyObject *args, PyObject *kwargs, struct session_arguments *given)
{
    *given = (struct session_arguments){.options = gput_session_options_default(),
        .limits = gput_limits_default(),
        .held = PyList_New(0)};
    given->options.limits = &given->limits;
    if (!read_each(args, kwargs, given)) {
        session_arguments_finish(given);
        return false;
    }
    given->options.processes |= given->options.command_lines;
    return true;
}

void session_arguments_finish(struct session_arguments *given)
{
    Py_CLEAR(given->held);
}
