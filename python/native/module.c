/* The module, and what its parts share. */
#include "native.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors ---- */

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

/* Python's own class for that number: NotADirectoryError and so on. A new reference. */
static PyObject *class_of_errno(int number)
{
    PyObject *sample = PyObject_CallFunction(PyExc_OSError, "is", number, "");
    PyObject *class = sample ? Py_NewRef((PyObject *)Py_TYPE(sample)) : NULL;
    Py_XDECREF(sample);
    return class;
}

/* Python's argument for replacing a file, which the library does not know of. */
static const char *way_out(const struct gput_error *error)
{
    bool may_overwrite = error->code == GPUT_ERROR_EXISTS && error->errno_value == EEXIST;
    return may_overwrite ? " Set overwrite to True to overwrite the existing file." : "";
}

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

/* ---- Warnings ---- */

struct warning {
    struct warning *next;
    char text[];
};

struct native_warnings {
    pthread_mutex_t lock;
    struct warning *first, **end;
};

struct native_warnings *native_warnings_create(void)
{
    struct native_warnings *warnings = calloc(1, sizeof *warnings);
    if (!warnings)
        return NULL;
    pthread_mutex_init(&warnings->lock, NULL);
    warnings->end = &warnings->first;
    return warnings;
}

static void free_all(struct warning *warning)
{
    while (warning) {
        struct warning *next = warning->next;
        free(warning);
        warning = next;
    }
}

void native_warnings_destroy(struct native_warnings *warnings)
{
    if (!warnings)
        return;
    free_all(warnings->first);
    pthread_mutex_destroy(&warnings->lock);
    free(warnings);
}

void native_warnings_add(void *user, const char *message)
{
    struct native_warnings *warnings = user;
    size_t size = strlen(message) + 1;
    struct warning *warning = malloc(sizeof *warning + size);
    if (!warning)
        return;
    warning->next = NULL;
    memcpy(warning->text, message, size);
    pthread_mutex_lock(&warnings->lock);
    *warnings->end = warning;
    warnings->end = &warning->next;
    pthread_mutex_unlock(&warnings->lock);
}

PyObject *native_warnings_collect(struct native_warnings *warnings)
{
    PyObject *list = PyList_New(0);
    if (!list)
        return NULL;
    pthread_mutex_lock(&warnings->lock);
    struct warning *first = warnings->first;
    warnings->first = NULL;
    warnings->end = &warnings->first;
    pthread_mutex_unlock(&warnings->lock);
    for (struct warning *warning = first; warning && list; warning = warning->next) {
        PyObject *text =
            PyUnicode_DecodeUTF8(warning->text, (Py_ssize_t)strlen(warning->text), "replace");
        if (!text || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    free_all(first);
    return list;
}

bool native_call_begin(struct native_call *call)
{
    *call = (struct native_call){PyList_New(0), native_warnings_create()};
    if (call->held && call->warnings)
        return true;
    PyErr_NoMemory();
    native_call_end(call, NULL);
    return false;
}

PyObject *native_call_end(struct native_call *call, PyObject *result)
{
    native_warnings_destroy(call->warnings);
    Py_XDECREF(call->held);
    return result;
}

/* ---- Files ---- */

/* write_file(path, bytes): as reports are written, see gput_file_write(). */
static PyObject *write_file(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *path;
    Py_buffer content;
    if (!PyArg_ParseTuple(args, "O&y*", PyUnicode_FSConverter, &path, &content))
        return NULL;
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_file_write(PyBytes_AsString(path), content.buf, (size_t)content.len, &error);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&content);
    Py_DECREF(path);
    return code == GPUT_OK ? Py_NewRef(Py_None) : native_raise(&error);
}

static PyMethodDef functions[] = {
    {"write_file", write_file, METH_VARARGS,
        "write_file(path, bytes): the old content or all of it."},
    {NULL, NULL, 0, NULL},
};

/* ---- The module ---- */

PyObject *native_add_type(PyObject *module, PyType_Spec *spec, const char *name)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && PyModule_AddObjectRef(module, name, type) < 0)
        Py_CLEAR(type);
    return type;
}

static int fill(PyObject *module)
{
    if (PyModule_AddStringConstant(module, "version", gput_version()) < 0)
        return -1;
    if (PyModule_AddFunctions(module, functions) < 0)
        return -1;
    if (native_add_job(module) < 0 || native_add_session(module) < 0 ||
        native_add_blocks(module) < 0)
        return -1;
    if (native_add_analysis(module) < 0)
        return -1;
    if (native_add_table(module) < 0 || native_add_energy(module) < 0)
        return -1;
    if (native_add_timeline(module) < 0 || native_add_plot(module) < 0 ||
        native_add_push(module) < 0)
        return -1;
#ifdef WITH_TRAINING
    if (native_add_profile(module) < 0)
        return -1;
#endif
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "gpu_tracker._native",
    .m_doc = "libgputracker for Python; see gpu_tracker for what is to be used.",
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
