/*
 * The type gpu_tracker._native.Blocks is a log of marks. BlockMarker is the part of a SubTracker
 * that has to be quick: a `with` statement calls its two methods, and each call makes a mark.
 *
 * A mark in a log or CSV file keeps the GIL. It takes between a tenth of a microsecond and a few
 * microseconds, which is less than giving the GIL back and taking it again. So neither close() nor
 * a fork can come in the middle of such a mark.
 *
 * A mark in a SQLite file takes longer, seconds when another program keeps the file locked, so it
 * gives the GIL back. Meanwhile it holds the mutex `marking`. close() takes that mutex too, and
 * begin_fork() holds it for the time of a fork, because SQLite has locks of its own, which would
 * stay locked for ever in the child. No thread waits for `marking` while it has the GIL, so no two
 * threads can wait for each other. The thread that holds `marking` for a fork does not wait for
 * itself either: a signal handler may run in that thread and make a mark.
 */
#include "native.h"

#include <structmember.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The Python object of a log of marks. */
struct blocks {
    PyObject_HEAD struct gput_blocks *blocks;
    PyObject *path;  /* bytes; absolute */
    PyObject *exact; /* a text: what its marks count besides, as in GPUT_BLOCK_EXACT */
    pid_t opener;
    int64_t seen_ns; /* when the file was last seen at its path */
    bool waits;      /* a SQLite file: marks give the GIL back and hold `marking` */
    bool is_log;     /* has a file for each process */
    unsigned held;   /* how often `holder` has called hold_marks() without release_marks() */
    pthread_t holder;
    pthread_mutex_t marking;
};

/* Whether a path ends in this extension. */
static bool ends_in(const char *path, const char *extension)
{
    size_t length = strlen(path), end = strlen(extension);
    return length >= end && strcmp(path + length - end, extension) == 0;
}

static PyObject *blocks_new(
    PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    struct blocks *self = (struct blocks *)allocate(type, 0);
    if (self)
        pthread_mutex_init(&self->marking, NULL);
    return (PyObject *)self;
}

/* Whether the calling thread holds `marking` by hold_marks(). */
static bool holds_marks(const struct blocks *self)
{
    return self->held > 0 && pthread_equal(self->holder, pthread_self());
}

/* From here to release_marks() only the calling thread can make marks, and no mark of another
 * thread is under way. */
static void hold_marks(struct blocks *self)
{
    if (!self->waits)
        return;
    if (!holds_marks(self)) {
        Py_BEGIN_ALLOW_THREADS;
        pthread_mutex_lock(&self->marking);
        Py_END_ALLOW_THREADS;
        self->holder = pthread_self();
    }
    self->held++;
}

/* Undoes one hold_marks() of the calling thread. The last one lets other threads make marks
 * again. */
static void release_marks(struct blocks *self)
{
    if (holds_marks(self) && --self->held == 0)
        pthread_mutex_unlock(&self->marking);
}

/* The path from the root folder, because the program may change its working directory later. */
static PyObject *absolute(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || !getcwd(folder, sizeof folder))
        return PyBytes_FromString(path);
    return PyBytes_FromFormat("%s/%s", folder, path);
}

/* The folder that an environment variable names. NULL when it is not set or empty. */
static const char *root_of(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

/* Reads `exact`, a truth value or a list as in GPUT_BLOCK_EXACT, into the options. Returns false
 * with an exception. */
static bool read_exact(struct blocks *self, PyObject *exact, struct gput_blocks_options *options)
{
    struct gput_error error;
    bool is_text = exact && PyUnicode_Check(exact);
    int is_wanted = exact ? PyObject_IsTrue(exact) : 0;
    PyObject *text = is_text ? Py_NewRef(exact) : PyUnicode_FromString(is_wanted > 0 ? "1" : "");
    const char *list = text && is_wanted >= 0 ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    Py_XDECREF(self->exact);
    self->exact = text;
    if (!list)
        return false;
    options->procfs_root = root_of("GPUT_PROCFS");
    options->sysfs_root = root_of("GPUT_SYSFS");
    if (gput_blocks_options_read_exact(options, list, &error) == GPUT_OK)
        return true;
    native_raise(&error);
    return false;
}

/* Notes where the file is, which may be another path than the one that was asked for, and warns in
 * that case. Returns -1 with an exception. */
static int note_file(struct blocks *self)
{
    struct gput_blocks_status status = gput_blocks_status_default();
    gput_blocks_read_status(self->blocks, &status);
    Py_XDECREF(self->path);
    self->path = absolute(status.path);
    if (!self->path)
        return -1;
    self->waits = ends_in(PyBytes_AsString(self->path), ".sqlite");
    self->is_log = ends_in(PyBytes_AsString(self->path), ".gputblocks");
    self->opener = getpid();
    return status.is_renamed
               ? PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                     "The file of marks already exists: marks of code blocks are written to %s.",
                     status.path)
               : 0;
}

/* Blocks(path, *, overwrite, join, exact, thread_ids, free_name): opens the file. */
static int blocks_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"path", "overwrite", "join", "exact", "thread_ids", "free_name", NULL};
    struct blocks *self = (struct blocks *)object;
    struct gput_blocks_options options = gput_blocks_options_default();
    PyObject *path;
    PyObject *exact = NULL;
    int overwrite = 0, join = 0, thread_ids = 0, free_name = 0;
    if (self->blocks) {
        PyErr_SetString(PyExc_RuntimeError, "A log can be opened only once.");
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O&|$ppOpp", names, PyUnicode_FSConverter, &path,
            &overwrite, &join, &exact, &thread_ids, &free_name))
        return -1;
    options.overwrite = overwrite;
    options.join = join;
    options.thread_ids = thread_ids;
    options.free_name = free_name;
    if (!read_exact(self, exact, &options)) {
        Py_DECREF(path);
        return -1;
    }
    struct gput_error error;
    int code = gput_blocks_open(PyBytes_AsString(path), &options, &self->blocks, &error);
    Py_DECREF(path);
    if (code == GPUT_OK)
        return note_file(self);
    native_raise(&error);
    return -1;
}

/* Completes the file, after the marks that are under way. Returns -1 with an exception. */
static int close_blocks(struct blocks *self)
{
    struct gput_error error;
    hold_marks(self);
    struct gput_blocks *blocks = self->blocks;
    self->blocks = NULL;
    release_marks(self);
    if (gput_blocks_close(blocks, &error) == GPUT_OK)
        return 0;
    native_raise(&error);
    return -1;
}

static void blocks_dealloc(PyObject *object)
{
    struct blocks *self = (struct blocks *)object;
    PyTypeObject *type = Py_TYPE(object);
    gput_blocks_close(self->blocks, NULL);
    pthread_mutex_destroy(&self->marking);
    Py_XDECREF(self->path);
    Py_XDECREF(self->exact);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* Waits for marks to end, holds back new ones, and lets other processes add to the file. */
static void hold_and_share(struct blocks *self)
{
    hold_marks(self);
    if (self->blocks)
        gput_blocks_share(self->blocks);
}

/* share(): lets other processes add to the file. Forks call hold_and_share() themselves. */
static PyObject *blocks_share(PyObject *object, PyObject *Py_UNUSED(unused))
{
    hold_and_share((struct blocks *)object);
    release_marks((struct blocks *)object);
    return Py_NewRef(Py_None);
}

static PyObject *blocks_close(PyObject *object, PyObject *Py_UNUSED(unused))
{
    return close_blocks((struct blocks *)object) < 0 ? NULL : Py_NewRef(Py_None);
}

/* Checking whether a file exists costs more than everything else that a block costs in a fast log.
 * So it is checked at most once in this time. */
#define POLL_EVERY_NS 10000000

/* Whether a file still exists at the log's path: users remove files and start again. It does not
 * check that it is the same file, because the library replaces a CSV file when a second thread
 * makes a mark, to add a column of thread ids. With `now_and_then` a check a moment ago is good
 * enough. */
static bool is_in_place(struct blocks *self, bool now_and_then)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (now_and_then && now_ns - self->seen_ns < POLL_EVERY_NS)
        return true;
    /* A forked child writes a log of its own name, so this path does not matter to it. */
    bool in_place = (self->opener != getpid() && self->is_log) ||
                    access(PyBytes_AsString(self->path), F_OK) == 0;
    if (in_place)
        self->seen_ns = now_ns;
    return in_place;
}

/* is_in_place() -> whether the log is open and its file still exists */
static PyObject *blocks_is_in_place(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct blocks *self = (struct blocks *)object;
    return PyBool_FromLong(self->blocks && is_in_place(self, self->is_log));
}

/* Makes a mark. When the mark is lost, `lost` gets the reason. */
static int make_mark(struct blocks *self, const char *name, enum gput_block_position position,
    struct gput_block_call *call, struct gput_error *lost)
{
    if (!self->blocks) {
        *lost = (struct gput_error){
            .code = GPUT_ERROR_STATE, .message = "The log of code blocks was closed."};
        return lost->code;
    }
    int code = position == GPUT_BLOCK_START ? gput_blocks_start_call(self->blocks, name, call)
                                            : gput_blocks_stop_call(self->blocks, name, call);
    /* A mark only returns a code; the status of the log has the reason. */
    if (code != GPUT_OK) {
        struct gput_blocks_status status = gput_blocks_status_default();
        gput_blocks_read_status(self->blocks, &status);
        *lost = status.lost;
    }
    return code;
}

/* Makes a mark in a SQLite file, without the GIL. A mark by the thread that holds `marking` for a
 * fork, in a signal handler, leaves the file shared again. */
static int make_mark_without_gil(struct blocks *self, const char *name,
    enum gput_block_position position, struct gput_block_call *call, struct gput_error *lost)
{
    int code;
    bool is_ours = holds_marks(self);
    Py_BEGIN_ALLOW_THREADS;
    if (!is_ours)
        pthread_mutex_lock(&self->marking);
    code = make_mark(self, name, position, call, lost);
    if (is_ours && self->blocks)
        gput_blocks_share(self->blocks);
    else if (!is_ours)
        pthread_mutex_unlock(&self->marking);
    Py_END_ALLOW_THREADS;
    return code;
}

/* A full disk, or a log that has reached its limit, loses marks but does not stop the program that
 * makes them. (Python shows the same warning only once.) */
static PyObject *warn_of_lost_mark(const struct gput_error *lost)
{
    return PyErr_WarnFormat(PyExc_RuntimeWarning, 1, "Marks of code blocks are lost. The first: %s",
               lost->message) == 0
               ? Py_NewRef(Py_None)
               : NULL;
}

/* Checks the name of a block and makes a mark. A mark that a full disk or a full log loses is only
 * warned of; other failures are raised. */
static PyObject *mark(struct blocks *self, PyObject *name, enum gput_block_position position,
    struct gput_block_call *call)
{
    Py_ssize_t length;
    if (!PyUnicode_Check(name)) {
        PyErr_Format(PyExc_TypeError, "The name of a code block is a str, not %R.", name);
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(name, &length);
    if (!text)
        return NULL;
    /* The library would end the name at a null character. */
    if (strlen(text) != (size_t)length) {
        PyErr_SetString(
            PyExc_ValueError, "The name of a code block must not contain a null character.");
        return NULL;
    }
    struct gput_error lost;
    int code = self->waits ? make_mark_without_gil(self, text, position, call, &lost)
                           : make_mark(self, text, position, call, &lost);
    if (code == GPUT_OK)
        return Py_NewRef(Py_None);
    bool is_full = code == GPUT_ERROR_IO || code == GPUT_ERROR_STATE;
    return self->blocks && is_full ? warn_of_lost_mark(&lost) : native_raise(&lost);
}

/* mark(name, position): a mark without a call that it belongs to */
static PyObject *blocks_mark(PyObject *object, PyObject *args)
{
    PyObject *name;
    int position;
    struct gput_block_call call = {0};
    if (!PyArg_ParseTuple(args, "Ui", &name, &position))
        return NULL;
    return mark((struct blocks *)object, name, (enum gput_block_position)position, &call);
}

/* status() -> (path, number of lost marks, why the first was lost), or None when closed */
static PyObject *blocks_status(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct blocks *self = (struct blocks *)object;
    struct gput_blocks_status status = gput_blocks_status_default();
    if (!self->blocks)
        return Py_NewRef(Py_None);
    gput_blocks_read_status(self->blocks, &status);
    return Py_BuildValue("NKs", PyUnicode_DecodeFSDefault(status.path),
        (unsigned long long)status.marks_lost, status.marks_lost ? status.lost.message : "");
}

static PyMethodDef blocks_methods[] = {
    {"mark", blocks_mark, METH_VARARGS, "mark(name, position): a start (0) or a stop (1)."},
    {"is_in_place", blocks_is_in_place, METH_NOARGS, "Whether a file still is at its path."},
    {"status", blocks_status, METH_NOARGS,
        "(path, marks lost, why the first was lost); None when closed."},
    {"share", blocks_share, METH_NOARGS, "Lets other processes add to the file."},
    {"close", blocks_close, METH_NOARGS, "Completes the file."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef blocks_members[] = {
    {"path", T_OBJECT, offsetof(struct blocks, path), READONLY, "Its absolute path, as bytes."},
    {"is_log", T_BOOL, offsetof(struct blocks, is_log), READONLY, "Whether it is a .gputblocks."},
    {"exact", T_OBJECT, offsetof(struct blocks, exact), READONLY,
        "What its marks count, as in GPUT_BLOCK_EXACT."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot blocks_slots[] = {
    {Py_tp_doc, "A log of start and stop marks of code blocks."},
    {Py_tp_new, blocks_new},
    {Py_tp_init, blocks_init},
    {Py_tp_dealloc, blocks_dealloc},
    {Py_tp_methods, blocks_methods},
    {Py_tp_members, blocks_members},
    {0, NULL},
};

static PyType_Spec blocks_spec = {
    .name = "gpu_tracker._native.Blocks",
    .basicsize = sizeof(struct blocks),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = blocks_slots,
};

/* ---- Forks ---- */

/*
 * The hooks are written in C because no signal handler runs in C code: a handler that raised an
 * exception in the middle would leave locks locked. The hooks share a tuple of three items: the
 * methods `acquire` and `release` of the lock that is held while the dictionary `logs` changes, and
 * that dictionary.
 */
enum { ACQUIRE, RELEASE, LOGS };

/* Called before a fork. Waits until no log is being opened and no mark is being made, so that the
 * child gets none that is half done. */
static PyObject *begin_fork(PyObject *shared, PyObject *Py_UNUSED(unused))
{
    PyObject *acquire = PyTuple_GetItem(shared, ACQUIRE), *acquired, *log;
    /* Signal handlers do run while this waits for the lock. An exception of theirs does not stop
     * the fork. */
    while (!(acquired = PyObject_CallNoArgs(acquire)))
        PyErr_WriteUnraisable(acquire);
    Py_DECREF(acquired);
    Py_ssize_t at = 0;
    while (PyDict_Next(PyTuple_GetItem(shared, LOGS), &at, NULL, &log))
        hold_and_share((struct blocks *)log);
    return Py_NewRef(Py_None);
}

/* Called after a fork, in the parent and in the child. */
static PyObject *end_fork(PyObject *shared, PyObject *Py_UNUSED(unused))
{
    PyObject *log;
    Py_ssize_t at = 0;
    while (PyDict_Next(PyTuple_GetItem(shared, LOGS), &at, NULL, &log))
        release_marks((struct blocks *)log);
    return PyObject_CallNoArgs(PyTuple_GetItem(shared, RELEASE));
}

static PyMethodDef begin_fork_method = {"begin_fork", begin_fork, METH_NOARGS, NULL};
static PyMethodDef end_fork_method = {"end_fork", end_fork, METH_NOARGS, NULL};

/* Makes the two functions to call before and after a fork. */
static PyObject *fork_hooks(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *lock, *logs;
    if (!PyArg_ParseTuple(args, "OO!", &lock, &PyDict_Type, &logs))
        return NULL;
    PyObject *acquire = PyObject_GetAttrString(lock, "acquire");
    PyObject *release = PyObject_GetAttrString(lock, "release");
    PyObject *shared = acquire && release ? PyTuple_Pack(3, acquire, release, logs) : NULL;
    PyObject *begin = shared ? PyCFunction_NewEx(&begin_fork_method, shared, NULL) : NULL;
    PyObject *end = begin ? PyCFunction_NewEx(&end_fork_method, shared, NULL) : NULL;
    PyObject *hooks = end ? PyTuple_Pack(2, begin, end) : NULL;
    Py_XDECREF(end);
    Py_XDECREF(begin);
    Py_XDECREF(shared);
    Py_XDECREF(release);
    Py_XDECREF(acquire);
    return hooks;
}

static PyMethodDef fork_functions[] = {
    {"fork_hooks", fork_hooks, METH_VARARGS,
        "fork_hooks(lock, logs): what to call before a fork, and after it in both processes."},
    {NULL, NULL, 0, NULL},
};

/* ---- BlockMarker ---- */

/* The Python object of a BlockMarker. It is the base class of SubTracker. */
struct marker {
    PyObject_HEAD PyObject *name; /* str */
    PyObject *log;                /* a Blocks; when it is NULL or None, the method _open() is called
                                     for one */
    PyTypeObject *blocks_type;
    struct gput_block_call call; /* the call that is open; all zeroes when several are, see
                                    note_call() */
    size_t n_open;
};

static PyMemberDef marker_members[] = {
    {"code_block_name", T_OBJECT_EX, offsetof(struct marker, name), 0,
        "The name of the code block."},
    {"_log", T_OBJECT, offsetof(struct marker, log), 0, "The log that its marks go to."},
    {NULL, 0, 0, 0, NULL},
};

/* Makes a mark in the marker's log. The log and the name are held meanwhile, because another thread
 * may set them. */
static PyObject *marker_mark(
    struct marker *self, enum gput_block_position position, struct gput_block_call *call)
{
    if (!self->name) {
        PyErr_SetString(PyExc_AttributeError, "code_block_name");
        return NULL;
    }
    if (!PyObject_TypeCheck(self->log ? self->log : Py_None, self->blocks_type)) {
        PyErr_SetString(PyExc_TypeError, "_log must be a Blocks object");
        return NULL;
    }
    struct blocks *log = (struct blocks *)Py_NewRef(self->log);
    PyObject *name = Py_NewRef(self->name);
    PyObject *result = mark(log, name, position, call);
    Py_DECREF(name);
    Py_DECREF(log);
    return result;
}

/* Whether the marker has a log that can be used: one that is not closed and whose file still
 * exists. */
static bool has_log(const struct marker *self)
{
    if (!self->log || self->log == Py_None)
        return false;
    if (!PyObject_TypeCheck(self->log, self->blocks_type))
        return true; /* marker_mark() reports it */
    struct blocks *log = (struct blocks *)self->log;
    return log->blocks && is_in_place(log, true);
}

/* Asks the method _open() for a log if the marker has none that can be used. Returns -1 with an
 * exception. */
static int find_log(struct marker *self)
{
    if (has_log(self))
        return 0;
    PyObject *log = PyObject_CallMethod((PyObject *)self, "_open", NULL);
    if (!log)
        return -1;
    PyObject *before = self->log;
    self->log = log;
    Py_XDECREF(before);
    return 0;
}

/* Notes a call that has started. When several calls of one object are open, it is not known which
 * of them stops first: recursion ends with the last, but tasks and threads end in any order. The
 * call's start is then left out, and marks are paired by thread. */
static void note_call(struct marker *self, const struct gput_block_call *call)
{
    int64_t started_ns = self->n_open == 0 ? call->started_ns : 0;
    self->call = (struct gput_block_call){started_ns, call->process};
    self->n_open++;
}

/* The start of a `with` block. Returns the object itself. */
static PyObject *marker_enter(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct marker *self = (struct marker *)object;
    if (find_log(self) < 0)
        return NULL;
    struct gput_block_call call = {0};
    PyObject *done = marker_mark(self, GPUT_BLOCK_START, &call);
    if (!done)
        return NULL;
    note_call(self, &call);
    Py_DECREF(done);
    return Py_NewRef(object);
}

/* The end of a `with` block. An exception in the block is not swallowed. */
static PyObject *marker_exit(PyObject *object, PyObject *Py_UNUSED(args))
{
    struct marker *self = (struct marker *)object;
    struct gput_block_call call = self->call;
    if (self->n_open > 0 && --self->n_open == 0)
        self->call = (struct gput_block_call){0};
    return marker_mark(self, GPUT_BLOCK_STOP, &call);
}

static PyObject *marker_new(
    PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    struct marker *self = (struct marker *)allocate(type, 0);
    if (!self)
        return NULL;
    /* The type is a subclass made in Python, so it does not belong to this module. The base class
     * has the type of logs as an attribute. */
    PyObject *blocks_type = PyObject_GetAttrString((PyObject *)type, "_blocks_type");
    self->blocks_type = (PyTypeObject *)blocks_type;
    if (!blocks_type)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static int marker_traverse(PyObject *object, visitproc visit, void *arg)
{
    struct marker *self = (struct marker *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->name);
    Py_VISIT(self->log);
    Py_VISIT(self->blocks_type);
    return 0;
}

static int marker_clear(PyObject *object)
{
    struct marker *self = (struct marker *)object;
    Py_CLEAR(self->name);
    Py_CLEAR(self->log);
    /* The type stays, because a mark may still be made after this. */
    return 0;
}

static void marker_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    marker_clear(object);
    Py_XDECREF((PyObject *)((struct marker *)object)->blocks_type);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef marker_methods[] = {
    {"__enter__", marker_enter, METH_NOARGS, "Marks the start of the block."},
    {"__exit__", (PyCFunction)(void (*)(void))marker_exit, METH_VARARGS, "Marks its end."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot marker_slots[] = {
    {Py_tp_doc, "What a SubTracker does at the ends of its block."},
    {Py_tp_new, marker_new},
    {Py_tp_dealloc, marker_dealloc},
    {Py_tp_traverse, marker_traverse},
    {Py_tp_clear, marker_clear},
    {Py_tp_methods, marker_methods},
    {Py_tp_members, marker_members},
    {0, NULL},
};

static PyType_Spec marker_spec = {
    .name = "gpu_tracker._native.BlockMarker",
    .basicsize = sizeof(struct marker),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = marker_slots,
};

int native_add_blocks(PyObject *module)
{
    PyObject *blocks = native_add_type(module, &blocks_spec, "Blocks");
    PyObject *marker = blocks ? native_add_type(module, &marker_spec, "BlockMarker") : NULL;
    int code = marker ? PyObject_SetAttrString(marker, "_blocks_type", blocks) : -1;
    if (code == 0)
        code = PyModule_AddFunctions(module, fork_functions);
    Py_XDECREF(marker);
    Py_XDECREF(blocks);
    return code;
}
