/* A function of the extension module that sends figures of a finished session to servers that
 * collect metrics. See gputracker/push.h. */
#include "native.h"

#include <gputracker/push.h>

/* Reads the arguments of push_session(). Returns false with an exception. */
static bool read_options(PyObject *held, PyObject *args, PyObject *keywords,
    struct gput_push_options *options, const char **samples, const char **results,
    PyObject **counts)
{
    static char *names[] = {"samples", "results", "counts", "otlp", "remote_write", "labels",
        "interval", "timeout", NULL};
    PyObject *sample_path, *results_path;
    return PyArg_ParseTupleAndKeywords(args, keywords, "OOO!|$zzzdd", names, &sample_path,
               &results_path, &PyList_Type, counts, &options->otlp, &options->remote_write,
               &options->labels, &options->interval_seconds, &options->timeout_seconds) &&
           held_optional_path(held, sample_path, samples) &&
           held_optional_path(held, results_path, results);
}

/* Adds the counts to the caller's list. It is done after a failure too, so that the caller knows
 * what was sent. */
static bool add_counts(PyObject *list, const struct gput_push_counts *counts)
{
    PyObject *item = Py_BuildValue("KKK", (unsigned long long)counts->sent,
        (unsigned long long)counts->lost, (unsigned long long)counts->refused);
    bool is_added = item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    return is_added;
}

/* push_session(samples, results, counts, *, …) -> warnings. It sends without the GIL. */
static PyObject *push_session(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    struct gput_push_options options = gput_push_options_default();
    struct gput_push_counts counts = gput_push_counts_default();
    struct native_call call;
    const char *samples, *results;
    PyObject *list, *result = NULL;
    if (!native_call_begin(&call))
        return NULL;
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (read_options(call.held, args, keywords, &options, &samples, &results, &list)) {
        struct gput_error error;
        int code;
        Py_BEGIN_ALLOW_THREADS;
        code = gput_push_session(samples, results, &options, &counts, &error);
        Py_END_ALLOW_THREADS;
        if (add_counts(list, &counts))
            result =
                code == GPUT_OK ? native_warnings_collect(call.warnings) : native_raise(&error);
    }
    return native_call_end(&call, result);
}

static PyMethodDef functions[] = {
    {"push_session", WITH_KEYWORDS(push_session),
        "push_session(samples, results, counts, *, otlp, remote_write, labels, interval, timeout) "
        "-> "
        "warnings; adds (sent, lost, refused) to the list `counts`"},
    {NULL, NULL, 0, NULL},
};

int native_add_push(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
