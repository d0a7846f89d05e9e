/* The extension module gpu_tracker._native: it puts its parts together and has a few functions of
 * its own. */
#include "native.h"

#include <gputracker/words.h>

/* ---- Files ---- */

/* write_file(path, bytes): replaces a file in one step, see gput_file_write(). */
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

/* ---- Words ---- */

/* nearest_words(words, word) -> the words that are spelled like `word` */
static PyObject *nearest_words(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *words, *word;
    char near[GPUT_NEAREST_SIZE];
    if (!PyArg_ParseTuple(args, "ss", &words, &word))
        return NULL;
    gput_nearest_words(words, word, near);
    return PyUnicode_FromString(near);
}

static PyMethodDef functions[] = {
    {"nearest_words", nearest_words, METH_VARARGS,
        "nearest_words(words, word) -> what the word may stand for, or \"\""},
    {"write_file", write_file, METH_VARARGS,
        "write_file(path, bytes): the old content or all of it."},
    {NULL, NULL, 0, NULL},
};

/* ---- The module ---- */

static int (*const parts[])(PyObject *module) = {
    native_add_job,
    native_add_session,
    native_add_bench,
    native_add_blocks,
    native_add_analysis,
    native_add_table,
    native_add_energy,
    native_add_timeline,
    native_add_plot,
    native_add_push,
#ifdef WITH_TRAINING
    native_add_profile,
#endif
};

/* Adds the version, the functions and all parts to the module. Returns -1 with an exception. */
static int fill(PyObject *module)
{
    if (PyModule_AddStringConstant(module, "version", gput_version()) < 0 ||
        PyModule_AddFunctions(module, functions) < 0)
        return -1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i](module) < 0)
            return -1;
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
