/* What all parts of the extension module share: raising exceptions, making text and bytes objects,
 * adding types. */
#include "native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The exception for an error without an errno. */
static PyObject *exception_of(enum gput_code code)
{
    switch (code) {
    case GPUT_ERROR_MEMORY:
        return PyExc_MemoryError;
    case GPUT_ERROR_INVALID:
    case GPUT_ERROR_FORMAT:
        return PyExc_ValueError;
    case GPUT_ERROR_NOT_FOUND:
        return PyExc_FileNotFoundError;
    case GPUT_ERROR_EXISTS:
        return PyExc_FileExistsError;
    case GPUT_ERROR_PERMISSION:
        return PyExc_PermissionError;
    case GPUT_ERROR_IO:
    case GPUT_ERROR_FILES:
        return PyExc_OSError;
    case GPUT_ERROR_GONE:
        return PyExc_ProcessLookupError;
    default:
        return PyExc_RuntimeError;
    }
}

/* The subclass of OSError that Python raises for an errno, for example NotADirectoryError. The
 * caller gets a new reference. */
static PyObject *class_of_errno(int number)
{
    PyObject *sample = PyObject_CallFunction(PyExc_OSError, "is", number, "");
    PyObject *class = sample ? Py_NewRef((PyObject *)Py_TYPE(sample)) : NULL;
    Py_XDECREF(sample);
    return class;
}

/* What to add to an error's message about a file that already exists: how a Python caller can
 * replace it. */
static const char *way_out(const struct gput_error *error)
{
    bool may_overwrite = error->code == GPUT_ERROR_EXISTS && error->errno_value == EEXIST;
    return may_overwrite ? " Set overwrite to True to overwrite the existing file." : "";
}

/* Sets the exception for an error. The message of the library may have bytes of a file that are not
 * UTF-8; these are replaced. */
PyObject *native_raise(const struct gput_error *error)
{
    int number = error->code == GPUT_ERROR_MEMORY ? 0 : error->errno_value;
    PyObject *class = number ? class_of_errno(number) : Py_NewRef(exception_of(error->code));
    PyObject *sentence =
        PyUnicode_DecodeUTF8(error->message, (Py_ssize_t)strlen(error->message), "replace");
    PyObject *message = sentence ? PyUnicode_FromFormat("%U%s", sentence, way_out(error)) : NULL;
    if (class && message)
        PyErr_SetObject(class, message);
    Py_XDECREF(message);
    Py_XDECREF(sentence);
    Py_XDECREF(class);
    return NULL;
}

/* Bytes that are not UTF-8 are kept as surrogates, as Python does with names of files. */
PyObject *native_steal_text(char *text)
{
    PyObject *object = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "surrogateescape");
    free(text);
    return object;
}

PyObject *native_steal_bytes(char *bytes, size_t length)
{
    PyObject *object = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)length);
    free(bytes);
    return object;
}

/* Before Python 3.10 the flag that forbids creating objects does not exist; the type then gets no
 * constructor. */
PyObject *native_add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
#if PY_VERSION_HEX < 0x030a0000
    if (type && spec->flags & Py_TPFLAGS_DISALLOW_INSTANTIATION)
        ((PyTypeObject *)type)->tp_new = NULL;
#endif
    if (type && PyModule_AddObjectRef(module, name, type) < 0)
        Py_CLEAR(type);
    return type;
}
