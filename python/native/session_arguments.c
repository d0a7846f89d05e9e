#include "session_arguments.h"
static int parse_words(struct session_arguments *given, struct gput_error *error)
{
    struct gput_session_options *options = &given->options;
    int code = gput_ram_unit_parse(given->ram, "RAM", &options->ram_unit, error);
    if (code == GPUT_OK)
        code = gput_ram_unit_parse(given->gpu_ram, "GPU RAM", &options->gpu_ram_unit, error);
    if (code == GPUT_OK)
        code = gput_time_unit_parse(given->time, &options->time_unit, error);
    if (code == GPUT_OK)
        code = gput_energy_unit_parse(given->energy, &options->energy_unit, error);
    if (code == GPUT_OK)
        code = gput_ram_mode_parse(given->ram_mode, &options->ram_mode, error);
    return code;
}

/* For "O&": a str, bytes or path, of any characters that a file can have, as bytes; NULL for None.
 */
static int read_path(PyObject *object, void *bytes)
{
    return object == Py_None ? 1 : PyUnicode_FSConverter(object, bytes);
}

/* For "O&": a dict as {"ram": "8GB", "seconds": 90}, or None. */
static int read_limits(PyObject *object, void *limits)
{
    PyObject *kind, *amount;
    Py_ssize_t position = 0;
    if (object != Py_None && !PyDict_Check(object)) {
        PyErr_SetString(PyExc_TypeError, "limits is a dict, for example {\"ram\": \"8GB\"}");
        return 0;
    }
    while (object != Py_None && PyDict_Next(object, &position, &kind, &amount)) {
        struct gput_error error;
        PyObject *limit = PyUnicode_FromFormat("%S=%S", kind, amount);
        const char *text = limit ? PyUnicode_AsUTF8AndSize(limit, NULL) : NULL;
        int code = text ? gput_limits_parse(text, limits, &error) : GPUT_OK;
        Py_XDECREF(limit);
        if (code != GPUT_OK)
            native_raise(&error);
        if (!text || code != GPUT_OK)
            return 0;
    }
    return 1;
}

/* For "O&": grams, or a str, the code of a country; None: not given. */
static int read_carbon_intensity(PyObject *object, void *to)
{
    struct gput_session_options *options = to;
    if (object == Py_None)
        return 1;
    if (PyUnicode_Check(object))
        return (options->carbon_country = PyUnicode_AsUTF8AndSize(object, NULL)) != NULL;
    options->carbon_intensity = PyFloat_AsDouble(object);
    return !PyErr_Occurred();
}

static const char *path_text(PyObject *bytes)
{
    return bytes ? PyBytes_AsString(bytes) : NULL;
}

static bool parse(PyObject *args, PyObject *kwargs, struct session_arguments *given)
{
    static char *names[] = {"sleep_time", "ram_unit", "gpu_ram_unit", "time_unit",
        "n_expected_cores", "gpu_uuids", "gpu_brand", "tracking_file", "overwrite",
        "resource_usage_file", "ram_mode", "procfs_root", "sysfs_root", "nvml_path", "keep_samples",
        "processes", "command_lines", "energy_folder", "energy_sqlite", "energy_period",
        "energy_continue", "listen", "limits", "enforce", "energy_unit", "carbon_intensity", "otlp",
        "labels", "push_interval", "remote_write", "textfile_folder", "push_timeout", NULL};
    struct gput_session_options *options = &given->options;
    return PyArg_ParseTupleAndKeywords(args, kwargs, "|$dsssO&zzO&pO&szzzO&ppO&pdpzO&psO&zzdzzd",
        names, &options->sleep_time_seconds, &given->ram, &given->gpu_ram, &given->time,
        native_read_number, &given->n_expected_cores, &options->gpu_uuids, &options->gpu_brand,
        read_path, &given->tracking_file, &given->overwrite, read_path, &given->resource_usage_file,
        &given->ram_mode, &options->procfs_root, &options->sysfs_root, &options->nvml_path,
        native_read_number, &given->keep_samples, &given->processes, &given->command_lines,
        read_path, &given->energy_folder, &given->energy_sqlite, &options->energy_period_seconds,
        &given->energy_continue, &options->listen, read_limits, &given->limits, &given->enforce,
        &given->energy, read_carbon_intensity, options, &options->otlp, &options->labels,
        &options->push_interval_seconds, &options->remote_write, &options->textfile_folder,
        &options->push_timeout_seconds);
}

/* What `given` says of the options that are not arguments as they are. */
static bool complete(struct session_arguments *given)
{
    struct gput_session_options *options = &given->options;
    struct gput_error error;
    options->n_expected_cores = (unsigned)given->n_expected_cores;
    options->tracking_file = path_text(given->tracking_file);
    options->resource_usage_file = path_text(given->resource_usage_file);
    options->energy_folder = path_text(given->energy_folder);
    options->overwrite = given->overwrite;
    options->energy_driver = given->energy_sqlite ? GPUT_ENERGY_SQLITE : GPUT_ENERGY_JSON;
    options->energy_continue = given->energy_continue;
    given->limits.enforce = given->enforce;
    options->limits = &given->limits;
    options->processes = given->processes || given->command_lines;
    options->command_lines = given->command_lines;
    if (parse_words(given, &error) == GPUT_OK)
        return true;
    native_raise(&error);
    return false;
}

bool session_arguments_read(PyObject *args, PyObject *kwargs, struct session_arguments *given)
{
    *given = (struct session_arguments){.options = gput_session_options_default(),
        .limits = gput_limits_default(),
        .ram = "gigabytes",
        .gpu_ram = "gigabytes",
        .time = "hours",
        .energy = "joules",
        .ram_mode = "adaptive"};
    if (parse(args, kwargs, given) && complete(given))
        return true;
    session_arguments_finish(given);
    return false;
}

void session_arguments_finish(struct session_arguments *given)
{
    Py_CLEAR(given->tracking_file);
    Py_CLEAR(given->resource_usage_file);
    Py_CLEAR(given->energy_folder);
}
