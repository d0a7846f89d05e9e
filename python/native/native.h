/*
 * What the parts of the extension module gpu_tracker._native share. They use only the limited API
 * of CPython 3.11, so that one build serves 3.11 and all later versions. There are builds of their
 * own for 3.9 and 3.10, whose limited API has no buffers, and for Python without a GIL.
 *
 * The module is a thin layer: it calls the public API of libgputracker, gives the GIL back while
 * the library works, and turns failures into exceptions. Everything else is written in Python.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <gputracker/gputracker.h>

#include <pthread.h>

/* Definitions that Python 3.9 does not have. */
#if PY_VERSION_HEX < 0x030a0000
#define Py_TPFLAGS_DISALLOW_INSTANTIATION (1UL << 7) /* done by native_add_type() */
static inline PyObject *Py_NewRef(PyObject *object)
{
    Py_INCREF(object);
    return object;
}
static inline int PyModule_AddObjectRef(PyObject *module, const char *name, PyObject *value)
{
    Py_XINCREF(value);
    int result = PyModule_AddObject(module, name, value);
    if (result < 0)
        Py_XDECREF(value);
    return result;
}
#endif

/* Raises the exception for an error: the one of its errno if it has one, for example
 * NotADirectoryError, else the one of its code, for example ValueError. Returns NULL. */
PyObject *native_raise(const struct gput_error *error);

/* Make a str or bytes object of memory that the library allocated, and free that memory. */
PyObject *native_steal_text(char *text);
PyObject *native_steal_bytes(char *bytes, size_t length);

/* ---- Warnings ---- */

/* Warnings of the library, from any thread, kept until Python asks for them. So the sampling thread
 * never waits for the GIL. */
struct native_warnings;

struct native_warnings *native_warnings_create(void); /* NULL without memory */
void native_warnings_destroy(struct native_warnings *warnings);
void native_warnings_add(void *warnings, const char *message); /* can be the `warn` callback of
                                                                  options */
/* Returns the warnings so far as a list of str, and empties the list here. */
PyObject *native_warnings_collect(struct native_warnings *warnings);

/* What a call of the library needs until it returns. */
struct native_call {
    PyObject *held;                   /* a list that holds what the options point to, see
                                         held_add() */
    struct native_warnings *warnings; /* warnings of the library during the call */
};

bool native_call_begin(struct native_call *call); /* false with an exception */
/* Frees both and returns `result`. */
PyObject *native_call_end(struct native_call *call, PyObject *result);

/* ---- Samples ---- */

/* The main figures over time, added by the sampling thread. Their number is limited. When the
 * memory is full, each two neighbours become one item with the higher figures of both, so that no
 * peak is lost. The first and the last sample stay as they are, because they show what was used
 * before and after. */
struct native_samples {
    pthread_mutex_t lock;
    struct native_sample {
        double seconds; /* since the epoch */
        double ram_bytes;
        double gpu_ram_bytes; /* NaN where it cannot be measured; so are those below */
        double cpu_percent, gpu_percent;
        double device_ram_bytes; /* used on all GPUs, by any process */
    } first, last, *items;       /* items: the samples between them */
    size_t capacity;             /* most items; an even number, set before the first is added */
    size_t added;                /* samples added so far */
    size_t count;                /* items in use */
    size_t merged;               /* how many samples an item stands for at most */
    size_t pending;              /* how many samples the last item stands for */
};

void native_samples_init(struct native_samples *samples);
void native_samples_finish(struct native_samples *samples);
void native_samples_add(struct native_samples *samples, const struct gput_sample *sample);
/* The samples in order of time, as a list of tuples. */
PyObject *native_samples_list(struct native_samples *samples);

/* ---- Reports ---- */

/* The results of a Session, to be freed by gput_results_destroy(). Returns NULL with an exception,
 * also when `session` is not a Session. `other` is any object of a type of this module. */
struct gput_results *native_session_results(PyObject *other, PyObject *session);

/* A format of Session.report(), in addition to those of enum gput_format. */
#define NATIVE_DETAILS (-1)

/* A report as a dictionary, as it is in JSON. */
PyObject *native_report(
    const struct gput_results *results, const struct gput_results_render_options *options);

/* ---- Tables ---- */

/* Tables of the library as a dictionary of name to Table. The list is destroyed. `module` is this
 * extension module: the first argument of its functions, or PyType_GetModule() of its types. */
PyObject *native_steal_tables(PyObject *module, struct gput_tables *tables);

/* A Python function that gets parts of tables while the library works without the GIL. */
struct native_taking {
    PyObject *module, *take;
    struct native_warnings *warnings;
};

/* Callbacks of the library; `user` is a struct native_taking. native_take_part() passes a part to
 * the function as {name: Table}. An exception of the function ends the call of the library and
 * stays set. */
int native_take_part(void *user, struct gput_tables *part, struct gput_error *error);
void native_take_warning(void *user, const char *message);

/* ---- Arguments ---- */

/*
 * What a call of the library points to is held by one list until the call is over: tuples of texts
 * whose bytes are used in place, and bytes objects used as memory. All these functions fail with an
 * exception, and return false, NULL or -1.
 */
int held_add(PyObject *held, PyObject *object); /* takes over the reference; NULL counts as a
                                                   failure */
void *held_memory(PyObject *held, Py_ssize_t count, size_t size); /* filled with zeroes */
/* The items of a sequence as a tuple, which cannot change. The reference is borrowed. */
PyObject *held_tuple(PyObject *held, PyObject *sequence);
/* Reads a list of texts. None is an empty list. */
bool held_texts(PyObject *held, PyObject *list, const char *const **texts, size_t *count);
/* Reads a path. */
bool held_path(PyObject *held, PyObject *object, const char **path);
/* Reads a path, or NULL for None. */
bool held_optional_path(PyObject *held, PyObject *object, const char **path);
/* Reads a list of paths. */
bool held_paths(PyObject *held, PyObject *list, const char *const **paths, size_t *count);

/* For "O&": reads a number that fits into an int and is not negative. (With "I", or with "l" and a
 * cast, numbers that are too large would wrap round.) */
int native_read_number(PyObject *object, void *number);
/* Reads a whole number. */
bool native_to_int64(PyObject *object, int64_t *value);
/* Reads a bound: microseconds or a step. None leaves the bound as it is. */
bool native_to_bound(PyObject *object, int64_t *bound);

/* The last two members of a PyMethodDef for a function that takes keyword arguments. */
#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

/* ---- The parts: each adds its types and functions to the module. -1 with an exception. ---- */

int native_add_session(PyObject *module);
int native_add_job(PyObject *module);
int native_add_bench(PyObject *module);
int native_add_blocks(PyObject *module);
int native_add_analysis(PyObject *module);
int native_add_energy(PyObject *module);
int native_add_table(PyObject *module);
int native_add_plot(PyObject *module);
int native_add_push(PyObject *module);
int native_add_timeline(PyObject *module);
int native_add_profile(PyObject *module); /* not in builds with -Dtraining=false */

/* Makes a type and adds it under its name; the reference returned is the caller's. */
PyObject *native_add_type(PyObject *module, PyType_Spec *spec, const char *name);
