/* Memory that calls of the library point to, held by a Python list until a call is over. See
 * native.h. */
#include "native.h"

#include <limits.h>
#include <string.h>

int held_add(PyObject *held, PyObject *object)
{
    int code = object ? PyList_Append(held, object) : -1;
    Py_XDECREF(object);
    return code;
}

/* Memory in the form of a bytes object. There is one more element than was asked for, so that a
 * list can end with NULL and an empty one is not NULL. */
void *held_memory(PyObject *held, Py_ssize_t count, size_t size)
{
    PyObject *memory = PyBytes_FromStringAndSize(NULL, (count + 1) * (Py_ssize_t)size);
    char *bytes = memory ? PyBytes_AsString(memory) : NULL;
    return held_add(held, memory) == 0 ? memset(bytes, 0, ((size_t)count + 1) * size) : NULL;
}

PyObject *held_tuple(PyObject *held, PyObject *sequence)
{
    PyObject *tuple = PySequence_Tuple(sequence);
    return held_add(held, tuple) == 0 ? tuple : NULL;
}

/* Any object that int() takes is accepted, so that numbers of NumPy are, too. */
bool native_to_int64(PyObject *object, int64_t *value)
{
    PyObject *number = PyNumber_Long(object);
    *value = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    return *value != -1 || !PyErr_Occurred();
}

bool held_texts(PyObject *held, PyObject *list, const char *const **texts, size_t *count)
{
    if (!list || list == Py_None)
        return true;
    PyObject *tuple = held_tuple(held, list);
    Py_ssize_t length = tuple ? PyTuple_Size(tuple) : -1;
    const char **items = length < 0 ? NULL : held_memory(held, length, sizeof *items);
    for (Py_ssize_t i = 0; items && i < length; i++)
        if (!(items[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i), NULL)))
            return false;
    *texts = items;
    *count = items ? (size_t)length : 0;
    return items != NULL;
}

bool held_path(PyObject *held, PyObject *object, const char **path)
{
    PyObject *bytes = NULL;
    *path = NULL;
    if (!PyUnicode_FSConverter(object, &bytes) || held_add(held, bytes) < 0)
        return false;
    *path = PyBytes_AsString(bytes);
    return true;
}

bool held_optional_path(PyObject *held, PyObject *object, const char **path)
{
    *path = NULL;
    return object == Py_None || held_path(held, object, path);
}

bool held_paths(PyObject *held, PyObject *list, const char *const **paths, size_t *count)
{
    PyObject *tuple = held_tuple(held, list);
    Py_ssize_t length = tuple ? PyTuple_Size(tuple) : -1;
    const char **items = length < 0 ? NULL : held_memory(held, length, sizeof *items);
    for (Py_ssize_t i = 0; items && i < length; i++)
        if (!held_path(held, PyTuple_GetItem(tuple, i), &items[i]))
            return false;
    *paths = items;
    *count = items ? (size_t)length : 0;
    return items != NULL;
}

bool native_to_bound(PyObject *object, int64_t *bound)
{
    return object == Py_None || native_to_int64(object, bound);
}

int native_read_number(PyObject *object, void *number)
{
    int overflow;
    long value = PyLong_AsLongAndOverflow(object, &overflow);
    if (value == -1 && PyErr_Occurred())
        return 0;
    if (overflow || value < 0 || value > INT_MAX) {
        PyErr_Format(PyExc_ValueError, "%R is not a number from 0 to %d", object, INT_MAX);
        return 0;
    }
    *(int *)number = (int)value;
    return 1;
}
