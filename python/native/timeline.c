/* A function of the extension module that merges traces into one timeline. */
#include "native.h"

/* Reads the arguments. Returns false with an exception. */
static bool read_timeline_options(
    PyObject *held, PyObject *args, PyObject *keywords, struct gput_timeline_options *options)
{
    static char *names[] = {"inputs", "start", "end", "by_step", "suffixes", "output",
        "output_folder", "node", "readings", "low_dimension", "low_threshold", NULL};
    PyObject *inputs, *start = Py_None, *end = Py_None, *suffixes = Py_None;
    PyObject *output = Py_None, *folder = Py_None;
    int by_step = 0, readings = 1;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OOpOOOzpzd", names, &inputs, &start, &end,
            &by_step, &suffixes, &output, &folder, &options->node, &readings,
            &options->low_dimension, &options->low_threshold))
        return false;
    options->unit = by_step ? GPUT_TIMELINE_STEP : GPUT_TIMELINE_TIME;
    options->without_readings = !readings;
    return held_optional_path(held, output, &options->output) &&
           held_optional_path(held, folder, &options->output_folder) &&
           native_to_bound(start, &options->start) && native_to_bound(end, &options->end) &&
           held_texts(held, suffixes, &options->suffixes, &options->n_suffixes) &&
           held_paths(held, inputs, &options->inputs, &options->n_inputs);
}

/* Merges without the GIL, and returns the result and the warnings. */
static PyObject *give_timeline(
    const struct gput_timeline_options *options, struct native_warnings *warnings)
{
    struct gput_timeline_result made = gput_timeline_result_default();
    struct gput_error error;
    int code;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_timeline_merge(options, &made, &error);
    Py_END_ALLOW_THREADS;
    if (code != GPUT_OK)
        return native_raise(&error);
    PyObject *path = PyUnicode_DecodeFSDefault(made.path);
    if (!path)
        return NULL;
    return Py_BuildValue("NN",
        Py_BuildValue("{sNsKsKsKsKsKsKsKsLsL}", "path", path, "files", made.files, "slices",
            made.slices, "counters", made.counters, "others", made.others, "left_out",
            made.left_out, "damaged", made.damaged, "truncated", made.truncated, "start_us",
            (long long)made.start_us, "end_us", (long long)made.end_us),
        native_warnings_collect(warnings));
}

/* merge_timeline(inputs, *, …) -> (a dictionary with the path and the counts, warnings) */
static PyObject *merge_timeline(PyObject *Py_UNUSED(module), PyObject *args, PyObject *keywords)
{
    struct gput_timeline_options options = gput_timeline_options_default();
    PyObject *result = NULL;
    struct native_call call;
    if (!native_call_begin(&call))
        return NULL;
    options.cores = gput_usable_cores();
    options.warn = native_warnings_add;
    options.user = call.warnings;
    if (read_timeline_options(call.held, args, keywords, &options))
        result = give_timeline(&options, call.warnings);
    return native_call_end(&call, result);
}

static PyMethodDef functions[] = {
    {"merge_timeline", WITH_KEYWORDS(merge_timeline),
        "merge_timeline(inputs, *, …) -> (result, warnings)"},
    {NULL, NULL, 0, NULL},
};

int native_add_timeline(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
