#include "session_arguments.h"

#include <string.h>

/* A keyword argument, and where it goes. */
struct reading {
    const char *name;
    PyObject *value;
    void *to;
    PyObject *held; /* what `to` may point to, besides the value */
};

/* False with an exception. */
typedef bool read_value(const struct reading *reading);

static bool refuse(const struct gput_error *error)
{
    native_raise(error);
    return false;
}

static bool read_bool(const struct reading *reading)
{
    int is_true = PyObject_IsTrue(reading->value);
    *(bool *)reading->to = is_true > 0;
    return is_true >= 0;
}

static bool read_number(const struct reading *reading)
{
    double number = PyFloat_AsDouble(reading->value);
    *(double *)reading->to = number;
    return number != -1 || !PyErr_Occurred();
}

static bool read_count(const struct reading *reading)
{
    return native_read_number(reading->value, reading->to);
}

/* NULL with an exception. */
static const char *text_of(const struct reading *reading)
{
    Py_ssize_t length;
    if (!PyUnicode_Check(reading->value)) {
        PyErr_Format(PyExc_TypeError, "%s must be str, not %R", reading->name, reading->value);
        return NULL;
    }
    const char *text = PyUnicode_AsUTF8AndSize(reading->value, &length);
    if (text && strlen(text) != (size_t)length) {
        PyErr_Format(PyExc_ValueError, "%s has an embedded null character", reading->name);
        return NULL;
    }
    return text;
}

/* A text, or None. */
static bool read_text(const struct reading *reading)
{
    const char *text = reading->value == Py_None ? NULL : text_of(reading);
    *(const char **)reading->to = text;
    return text || reading->value == Py_None;
}

/* A str, bytes or path, of any characters that a file can have, or None. */
static bool read_path(const struct reading *reading)
{
    return held_optional_path(reading->held, reading->value, reading->to);
}

static bool read_ram_unit(const struct reading *reading)
{
    struct gput_error error;
    const char *word = text_of(reading);
    return word &&
           (gput_ram_unit_parse(word, "RAM", reading->to, &error) == GPUT_OK || refuse(&error));
}

static bool read_gpu_ram_unit(const struct reading *reading)
{
    struct gput_error error;
    const char *word = text_of(reading);
    return word &&
           (gput_ram_unit_parse(word, "GPU RAM", reading->to, &error) == GPUT_OK || refuse(&error));
}

static bool read_time_unit(const struct reading *reading)
{
    struct gput_error error;
    const char *word = text_of(reading);
    return word && (gput_time_unit_parse(word, reading->to, &error) == GPUT_OK || refuse(&error));
}

static bool read_energy_unit(const struct reading *reading)
{
    struct gput_error error;
    const char *word = text_of(reading);
    return word && (gput_energy_unit_parse(word, reading->to, &error) == GPUT_OK || refuse(&error));
}

static bool read_ram_mode(const struct reading *reading)
{
    struct gput_error error;
    const char *word = text_of(reading);
    return word && (gput_ram_mode_parse(word, reading->to, &error) == GPUT_OK || refuse(&error));
}

static bool read_is_sqlite(const struct reading *reading)
{
    int is_sqlite = PyObject_IsTrue(reading->value);
    *(enum gput_energy_driver *)reading->to =
        is_sqlite > 0 ? GPUT_ENERGY_DRIVER_SQLITE : GPUT_ENERGY_DRIVER_JSON;
    return is_sqlite >= 0;
}

/* "ram" and "8GB", or a number. */
static bool read_limit(PyObject *kind, PyObject *amount, struct gput_limits *limits)
{
    struct gput_error error;
    PyObject *limit = PyUnicode_FromFormat("%S=%S", kind, amount);
    const char *text = limit ? PyUnicode_AsUTF8AndSize(limit, NULL) : NULL;
    bool is_read = text && (gput_limits_parse(text, limits, &error) == GPUT_OK || refuse(&error));
    Py_XDECREF(limit);
    return is_read;
}

/* A dict as {"ram": "8GB", "seconds": 90}, or None. */
static bool read_limits(const struct reading *reading)
{
    PyObject *kind, *amount;
    Py_ssize_t position = 0;
    if (reading->value == Py_None)
        return true;
    if (!PyDict_Check(reading->value)) {
        PyErr_SetString(PyExc_TypeError, "limits is a dict, for example {\"ram\": \"8GB\"}");
        return false;
    }
    while (PyDict_Next(reading->value, &position, &kind, &amount)) {
        if (!read_limit(kind, amount, reading->to))
            return false;
    }
    return true;
}

/* Grams, or a str, the code of a country; None: not given. */
static bool read_carbon_intensity(const struct reading *reading)
{
    struct gput_session_options *options = reading->to;
    struct reading inner = *reading;
    if (reading->value == Py_None)
        return true;
    bool is_country = PyUnicode_Check(reading->value);
    inner.to = is_country ? (void *)&options->carbon_country : (void *)&options->carbon_intensity;
    return is_country ? read_text(&inner) : read_number(&inner);
}

#define IN(member) offsetof(struct session_arguments, member)

static const struct argument {
    const char *name;
    read_value *read;
    size_t offset; /* in struct session_arguments */
} arguments[] = {
    {"sleep_time", read_number, IN(options.sleep_time_seconds)},
    {"ram_unit", read_ram_unit, IN(options.ram_unit)},
    {"gpu_ram_unit", read_gpu_ram_unit, IN(options.gpu_ram_unit)},
    {"time_unit", read_time_unit, IN(options.time_unit)},
    {"n_expected_cores", read_count, IN(options.n_expected_cores)},
    {"gpu_uuids", read_text, IN(options.gpu_uuids)},
    {"gpu_brand", read_text, IN(options.gpu_brand)},
    {"tracking_file", read_path, IN(options.tracking_file)},
    {"overwrite", read_bool, IN(options.overwrite)},
    {"resource_usage_file", read_path, IN(options.resource_usage_file)},
    {"ram_mode", read_ram_mode, IN(options.ram_mode)},
    {"procfs_root", read_text, IN(options.procfs_root)},
    {"sysfs_root", read_text, IN(options.sysfs_root)},
    {"nvml_path", read_text, IN(options.nvml_path)},
    {"keep_samples", read_count, IN(keep_samples)},
    {"processes", read_bool, IN(options.processes)},
    {"command_lines", read_bool, IN(options.command_lines)},
    {"energy_unit", read_energy_unit, IN(options.energy_unit)},
    {"carbon_intensity", read_carbon_intensity, IN(options)},
    {"energy_folder", read_path, IN(options.energy_folder)},
    {"energy_sqlite", read_is_sqlite, IN(options.energy_driver)},
    {"energy_period", read_number, IN(options.energy_period_seconds)},
    {"energy_continue", read_bool, IN(options.energy_continue)},
    {"listen", read_text, IN(options.listen)},
    {"otlp", read_text, IN(options.otlp)},
    {"remote_write", read_text, IN(options.remote_write)},
    {"textfile_folder", read_text, IN(options.textfile_folder)},
    {"labels", read_text, IN(options.labels)},
    {"push_interval", read_number, IN(options.push_interval_seconds)},
    {"push_timeout", read_number, IN(options.push_timeout_seconds)},
    {"limits", read_limits, IN(limits)},
    {"enforce", read_bool, IN(limits.enforce)},
};

static bool read_argument(PyObject *name, PyObject *value, struct session_arguments *given)
{
    const char *word = PyUnicode_AsUTF8AndSize(name, NULL);
    for (size_t i = 0; word && i < sizeof arguments / sizeof *arguments; i++) {
        const struct argument *argument = &arguments[i];
        struct reading reading = {word, value, (char *)given + argument->offset, given->held};
        if (strcmp(word, argument->name) == 0)
            return argument->read(&reading);
    }
    if (word)
        PyErr_Format(PyExc_TypeError, "%s is not an argument of a session", word);
    return false;
}

static bool read_each(PyObject *args, PyObject *kwargs, struct session_arguments *given)
{
    PyObject *name, *value;
    Py_ssize_t position = 0;
    if (!given->held || !PyArg_ParseTuple(args, ""))
        return false;
    while (kwargs && PyDict_Next(kwargs, &position, &name, &value)) {
        if (!read_argument(name, value, given))
            return false;
    }
    return true;
}

bool session_arguments_read(PyObject *args, PyObject *kwargs, struct session_arguments *given)
{
    *given = (struct session_arguments){.options = gput_session_options_default(),
        .limits = gput_limits_default(),
        .held = PyList_New(0)};
    given->options.limits = &given->limits;
    if (!read_each(args, kwargs, given)) {
        session_arguments_finish(given);
        return false;
    }
    given->options.processes |= given->options.command_lines;
    return true;
}

void session_arguments_finish(struct session_arguments *given)
{
    Py_CLEAR(given->held);
}
