/*
 * The types gpu_tracker._native.Table and Column: tables of the library. Other libraries get a
 * whole table by the Arrow PyCapsule interface, and the numbers of a column by the buffer protocol.
 * Neither copies the data.
 *
 * Both types hold the table by the library's own reference count, so what was handed out stays
 * valid without these objects and without the GIL.
 */
#include "native.h"

#include <stdlib.h>
#include <string.h>

/* The Python object of a table. */
struct table {
    PyObject_HEAD const struct gput_table *table;
};

/* The Python object of a column. It holds the table too. */
struct column {
    PyObject_HEAD const struct gput_table *table;
    size_t number;
    Py_ssize_t rows; /* the shape and stride of its buffer */
    Py_ssize_t stride;
};

/* A text as str. Bytes that are not UTF-8 are replaced. */
static PyObject *text_of(const char *text)
{
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *text_or_none(const char *text)
{
    return text ? text_of(text) : Py_NewRef(Py_None);
}

/* ---- Columns ---- */

/* The value in a row of a column. None if it is missing. */
static PyObject *column_value(const struct column *self, size_t row)
{
    if (gput_table_is_missing(self->table, row, self->number))
        return Py_NewRef(Py_None);
    switch (gput_table_column_type(self->table, self->number)) {
    case GPUT_COLUMN_INT:
        return PyLong_FromLongLong(gput_table_int(self->table, row, self->number));
    case GPUT_COLUMN_DOUBLE:
        return PyFloat_FromDouble(gput_table_double(self->table, row, self->number));
    default:
        return text_of(gput_table_text(self->table, row, self->number));
    }
}

static Py_ssize_t column_length(PyObject *object)
{
    return ((struct column *)object)->rows;
}

/* The value in a row. An index from the end has been converted before. */
static PyObject *column_item(PyObject *object, Py_ssize_t row)
{
    struct column *self = (struct column *)object;
    if (row >= 0 && row < self->rows)
        return column_value(self, (size_t)row);
    PyErr_SetString(PyExc_IndexError, "The column has no such row.");
    return NULL;
}

/* The values of every `step`th row as a list. */
static PyObject *column_slice(
    struct column *self, Py_ssize_t start, Py_ssize_t step, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list && i < count; i++) {
        PyObject *value = column_value(self, (size_t)(start + i * step));
        if (!value || PyList_SetItem(list, i, value) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* column[row] or column[start:stop:step]. Negative rows count from the end. */
static PyObject *column_subscript(PyObject *object, PyObject *key)
{
    struct column *self = (struct column *)object;
    if (PySlice_Check(key)) {
        Py_ssize_t start, stop, step;
        if (PySlice_Unpack(key, &start, &stop, &step) < 0)
            return NULL;
        Py_ssize_t count = PySlice_AdjustIndices(self->rows, &start, &stop, step);
        return column_slice(self, start, step, count);
    }
    Py_ssize_t row = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (row == -1 && PyErr_Occurred())
        return NULL;
    return column_item(object, row < 0 ? row + self->rows : row);
}

static PyObject *column_tolist(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct column *self = (struct column *)object;
    return column_slice(self, 0, 1, self->rows);
}

/* Whether a value of the column is missing. */
static bool has_missing(const struct column *self)
{
    for (Py_ssize_t row = 0; row < self->rows; row++)
        if (gput_table_is_missing(self->table, (size_t)row, self->number))
            return true;
    return false;
}

/* Gives the numbers of a column to the buffer protocol. A column of whole numbers with missing ones
 * has no buffer, because no whole number stands for a missing one. A column of floats has NaN for
 * it. */
static int column_get_buffer(PyObject *object, Py_buffer *view, int flags)
{
    static char nothing[sizeof(double)];
    static char *const formats[] = {[GPUT_COLUMN_INT] = "q", [GPUT_COLUMN_DOUBLE] = "d"};
    struct column *self = (struct column *)object;
    enum gput_column_type type = gput_table_column_type(self->table, self->number);
    const char *refusal = type == GPUT_COLUMN_TEXT ? "A column of texts has no buffer."
                          : flags & PyBUF_WRITABLE ? "A column cannot be written."
                          : type == GPUT_COLUMN_INT && has_missing(self)
                              ? "A column of whole numbers with missing ones has no buffer."
                              : NULL;
    view->obj = NULL;
    if (refusal) {
        PyErr_SetString(PyExc_BufferError, refusal);
        return -1;
    }
    void *cells = type == GPUT_COLUMN_INT ? (void *)gput_table_ints(self->table, self->number)
                                          : (void *)gput_table_doubles(self->table, self->number);
    *view = (Py_buffer){
        .buf = cells ? cells : nothing,
        .obj = Py_NewRef(object),
        .len = self->rows * self->stride,
        .itemsize = self->stride,
        .readonly = 1,
        .ndim = 1,
        .format = flags & PyBUF_FORMAT ? formats[type] : NULL,
        .shape = flags & PyBUF_ND ? &self->rows : NULL,
        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &self->stride : NULL,
    };
    return 0;
}

static void column_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    gput_table_release(((struct column *)object)->table);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef column_methods[] = {
    {"tolist", column_tolist, METH_NOARGS, "Its values; None: missing."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot column_slots[] = {
    {Py_tp_doc, "A column of a Table: a sequence of its values, None where one is missing."},
    {Py_tp_dealloc, column_dealloc},
    {Py_tp_methods, column_methods},
    {Py_sq_length, column_length},
    {Py_sq_item, column_item},
    {Py_mp_length, column_length},
    {Py_mp_subscript, column_subscript},
    {Py_bf_getbuffer, column_get_buffer},
    {0, NULL},
};

static PyType_Spec column_spec = {
    .name = "gpu_tracker._native.Column",
    .basicsize = sizeof(struct column),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = column_slots,
};

/* ---- Arrow ---- */

/* Called when the capsule is freed: releases the schema unless the consumer has moved it out. */
static void drop_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release)
        schema->release(schema);
    free(schema);
}

/* Called when the capsule is freed: releases the stream unless the consumer has moved it out. */
static void drop_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release)
        stream->release(stream);
    free(stream);
}

/* __arrow_c_schema__() -> a capsule that owns the schema */
static PyObject *table_arrow_schema(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct gput_error error;
    struct ArrowSchema *schema = malloc(sizeof *schema);
    if (!schema)
        return PyErr_NoMemory();
    if (gput_table_arrow_schema(((struct table *)object)->table, schema, &error) != GPUT_OK) {
        free(schema);
        return native_raise(&error);
    }
    PyObject *capsule = PyCapsule_New(schema, "arrow_schema", drop_schema);
    if (!capsule) {
        schema->release(schema);
        free(schema);
    }
    return capsule;
}

/* arrow_stream() -> a capsule that owns a stream of all rows */
static PyObject *table_arrow_stream(PyObject *object, PyObject *Py_UNUSED(unused))
{
    struct gput_error error;
    struct ArrowArrayStream *stream = malloc(sizeof *stream);
    if (!stream)
        return PyErr_NoMemory();
    if (gput_table_arrow_stream(((struct table *)object)->table, stream, &error) != GPUT_OK) {
        free(stream);
        return native_raise(&error);
    }
    PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", drop_stream);
    if (!capsule) {
        stream->release(stream);
        free(stream);
    }
    return capsule;
}

/* ---- Tables ---- */

static Py_ssize_t table_length(PyObject *object)
{
    return (Py_ssize_t)gput_table_row_count(((struct table *)object)->table);
}

static PyObject *table_name(PyObject *object, void *Py_UNUSED(closure))
{
    return text_of(gput_table_name(((struct table *)object)->table));
}

/* The name of a column's type in the attribute `fields`. */
static const char *type_name(enum gput_column_type type)
{
    static const char *const names[] = {
        [GPUT_COLUMN_INT] = "int64", [GPUT_COLUMN_DOUBLE] = "float64", [GPUT_COLUMN_TEXT] = "utf8"};
    return names[type];
}

/* The list of (name, type, unit, meaning) of all columns. */
static PyObject *table_fields(PyObject *object, void *Py_UNUSED(closure))
{
    const struct gput_table *table = ((struct table *)object)->table;
    size_t count = gput_table_column_count(table);
    PyObject *list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *field = Py_BuildValue("NsNN", text_of(gput_table_column_name(table, i)),
            type_name(gput_table_column_type(table, i)),
            text_or_none(gput_table_column_unit(table, i)),
            text_or_none(gput_table_column_meaning(table, i)));
        if (!field || PyList_SetItem(list, (Py_ssize_t)i, field) < 0)
            Py_CLEAR(list);
    }
    return list;
}

/* Makes an object of a type of this module, filled with zeroes. */
static PyObject *make(PyTypeObject *type)
{
    allocfunc allocate = PyType_GetSlot(type, Py_tp_alloc);
    return allocate(type, 0);
}

/* Looks up a type of this module by its name. The caller owns the reference. */
static PyTypeObject *find_type(PyObject *module, const char *name)
{
    return module ? (PyTypeObject *)PyObject_GetAttrString(module, name) : NULL;
}

/* column(number) -> Column. It stays valid without the Table. */
static PyObject *table_column(PyObject *object, PyObject *args)
{
    const struct gput_table *table = ((struct table *)object)->table;
    Py_ssize_t number;
    if (!PyArg_ParseTuple(args, "n", &number))
        return NULL;
    if (number < 0 || (size_t)number >= gput_table_column_count(table)) {
        PyErr_SetString(PyExc_IndexError, "The table has no such column.");
        return NULL;
    }
    PyTypeObject *type = find_type(PyType_GetModule(Py_TYPE(object)), "Column");
    struct column *column = type ? (struct column *)make(type) : NULL;
    Py_XDECREF((PyObject *)type);
    if (column) {
        column->table = gput_table_retain(table);
        column->number = (size_t)number;
        column->rows = table_length(object);
        column->stride = sizeof(double);
    }
    return (PyObject *)column;
}

static void table_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    gput_table_release(((struct table *)object)->table);
    freefunc release = PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static PyMethodDef table_methods[] = {
    {"column", table_column, METH_VARARGS, "column(number) -> Column"},
    {"__arrow_c_schema__", table_arrow_schema, METH_NOARGS, "A capsule of an ArrowSchema."},
    {"arrow_stream", table_arrow_stream, METH_NOARGS, "A capsule of an ArrowArrayStream."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef table_getset[] = {
    {"name", table_name, NULL, "Its name.", NULL},
    {"fields", table_fields, NULL, "(name, type, unit) of each column.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot table_slots[] = {
    {Py_tp_doc, "A table of libgputracker."},
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_methods, table_methods},
    {Py_tp_getset, table_getset},
    {Py_sq_length, table_length},
    {0, NULL},
};

static PyType_Spec table_spec = {
    .name = "gpu_tracker._native.Table",
    .basicsize = sizeof(struct table),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = table_slots,
};

/* Adds a table to a dictionary under its name. Returns -1 with an exception. */
static int add_table(PyObject *dictionary, PyTypeObject *type, const struct gput_table *table)
{
    struct table *object = (struct table *)make(type);
    if (!object)
        return -1;
    object->table = gput_table_retain(table);
    int code = PyDict_SetItemString(dictionary, gput_table_name(table), (PyObject *)object);
    Py_DECREF(object);
    return code;
}

PyObject *native_steal_tables(PyObject *module, struct gput_tables *tables)
{
    PyTypeObject *type = find_type(module, "Table");
    PyObject *dictionary = type ? PyDict_New() : NULL;
    for (size_t i = 0; dictionary && i < gput_tables_count(tables); i++)
        if (add_table(dictionary, type, gput_tables_get(tables, i)) < 0)
            Py_CLEAR(dictionary);
    Py_XDECREF((PyObject *)type);
    gput_tables_destroy(tables);
    return dictionary;
}

/* ---- Files ---- */

/* Reads a list of (start, stop) pairs as spans of time to read. None stands for the whole file. */
static bool held_spans(PyObject *held, PyObject *list, struct gput_recorded_options *options)
{
    if (list == Py_None)
        return true;
    PyObject *tuple = held_tuple(held, list);
    Py_ssize_t length = tuple ? PyTuple_Size(tuple) : -1;
    struct gput_recorded_span *spans = length < 0 ? NULL : held_memory(held, length, sizeof *spans);
    for (Py_ssize_t i = 0; spans && i < length; i++) {
        PyObject *pair = held_tuple(held, PyTuple_GetItem(tuple, i));
        if (!pair || !PyArg_ParseTuple(pair, "dd", &spans[i].start, &spans[i].end))
            return false;
    }
    options->spans = spans;
    options->n_spans = spans ? (size_t)length : 0;
    return spans != NULL;
}

typedef int read_function(const char *path, const struct gput_recorded_options *options,
    struct gput_tables **tables, struct gput_error *error);

/* Calls a function of the library that reads a file. Returns ({name: Table}, warnings). */
static PyObject *read_file(PyObject *module, PyObject *object, PyObject *spans,
    struct gput_recorded_options *options, read_function *read)
{
    PyObject *result = NULL;
    struct native_call call;
    const char *path;
    if (!native_call_begin(&call))
        return NULL;
    options->warn = native_warnings_add;
    options->user = call.warnings;
    if (held_path(call.held, object, &path) && held_spans(call.held, spans, options)) {
        struct gput_error error;
        struct gput_tables *tables;
        int code;
        Py_BEGIN_ALLOW_THREADS;
        code = read(path, options, &tables, &error);
        Py_END_ALLOW_THREADS;
        if (code != GPUT_OK)
            native_raise(&error);
        else
            result = Py_BuildValue(
                "NN", native_steal_tables(module, tables), native_warnings_collect(call.warnings));
    }
    return native_call_end(&call, result);
}

/* read_samples(path, spans) -> ({name: Table}, warnings) */
static PyObject *read_samples(PyObject *module, PyObject *args)
{
    PyObject *path, *spans = Py_None;
    struct gput_recorded_options options = gput_recorded_options_default();
    if (!PyArg_ParseTuple(args, "O|O", &path, &spans))
        return NULL;
    return read_file(module, path, spans, &options, gput_recorded_samples);
}

/* Reads a file of marks, all blocks or one of them. */
static PyObject *read_blocks(PyObject *module, PyObject *args, read_function *read)
{
    PyObject *path;
    struct gput_recorded_options options = gput_recorded_options_default();
    if (!PyArg_ParseTuple(args, "O|z", &path, &options.code_block))
        return NULL;
    return read_file(module, path, Py_None, &options, read);
}

static PyObject *read_marks(PyObject *module, PyObject *args)
{
    return read_blocks(module, args, gput_recorded_marks);
}

static PyObject *read_calls(PyObject *module, PyObject *args)
{
    return read_blocks(module, args, gput_recorded_calls);
}

/* read_tables(path) -> {name: Table} */
static PyObject *read_tables(PyObject *module, PyObject *args)
{
    PyObject *path;
    struct gput_error error;
    struct gput_tables *tables;
    int code;
    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    code = gput_recorded_tables(PyBytes_AsString(path), &tables, &error);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    return code == GPUT_OK ? native_steal_tables(module, tables) : native_raise(&error);
}

/* Called without the GIL by the library, so it takes the GIL for the call of the function. */
int native_take_part(void *user, struct gput_tables *part, struct gput_error *error)
{
    const struct native_taking *taking = user;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *tables = native_steal_tables(taking->module, part);
    PyObject *result = tables ? PyObject_CallFunctionObjArgs(taking->take, tables, NULL) : NULL;
    int code = result ? GPUT_OK : GPUT_ERROR_STATE;
    *error = (struct gput_error){.code = code};
    Py_XDECREF(result);
    Py_XDECREF(tables);
    PyGILState_Release(state);
    return code;
}

/* A warning to be kept for the caller, while parts are passed to a function. */
void native_take_warning(void *user, const char *message)
{
    native_warnings_add(((struct native_taking *)user)->warnings, message);
}

/* The function that reads one kind of file. NULL with an exception for an unknown name. */
static read_function *function_of(const char *name)
{
    static const struct {
        const char *name;
        read_function *read;
    } all[] = {{"samples", gput_recorded_samples}, {"marks", gput_recorded_marks},
        {"calls", gput_recorded_calls}, {"segments", gput_recorded_segments}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].read;
    PyErr_SetString(PyExc_ValueError, name);
    return NULL;
}

/* read_parts(name, path, take) -> ({name: Table}, warnings). The rows are passed in parts to
 * take({name: Table}). What is returned has the rows of the other tables. */
static PyObject *read_parts(PyObject *module, PyObject *args)
{
    const char *name, *path;
    PyObject *object, *result = NULL;
    struct native_taking taking = {.module = module};
    struct native_call call;
    if (!PyArg_ParseTuple(args, "sOO", &name, &object, &taking.take) || !native_call_begin(&call))
        return NULL;
    struct gput_recorded_options options = gput_recorded_options_default();
    read_function *read = function_of(name);
    taking.warnings = call.warnings;
    options.warn = native_take_warning;
    options.receive = native_take_part;
    options.user = &taking;
    options.for_joins = true;
    if (read && held_path(call.held, object, &path)) {
        struct gput_error error;
        struct gput_tables *tables;
        int code;
        Py_BEGIN_ALLOW_THREADS;
        code = read(path, &options, &tables, &error);
        Py_END_ALLOW_THREADS;
        if (code == GPUT_OK)
            result = Py_BuildValue(
                "NN", native_steal_tables(module, tables), native_warnings_collect(call.warnings));
        else if (!PyErr_Occurred()) /* no exception of `take` is set */
            native_raise(&error);
    }
    return native_call_end(&call, result);
}

static PyMethodDef functions[] = {
    {"read_parts", read_parts, METH_VARARGS,
        "read_parts(name, path, take) -> ({name: Table}, warnings)"},
    {"read_samples", read_samples, METH_VARARGS,
        "read_samples(path, [(start, stop), …]) -> ({name: Table}, warnings)"},
    {"read_tables", read_tables, METH_VARARGS, "read_tables(path) -> {name: Table}"},
    {"read_marks", read_marks, METH_VARARGS,
        "read_marks(path, code_block) -> ({name: Table}, warnings)"},
    {"read_calls", read_calls, METH_VARARGS,
        "read_calls(path, code_block) -> ({name: Table}, warnings)"},
    {NULL, NULL, 0, NULL},
};

int native_add_table(PyObject *module)
{
    PyObject *table = native_add_type(module, &table_spec, "Table");
    PyObject *column = table ? native_add_type(module, &column_spec, "Column") : NULL;
    Py_XDECREF(table);
    Py_XDECREF(column);
    return column ? PyModule_AddFunctions(module, functions) : -1;
}
