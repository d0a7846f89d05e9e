/*
 * What the parts of the extension module gpu_tracker._native share. Limited API of CPython 3.11:
 * one build serves that version and all later ones. 3.9 and 3.10, whose limited API has no buffers,
 * and free-threaded ones have builds of their own.
 *
 * The module is a thin layer: it calls the public API of libgputracker, gives the GIL back while
 * that works, and turns failures into exceptions. Everything else is in Python.
 */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <gputracker/gputracker.h>

#include <pthread.h>

/* What 3.9 does not have. */
#if PY_VERSION_HEX < 0x030a0000
#define Py_TPFLAGS_DISALLOW_INSTANTIATION (1UL << 7) /* native_add_type() sees to it */
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

/* Raises what stands for the error's errno where it has one (NotADirectoryError …), else for its
 * code (ValueError …). Returns NULL. */
PyObject *native_raise(const struct gput_error *error);

/* Text or bytes that the library gave, as a str or bytes object; frees it. */
PyObject *native_steal_text(char *text);
PyObject *native_steal_bytes(char *bytes, size_t length);

/* ---- Warnings ---- */

/* Lines that the library warns with, from any thread, kept until Python asks for them: the sampling
 * thread never waits for the GIL. */
struct native_warnings;

struct native_warnings *native_warnings_create(void); /* NULL without memory */
void native_warnings_destroy(struct native_warnings *warnings);
void native_warnings_add(void *warnings, const char *message); /* a `warn` callback */
/* Takes them out, as a list of str. */
PyObject *native_warnings_collect(struct native_warnings *warnings);

/* What one call of the library needs until it returns. */
struct native_call {
    PyObject *held;                   /* what its options borrow: see held_add() */
    struct native_warnings *warnings; /* what the library warns of meanwhile */
};

bool native_call_begin(struct native_call *call); /* false with an exception */
/* Releases both and returns `result`. */
PyObject *native_call_end(struct native_call *call, PyObject *result);

/* ---- Samples ---- */

/* Main figures over time, from the sampling thread. Bounded: when full, neighbours become one,
 * the higher figures of both, so that no peak is lost. The first and the last stay as they are:
 * what was used before and after. */
struct native_samples {
    pthread_mutex_t lock;
    struct native_sample {
        double seconds; /* since the epoch */
        double ram_bytes;
        double gpu_ram_bytes; /* NaN: not to be had, as of all below */
        double cpu_percent, gpu_percent;
        double device_ram_bytes; /* of all GPUs, in use by any process */
    } first, last, *items;       /* items: those between */
    size_t capacity;             /* items at most: even, set before the first is added */
    size_t added;                /* samples ever */
    size_t count;                /* items */
    size_t merged;               /* how many samples an item stands for */
    size_t pending;              /* of them, how many are in the last item */
};

void native_samples_init(struct native_samples *samples);
void native_samples_finish(struct native_samples *samples);
void native_samples_add(struct native_samples *samples, const struct gput_sample *sample);
/* A list of tuples. */
PyObject *native_samples_list(struct native_samples *samples);

/* ---- Reports ---- */

/* What a Session found, for gput_results_destroy(); NULL with an exception, also where `session` is
 * none. `other` is an object of a type of this module. */
struct gput_results *native_session_results(PyObject *other, PyObject *session);

/* A format of Session.report(), next to those of enum gput_format. */
#define NATIVE_DETAILS (-1)

/* The report in JSON as a dictionary. */
PyObject *native_report(
    const struct gput_results *results, const struct gput_results_render_options *options);

/* ---- Tables ---- */

/* What the library made, as a dictionary of name to Table; destroys the list. `module` is this
 * module: the first argument of its functions, PyType_GetModule() of its types. */
PyObject *native_steal_tables(PyObject *module, struct gput_tables *tables);

/* A Python function that takes parts of tables, called without the GIL. */
struct native_taking {
    PyObject *module, *take;
    struct native_warnings *warnings;
};

/* `user`: struct native_taking. Passes {name: Table}; an exception of the function ends the call of
 * the library, and stays set. */
int native_take_part(void *user, struct gput_tables *part, struct gput_error *error);
void native_take_warning(void *user, const char *message);

/* ---- Arguments ---- */

/*
 * What a call of the library points to is held by one list until the call is over: tuples of the
 * texts whose bytes are used in place, and memory in the form of bytes objects. All fail with an
 * exception: false, NULL or -1.
 */
int held_add(PyObject *held, PyObject *object); /* takes the reference; NULL is a failure */
void *held_memory(PyObject *held, Py_ssize_t count, size_t size); /* all zeroes */
/* A sequence as a tuple that does not change; borrowed. */
PyObject *held_tuple(PyObject *held, PyObject *sequence);
/* A list of texts; None: empty. */
bool held_texts(PyObject *held, PyObject *list, const char *const **texts, size_t *count);
bool held_path(PyObject *held, PyObject *object, const char **path);
/* None: NULL. */
bool held_optional_path(PyObject *held, PyObject *object, const char **path);
/* A list of paths. */
bool held_paths(PyObject *held, PyObject *list, const char *const **paths, size_t *count);

/* For "O&": a number that fits into an int and is not negative. ("I" and a cast of "l" would wrap.)
 */
int native_read_number(PyObject *object, void *number);
bool native_to_int64(PyObject *object, int64_t *value);
/* None, or a number of microseconds or a step. */
bool native_to_bound(PyObject *object, int64_t *bound);

/* The last two members of a PyMethodDef's function with keywords. */
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
int native_add_profile(PyObject *module); /* not in a build with -Dtraining=false */

/* Makes a type and adds it under its name; the reference returned is the caller's. */
PyObject *native_add_type(PyObject *module, PyType_Spec *spec, const char *name);
