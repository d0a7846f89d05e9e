/* The type gpu_tracker._native.Session: a session of libgputracker. */
#include "session_arguments.h"

#include <gputracker/history.h>

#include <stdlib.h>
#include <unistd.h>

/* What the sampling thread hands over to Python. That thread never waits for the GIL. */
struct collector {
    struct native_warnings *warnings;
    struct native_samples samples;
};

/* The Python object of a session. */
struct session {
    PyObject_HEAD struct gput_session *session;
    struct collector *collector;
    enum gput_ram_unit ram_unit, gpu_ram_unit;
    enum gput_time_unit time_unit;
    unsigned n_expected_cores;
    pid_t owner;
    bool processes; /* keeps a list of processes */
    bool busy;      /* a call of another thread is under way without the GIL */
};

static void warn(void *user, const char *message)
{
    native_warnings_add(((struct collector *)user)->warnings, message);
}

/* Keeps a sample for a chart. Called by the sampling thread. */
static void keep_sample(void *user, const struct gput_sample *sample)
{
    native_samples_add(&((struct collector *)user)->samples, sample);
}

static void collector_destroy(struct collector *collector)
{
    if (!collector)
        return;
    native_warnings_destroy(collector->warnings);
    native_samples_finish(&collector->samples);
    free(collector);
}

static struct collector *collector_create(void)
{
    struct collector *collector = calloc(1, sizeof *collector);
    if (!collector)
        return NULL;
    native_samples_init(&collector->samples);
    collector->warnings = native_warnings_create();
    if (collector->warnings)
        return collector;
    collector_destroy(collector);
    return NULL;
}

/* Creates the session of the library. Returns -1 with an exception. */
static int create(struct session *self, const struct gput_session_options *options)
{
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_session_create(options, &self->session, &error);
    Py_END_ALLOW_THREADS;
    if (code == GPUT_OK)
        return 0;
    /* Not found without an errno means that there is no such GPU: an argument is wrong. */
    if (code == GPUT_ERROR_NOT_FOUND && error.errno_value == 0)
        error.code = GPUT_ERROR_INVALID;
    native_raise(&error);
    return -1;
}

/* Has the warnings of a session, and samples if they are wanted, kept for Python. */
static int collect(struct session *self, size_t keep_samples, struct gput_session_options *options)
{
    if (!self->collector)
        self->collector = collector_create();
    if (!self->collector) {
        PyErr_NoMemory();
        return -1;
    }
    self->collector->samples.capacity = keep_samples + keep_samples % 2;
    options->warn = warn;
    options->sample = keep_samples ? keep_sample : NULL;
    options->user = self->collector;
    return 0;
}

/* Session(**options): see session_arguments.h. */
static int session_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    struct session *self = (struct session *)object;
    struct session_arguments given;
    if (self->session) {
        PyErr_SetString(PyExc_RuntimeError, "A session can be created only once.");
        return -1;
    }
    if (!session_arguments_read(args, kwargs, &given))
        return -1;
    self->processes = given.options.processes;
    self->ram_unit = given.options.ram_unit;
    self->gpu_ram_unit = given.options.gpu_ram_unit;
    self->time_unit = given.options.time_unit;
    self->n_expected_cores = given.options.n_expected_cores;
    self->owner = getpid();
    int failed = collect(self, (size_t)given.keep_samples, &given.options);
    if (!failed)
        failed = create(self, &given.options);
    session_arguments_finish(&given);
    return failed;
}

/* Destroying a session that still tracks waits for its sampling thread, so it is done without the
 * GIL. */
static void session_dealloc(PyObject *object)
{
    struct session *self = (struct session *)object;
    PyTypeObject *type = Py_TYPE(object);
    struct gput_session *session = self->session;
    if (session) {
        Py_BEGIN_ALLOW_THREADS;
        gput_session_destroy(session);
        Py_END_ALLOW_THREADS;
    }
    collector_destroy(self->collector);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* Begins a call on the session. Only one thread at a time may make one, and only in the process
 * that created the session. Returns false with an exception. */
static bool enter(struct session *self)
{
    if (!self->session)
        PyErr_SetString(PyExc_RuntimeError, "The session was not created.");
    else if (self->owner != getpid())
        PyErr_SetString(PyExc_RuntimeError,
            "This process is a fork of the one that tracks; only that one can use the tracker.");
    else if (self->busy)
        PyErr_SetString(PyExc_RuntimeError, "Another thread is using this tracker.");
    else
        return self->busy = true;
    return false;
}

/* Ends a call on the session. Returns None, or NULL with an exception after a failure. */
static PyObject *leave(struct session *self, int code, const struct gput_error *error)
{
    self->busy = false;
    if (code != GPUT_OK)
        return native_raise(error);
    return Py_NewRef(Py_None);
}

/* Starts to track a process, this one if none is given. */
static PyObject *session_track(PyObject *object, PyObject *args)
{
    struct session *self = (struct session *)object;
    int pid = 0;
    if (!PyArg_ParseTuple(args, "|O&", native_read_number, &pid) || !enter(self))
        return NULL;
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    if (pid == 0 || pid == getpid())
        code = gput_session_track_self(self->session, &error);
    else
        code = gput_session_track_pid(self->session, pid, &error);
    Py_END_ALLOW_THREADS;
    /* A process that does not exist is a ProcessLookupError in Python. */
    if (code == GPUT_ERROR_NOT_FOUND)
        error.code = GPUT_ERROR_GONE;
    return leave(self, code, &error);
}

/* Reads a tuple of process ids. Returns NULL with an exception. */
static pid_t *read_pids(PyObject *tuple, Py_ssize_t count)
{
    pid_t *pids = malloc(((size_t)count + 1) * sizeof *pids);
    if (!pids)
        return (void *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < count; i++) {
        long pid = PyLong_AsLong(PyTuple_GetItem(tuple, i));
        if (PyErr_Occurred()) {
            free(pids);
            return NULL;
        }
        pids[i] = pid > 0 && pid <= INT_MAX ? (pid_t)pid : -1;
    }
    return pids;
}

/* Starts to track several processes, and tracks those that exist. */
static PyObject *session_track_all(PyObject *object, PyObject *tuple)
{
    struct session *self = (struct session *)object;
    Py_ssize_t count = PyTuple_Size(tuple);
    pid_t *pids = count < 0 ? NULL : read_pids(tuple, count);
    if (!pids || !enter(self)) {
        free(pids);
        return NULL;
    }
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_session_track_pids(self->session, pids, (size_t)count, &error);
    Py_END_ALLOW_THREADS;
    free(pids);
    /* A process that does not exist is a ProcessLookupError in Python. */
    if (code == GPUT_ERROR_NOT_FOUND)
        error.code = GPUT_ERROR_GONE;
    return leave(self, code, &error);
}

/* stop(): takes the last sample and completes the files */
static PyObject *session_stop(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct session *self = (struct session *)object;
    if (!enter(self))
        return NULL;
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_session_stop(self->session, &error);
    Py_END_ALLOW_THREADS;
    return leave(self, code, &error);
}

/* A report as a dictionary or as text. It has a list of processes unless `processes` is NULL. */
static PyObject *render(
    const struct gput_results *results, const struct gput_processes *processes, int format)
{
    struct gput_error error;
    struct gput_results_render_options options = gput_results_render_options_default();
    char *bytes;
    options.processes = processes;
    if (format == NATIVE_DETAILS)
        return native_report(results, &options);
    int code =
        gput_results_render(results, &options, (enum gput_format)format, &bytes, NULL, &error);
    if (code != GPUT_OK)
        return native_raise(&error);
    return native_steal_text(bytes);
}

/* report(format): the figures of the session up to now. */
static PyObject *session_report(PyObject *object, PyObject *args)
{
    struct session *self = (struct session *)object;
    int format = NATIVE_DETAILS;
    if (!PyArg_ParseTuple(args, "|i", &format) || !enter(self))
        return NULL;
    struct gput_results *results;
    struct gput_processes *processes = NULL;
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_session_results(self->session, &results, &error);
    if (code == GPUT_OK && self->processes)
        code = gput_session_processes(self->session, &processes, &error);
    Py_END_ALLOW_THREADS;
    /* leave() returns None if there are results, which the report then replaces. */
    PyObject *text = leave(self, code, &error);
    if (text) {
        Py_DECREF(text);
        text = render(results, processes, format);
    }
    gput_processes_destroy(processes);
    gput_results_destroy(results);
    return text;
}

/* keep(folder, name, files): a row in the history of a folder. */
static PyObject *session_keep(PyObject *object, PyObject *args)
{
    struct session *self = (struct session *)object;
    struct gput_history_entry entry = gput_history_entry_default();
    const char *files[4] = {NULL};
    PyObject *folder;
    if (!PyArg_ParseTuple(args, "O&z|zzz", PyUnicode_FSConverter, &folder, &entry.name, &files[0],
            &files[1], &files[2]))
        return NULL;
    if (!enter(self)) {
        Py_DECREF(folder);
        return NULL;
    }
    struct gput_results *results = NULL;
    struct gput_error error;
    int code;
    const char *path = PyBytes_AsString(folder);
    entry.files = files;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_session_results(self->session, &results, &error);
    if (code == GPUT_OK) {
        if (!entry.name)
            entry.name = gput_results_text(results, "identity.command");
        code = gput_history_add(path, results, &entry, &error);
        gput_results_destroy(results);
    }
    Py_END_ALLOW_THREADS;
    Py_DECREF(folder);
    return leave(self, code, &error);
}

struct gput_results *native_session_results(PyObject *other, PyObject *session)
{
    PyObject *type = PyObject_GetAttrString(PyType_GetModule(Py_TYPE(other)), "Session");
    int is_session = type ? PyObject_IsInstance(session, type) : -1;
    Py_XDECREF(type);
    if (is_session == 0)
        PyErr_SetString(PyExc_TypeError, "a Session is needed");
    if (is_session <= 0 || !enter((struct session *)session))
        return NULL;
    struct session *self = (struct session *)session;
    struct gput_results *results = NULL;
    struct gput_error error;
    PyObject *done = leave(self, gput_session_results(self->session, &results, &error), &error);
    Py_XDECREF(done);
    return results;
}

/* processes() -> {name: Table} of the processes up to now */
static PyObject *session_processes(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct session *self = (struct session *)object;
    if (!enter(self))
        return NULL;
    struct gput_processes *processes = NULL;
    struct gput_tables *tables = NULL;
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_session_processes(self->session, &processes, &error);
    if (code == GPUT_OK)
        code = gput_processes_tables(processes, &tables, &error);
    gput_processes_destroy(processes);
    Py_END_ALLOW_THREADS;
    PyObject *done = leave(self, code, &error);
    if (!done)
        return NULL;
    Py_DECREF(done);
    return native_steal_tables(PyType_GetModule(Py_TYPE(object)), tables);
}

/* The report of a process that was gone before it could be tracked: it only describes the
 * machine. */
static PyObject *session_empty_report(PyObject *object, PyObject *args)
{
    struct session *self = (struct session *)object;
    int format = NATIVE_DETAILS;
    if (!PyArg_ParseTuple(args, "|i", &format))
        return NULL;
    struct gput_session_options options = gput_session_options_default();
    options.ram_unit = self->ram_unit;
    options.gpu_ram_unit = self->gpu_ram_unit;
    options.time_unit = self->time_unit;
    options.n_expected_cores = self->n_expected_cores;
    struct gput_results *results;
    struct gput_error error;
    if (gput_session_empty_results(&options, &results, &error) != GPUT_OK)
        return native_raise(&error);
    PyObject *text = render(results, NULL, format);
    gput_results_destroy(results);
    return text;
}

static PyObject *session_address(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct session *self = (struct session *)object;
    const char *address = self->session ? gput_session_address(self->session) : NULL;
    return address ? PyUnicode_FromString(address) : Py_NewRef(Py_None);
}

static PyObject *session_collect_warnings(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct session *self = (struct session *)object;
    return self->collector ? native_warnings_collect(self->collector->warnings) : PyList_New(0);
}

/* samples() -> a list of tuples, empty if no samples are kept */
static PyObject *session_samples(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct session *self = (struct session *)object;
    return self->collector ? native_samples_list(&self->collector->samples) : PyList_New(0);
}

static PyMethodDef session_methods[] = {
    {"track", session_track, METH_VARARGS, "track(pid=0): starts; 0 is this process."},
    {"track_all", session_track_all, METH_O,
        "track_all((pid, …)): starts; the first that is there is main."},
    {"stop", session_stop, METH_NOARGS, "Takes the last sample and completes the files."},
    {"report", session_report, METH_VARARGS,
        "report(format): the figures so far, as a dictionary or text."},
    {"processes", session_processes, METH_NOARGS,
        "{name: Table} of the processes so far, if they were asked for."},
    {"keep", session_keep, METH_VARARGS,
        "keep(folder, name, *files): adds the session to the history of a folder."},
    {"empty_report", session_empty_report, METH_VARARGS,
        "empty_report(format): of a process that was gone."},
    {"address", session_address, METH_NOARGS, "Where metrics are served, or None."},
    {"take_warnings", session_collect_warnings, METH_NOARGS, "Warnings since the last call."},
    {"samples", session_samples, METH_NOARGS,
        "With keep_samples=N: (seconds, RAM bytes, GPU RAM bytes, CPU percent, GPU percent, bytes "
        "in use "
        "on all GPUs), in order of time. The first, "
        "the last, and at most N between: where there were more, the highest of neighbours."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot session_slots[] = {
    {Py_tp_doc, "A tracking session of libgputracker."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, session_init},
    {Py_tp_dealloc, session_dealloc},
    {Py_tp_methods, session_methods},
    {0, NULL},
};

static PyType_Spec session_spec = {
    .name = "gpu_tracker._native.Session",
    .basicsize = sizeof(struct session),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = session_slots,
};

/* load_report(path): the results that a session kept on disk while it ran, as a dictionary. */
static PyObject *load_report(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *path;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    struct gput_results *results;
    struct gput_error error;
    PyObject *report = NULL;
    if (gput_results_load(PyBytes_AsString(path), &results, &error) != GPUT_OK)
        native_raise(&error);
    else
        report = native_report(results, NULL);
    gput_results_destroy(results);
    Py_DECREF(path);
    return report;
}

/* load_results(path): the same results in base units, as a table of one row and one table for each
 * list. */
static PyObject *load_results(PyObject *module, PyObject *args)
{
    PyObject *path, *result = NULL;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    struct gput_results *results;
    struct gput_tables *tables;
    struct gput_error error;
    int code = gput_results_load(PyBytes_AsString(path), &results, &error);
    if (code == GPUT_OK)
        code = gput_results_tables(results, &tables, &error);
    result = code == GPUT_OK ? native_steal_tables(module, tables) : native_raise(&error);
    gput_results_destroy(results);
    Py_DECREF(path);
    return result;
}

/* history_is_on(folder): whether the folder has a history that sessions are added to */
static PyObject *history_is_on(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *folder;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &folder))
        return NULL;
    bool is_on = gput_history_is_on(PyBytes_AsString(folder));
    Py_DECREF(folder);
    return PyBool_FromLong(is_on);
}

static PyMethodDef functions[] = {
    {"history_is_on", history_is_on, METH_VARARGS,
        "history_is_on(folder): whether sessions are to be kept there."},
    {"load_results", load_results, METH_VARARGS,
        "load_results(path) -> {name: Table}: a report, or results that a session kept."},
    {"load_report", load_report, METH_VARARGS,
        "load_report(path): results that a session kept, as a dictionary."},
    {NULL, NULL, 0, NULL},
};

int native_add_session(PyObject *module)
{
    PyObject *type = native_add_type(module, &session_spec, "Session");
    if (!type)
        return -1;
    Py_DECREF(type);
    if (PyModule_AddIntConstant(module, "TEXT", GPUT_FORMAT_TEXT) < 0 ||
        PyModule_AddIntConstant(module, "FULL", GPUT_FORMAT_FULL) < 0 ||
        PyModule_AddIntConstant(module, "DETAILS", NATIVE_DETAILS) < 0 ||
        PyModule_AddIntConstant(module, "SVG", GPUT_FORMAT_SVG) < 0 ||
        PyModule_AddIntConstant(module, "PDF", GPUT_FORMAT_PDF) < 0 ||
        PyModule_AddIntConstant(module, "PNG", GPUT_FORMAT_PNG) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
