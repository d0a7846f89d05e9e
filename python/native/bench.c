/* The type gpu_tracker._native.Bench: a benchmark of libgputracker. */
#include "native.h"

#include <string.h>

/* The Python object of a benchmark. */
struct bench {
    PyObject_HEAD struct gput_bench *bench;
    struct native_warnings *warnings;
    PyObject *options;    /* the keyword arguments: the library uses their texts in place */
    PyThreadState *saved; /* this thread's state while the library runs without the GIL, else
                             NULL */
    bool has_exception;   /* a signal handler raised an exception, so the benchmark stops */
};

/* Called by the library during a run. Runs Python's signal handlers, as the interpreter would
 * between two instructions, and says whether one of them raised an exception. */
static bool is_to_stop(void *user)
{
    struct bench *self = user;
    PyEval_RestoreThread(self->saved);
    self->has_exception |= PyErr_CheckSignals() != 0;
    self->saved = PyEval_SaveThread();
    return self->has_exception;
}

/* Keeps a warning until take_warnings() returns it. */
static void warn(void *user, const char *message)
{
    native_warnings_add(((struct bench *)user)->warnings, message);
}

/* Bench(*, runs, precision, …): see enum of keywords below. */
static int bench_init(PyObject *object, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"runs", "precision", "min_time", "max_time", "warmup", "timeout",
        "seed", "in_order", "shell", "ignore_failure", "show_output", "pair", "input", "setup",
        "prepare", "conclude", "cleanup", "work", "keep", "interval", "procfs_root", "sysfs_root",
        "nvml_path", NULL};
    struct bench *self = (struct bench *)object;
    struct gput_bench_options options = gput_bench_options_default();
    struct gput_session_options session = gput_session_options_default();
    int runs = 0, warmup = 0, in_order = 0, shell = 0, ignore = 0, show = 0, pair = 0;
    unsigned long long seed = 0;
    /* The interval of samples if `interval` is not given: commands may be short. */
    session.sleep_time_seconds = 0.1;
    if (self->options) {
        PyErr_SetString(PyExc_RuntimeError, "A benchmark can be created only once.");
        return -1;
    }
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$O&dddO&dKpppppzzzzzzzdzzz", keywords,
            native_read_number, &runs, &options.precision_percent, &options.min_seconds,
            &options.max_seconds, native_read_number, &warmup, &options.timeout_seconds, &seed,
            &in_order, &shell, &ignore, &show, &pair, &options.input, &options.setup,
            &options.prepare, &options.conclude, &options.cleanup, &options.work,
            &options.keep_folder, &session.sleep_time_seconds, &session.procfs_root,
            &session.sysfs_root, &session.nvml_path))
        return -1;
    options.n_runs = (unsigned)runs;
    options.n_warmups = (unsigned)warmup;
    options.seed = seed;
    options.in_order = in_order;
    options.shell = shell;
    options.ignore_failure = ignore;
    options.show_output = show;
    options.pair = pair;
    options.session = &session;
    options.is_to_stop = is_to_stop;
    options.warn = warn;
    options.user = self;
    self->options = Py_NewRef(kwargs ? kwargs : Py_None);
    struct gput_error error;
    self->warnings = native_warnings_create();
    if (!self->warnings) {
        PyErr_NoMemory();
        return -1;
    }
    if (gput_bench_create(&options, &self->bench, &error) == GPUT_OK)
        return 0;
    native_raise(&error);
    return -1;
}

static void bench_dealloc(PyObject *object)
{
    struct bench *self = (struct bench *)object;
    PyTypeObject *type = Py_TYPE(object);
    gput_bench_destroy(self->bench);
    native_warnings_destroy(self->warnings);
    Py_XDECREF(self->options);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* None, or NULL with an exception after a failure. */
static PyObject *done(int code, const struct gput_error *error)
{
    return code == GPUT_OK ? Py_NewRef(Py_None) : native_raise(error);
}

/* add_parameter(name, values): a parameter that commands added later can use */
static PyObject *add_parameter(PyObject *object, PyObject *args)
{
    const char *name, *values;
    struct gput_error error;
    if (!PyArg_ParseTuple(args, "ss", &name, &values))
        return NULL;
    return done(
        gput_bench_add_parameter(((struct bench *)object)->bench, name, values, &error), &error);
}

/* add_command(name, command): a command as one text; the name may be None */
static PyObject *add_command(PyObject *object, PyObject *args)
{
    const char *name, *command;
    struct gput_error error;
    if (!PyArg_ParseTuple(args, "zs", &name, &command))
        return NULL;
    return done(
        gput_bench_add_command(((struct bench *)object)->bench, name, command, &error), &error);
}

/* add_argv(name, words) */
static PyObject *add_argv(PyObject *object, PyObject *args)
{
    const char *name, *const *words;
    PyObject *list, *result = NULL;
    size_t count;
    struct gput_error error;
    struct native_call call;
    if (!PyArg_ParseTuple(args, "zO", &name, &list) || !native_call_begin(&call))
        return NULL;
    if (held_texts(call.held, list, &words, &count)) {
        const char **argv = held_memory(call.held, (Py_ssize_t)count + 1, sizeof *argv);
        if (argv && count > 0)
            memcpy(argv, words, count * sizeof *argv);
        if (argv)
            result = done(gput_bench_add_argv(
                              ((struct bench *)object)->bench, name, (char *const *)argv, &error),
                &error);
    }
    return native_call_end(&call, result);
}

/* add_variant(name): a variant that the caller runs itself */
static PyObject *add_variant(PyObject *object, PyObject *args)
{
    const char *name;
    struct gput_error error;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    return done(gput_bench_add_variant(((struct bench *)object)->bench, name, &error), &error);
}

/* run(): runs the commands. When a signal handler raises an exception, the run stops and the
 * exception is passed on. */
static PyObject *run(PyObject *object, PyObject *Py_UNUSED(args))
{
    struct bench *self = (struct bench *)object;
    struct gput_error error;
    if (self->saved) {
        PyErr_SetString(PyExc_RuntimeError, "Another thread is running this benchmark.");
        return NULL;
    }
    self->has_exception = false;
    self->saved = PyEval_SaveThread();
    int code = gput_bench_run(self->bench, &error);
    PyEval_RestoreThread(self->saved);
    self->saved = NULL;
    return self->has_exception ? NULL : done(code, &error);
}

/* next() -> the number of the variant that runs next, or None */
static PyObject *next(PyObject *object, PyObject *Py_UNUSED(args))
{
    size_t variant;
    if (!gput_bench_next(((struct bench *)object)->bench, &variant))
        return Py_NewRef(Py_None);
    return PyLong_FromSize_t(variant);
}

/* begin_run(): the code of the run begins now, in this thread */
static PyObject *begin_run(PyObject *object, PyObject *Py_UNUSED(args))
{
    gput_bench_begin_run(((struct bench *)object)->bench);
    return Py_NewRef(Py_None);
}

/* end_run(): it is over */
static PyObject *end_run(PyObject *object, PyObject *Py_UNUSED(args))
{
    gput_bench_end_run(((struct bench *)object)->bench);
    return Py_NewRef(Py_None);
}

/* add_run(session, seconds, work): adds the figures of a run of the variant that next() gave */
static PyObject *add_run(PyObject *object, PyObject *args)
{
    PyObject *session;
    double seconds, work;
    struct gput_error error;
    if (!PyArg_ParseTuple(args, "Odd", &session, &seconds, &work))
        return NULL;
    struct gput_results *results = native_session_results(object, session);
    if (!results)
        return NULL;
    int code = gput_bench_add_run(((struct bench *)object)->bench, results, seconds, work, &error);
    gput_results_destroy(results);
    return done(code, &error);
}

/* load_baseline(path): earlier results, which the runs are compared with */
static PyObject *load_baseline(PyObject *object, PyObject *args)
{
    PyObject *path;
    struct gput_error error;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    int code =
        gput_bench_load_baseline(((struct bench *)object)->bench, PyBytes_AsString(path), &error);
    Py_DECREF(path);
    return done(code, &error);
}

/* check(rule) -> None, or when the rule is met a sentence that says so */
static PyObject *check(PyObject *object, PyObject *args)
{
    const char *rule;
    char message[1024];
    bool holds;
    struct gput_error error;
    if (!PyArg_ParseTuple(args, "s", &rule))
        return NULL;
    if (gput_bench_check(((struct bench *)object)->bench, rule, &holds, message, sizeof message,
            &error) != GPUT_OK)
        return native_raise(&error);
    return holds ? PyUnicode_FromString(message) : Py_NewRef(Py_None);
}

/* render(format, details) -> text */
static PyObject *render(PyObject *object, PyObject *args)
{
    static const struct {
        const char *name;
        enum gput_format format;
    } formats[] = {{"text", GPUT_FORMAT_TEXT}, {"json", GPUT_FORMAT_JSON}, {"csv", GPUT_FORMAT_CSV},
        {"markdown", GPUT_FORMAT_MARKDOWN}, {"asciidoc", GPUT_FORMAT_ASCIIDOC},
        {"html", GPUT_FORMAT_HTML}, {"hyperfine", GPUT_FORMAT_HYPERFINE},
        {"bencher", GPUT_FORMAT_BENCHER}};
    struct gput_bench_render_options options = gput_bench_render_options_default();
    struct gput_error error;
    const char *name;
    int details = 0;
    char *text;
    if (!PyArg_ParseTuple(args, "s|p", &name, &details))
        return NULL;
    options.details = details;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, name) != 0)
            continue;
        if (gput_bench_render(((struct bench *)object)->bench, &options, formats[i].format, &text,
                NULL, &error) != GPUT_OK)
            return native_raise(&error);
        return native_steal_text(text);
    }
    PyErr_Format(PyExc_ValueError,
        "\"%s\" is not a valid format. Valid values are text, json, csv, markdown, asciidoc, html, "
        "hyperfine, bencher",
        name);
    return NULL;
}

/* take_warnings() -> the warnings since the last call */
static PyObject *take_warnings(PyObject *object, PyObject *Py_UNUSED(args))
{
    return native_warnings_collect(((struct bench *)object)->warnings);
}

static PyMethodDef methods[] = {
    {"add_parameter", add_parameter, METH_VARARGS, "add_parameter(name, values)"},
    {"add_command", add_command, METH_VARARGS, "add_command(name, command)"},
    {"add_argv", add_argv, METH_VARARGS, "add_argv(name, words)"},
    {"add_variant", add_variant, METH_VARARGS, "add_variant(name): that the caller runs"},
    {"run", run, METH_NOARGS, "run(): runs the commands"},
    {"next", next, METH_NOARGS, "next() -> number of the variant to run, or None"},
    {"begin_run", begin_run, METH_NOARGS, "begin_run(): its code begins, in this thread"},
    {"end_run", end_run, METH_NOARGS, "end_run(): it is over"},
    {"add_run", add_run, METH_VARARGS, "add_run(session, seconds, work): of the variant of next()"},
    {"load_baseline", load_baseline, METH_VARARGS, "load_baseline(path)"},
    {"check", check, METH_VARARGS, "check(rule) -> a sentence where it holds, or None"},
    {"render", render, METH_VARARGS, "render(format, details=False) -> text"},
    {"take_warnings", take_warnings, METH_NOARGS, "take_warnings() -> what was warned of"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot bench_slots[] = {
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, bench_init},
    {Py_tp_dealloc, bench_dealloc},
    {Py_tp_methods, methods},
    {Py_tp_doc, "A benchmark: commands or calls that run repeatedly."},
    {0, NULL},
};

static PyType_Spec bench_spec = {.name = "gpu_tracker._native.Bench",
    .basicsize = sizeof(struct bench),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = bench_slots};

int native_add_bench(PyObject *module)
{
    PyObject *type = native_add_type(module, &bench_spec, "Bench");
    Py_XDECREF(type);
    return type ? 0 : -1;
}
