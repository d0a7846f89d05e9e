/* Functions of the extension module for processes of a parallel job: names of files by rank, and
 * tables of all ranks. See gputracker/rank.h. */
#include "native.h"

#include <gputracker/jobs.h>

#include <stdlib.h>

/* A path that the library allocated, as str. Frees it. */
static PyObject *steal_path(char *path)
{
    PyObject *text = PyUnicode_DecodeFSDefault(path);
    free(path);
    return text;
}

/* The name of a file with what it needs to differ between ranks. None stays None. */
static PyObject *name_file(const struct gput_rank *rank, PyObject *name)
{
    PyObject *bytes;
    struct gput_error error;
    char *path;
    if (name == Py_None)
        return Py_NewRef(Py_None);
    if (!PyUnicode_FSConverter(name, &bytes))
        return NULL;
    int code = gput_rank_path(rank, PyBytes_AsString(bytes), &path, &error);
    Py_DECREF(bytes);
    return code == GPUT_OK ? steal_path(path) : native_raise(&error);
}

/* Names each of several files by name_file(). */
static PyObject *name_files(const struct gput_rank *rank, PyObject *names)
{
    Py_ssize_t count = PySequence_Size(names);
    PyObject *paths = count < 0 ? NULL : PyList_New(count);
    for (Py_ssize_t i = 0; paths && i < count; i++) {
        PyObject *name = PySequence_GetItem(names, i);
        PyObject *path = name ? name_file(rank, name) : NULL;
        Py_XDECREF(name);
        if (!path || PyList_SetItem(paths, i, path) < 0)
            Py_CLEAR(paths);
    }
    return paths;
}

/* Names files by the rank that this process has. Also tells whether a name that is taken should
 * give way to a free one, as in a job or with several ranks. */
static PyObject *job_name_files(PyObject *Py_UNUSED(module), PyObject *names)
{
    struct gput_rank *rank;
    struct gput_error error;
    if (gput_rank_create(NULL, &rank, &error) != GPUT_OK)
        return native_raise(&error);
    bool takes_free_names = gput_rank_job_id(rank) || gput_rank_element(rank) ||
                            (gput_rank_number(rank) >= 0 && gput_rank_world_size(rank) != 1);
    PyObject *paths = name_files(rank, names);
    gput_rank_destroy(rank);
    return paths ? Py_BuildValue("(NN)", paths, PyBool_FromLong(takes_free_names)) : NULL;
}

/* free_name(path) -> the path, changed to a name for which there is no file */
static PyObject *job_free_name(PyObject *Py_UNUSED(module), PyObject *name)
{
    PyObject *bytes;
    struct gput_error error;
    char *path;
    if (!PyUnicode_FSConverter(name, &bytes))
        return NULL;
    int code = gput_rank_free_path(PyBytes_AsString(bytes), &path, &error);
    Py_DECREF(bytes);
    return code == GPUT_OK ? steal_path(path) : native_raise(&error);
}

/* Reads a list of paths. The list `bytes` gets the objects that own the memory they point to.
 * Returns NULL with an exception or without memory. */
static const char **read_paths(PyObject *list, PyObject *bytes, Py_ssize_t *count)
{
    *count = PySequence_Size(list);
    const char **paths = *count < 0 ? NULL : calloc((size_t)*count + 1, sizeof *paths);
    for (Py_ssize_t i = 0; paths && i < *count; i++) {
        PyObject *path = PySequence_GetItem(list, i), *encoded = NULL;
        bool failed =
            !path || !PyUnicode_FSConverter(path, &encoded) || PyList_Append(bytes, encoded) < 0;
        if (!failed)
            paths[i] = PyBytes_AsString(encoded);
        Py_XDECREF(path);
        Py_XDECREF(encoded);
        if (failed) {
            free(paths);
            return NULL;
        }
    }
    return paths;
}

typedef int tables_of_jobs(
    const struct gput_jobs *jobs, struct gput_tables **tables, struct gput_error *error);

/* Reads the sessions of a job, and gives the tables that `get` makes of it. */
static PyObject *read_tables(PyObject *module, PyObject *list, tables_of_jobs *get)
{
    struct gput_jobs *jobs;
    struct gput_tables *tables;
    struct gput_error error;
    Py_ssize_t count;
    int code = GPUT_ERROR_MEMORY;
    PyObject *bytes = PyList_New(0);
    const char **paths = bytes ? read_paths(list, bytes, &count) : NULL;
    if (paths) {
        code = gput_jobs_create(paths, (size_t)count, &jobs, &error);
        if (code == GPUT_OK) {
            code = get(jobs, &tables, &error);
            gput_jobs_destroy(jobs);
        }
    }
    Py_XDECREF(bytes);
    if (!paths)
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    free(paths);
    return code == GPUT_OK ? native_steal_tables(module, tables) : native_raise(&error);
}

/* read_job([path, …]) -> {name: Table}: jobs, machines, ranks and findings */
static PyObject *job_tables(PyObject *module, PyObject *list)
{
    return read_tables(module, list, gput_jobs_tables);
}

/* read_sessions([path, …]) -> {name: Table}: one row for each session */
static PyObject *job_sessions(PyObject *module, PyObject *list)
{
    return read_tables(module, list, gput_jobs_sessions);
}

static PyMethodDef functions[] = {
    {"read_sessions", job_sessions, METH_O, "read_sessions([path, …]) -> {name: Table}"},
    {"read_job", job_tables, METH_O, "read_job([path, …]) -> {name: Table}"},
    {"name_files", job_name_files, METH_O,
        "name_files([path, …]) -> ([path, …], whether a taken one is to be replaced)"},
    {"free_name", job_free_name, METH_O, "free_name(path) -> one that is not taken"},
    {NULL, NULL, 0, NULL},
};

int native_add_job(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
